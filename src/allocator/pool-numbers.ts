/** How many addresses of a pool are assigned and available: derived from what is taken, never counted up and down. Pure. */
import { type Family, familyOf, type Ip } from "../net/ip.ts";
import { rangeHolds } from "../net/prefix.ts";
import type { AddressSet } from "./address-set.ts";
import { type AllocatorPool, isBuggy, type PoolNumbers } from "./pool.ts";

/** What a field of type int64 can say; more saturates there. */
const MAX_INT64 = (1n << 63n) - 1n;

export interface FamilyNumbers {
  /** Distinct addresses that some Service has, however many share one. */
  readonly assigned: bigint;
  /** What could still be given; nothing of a refused pool. */
  readonly available: bigint;
}

/** `nodes`: addresses of Nodes, which are never given. */
export function familyNumbers(
  pool: Pick<AllocatorPool, "ranges" | "avoidsBuggyIps">,
  family: Family,
  used: AddressSet,
  nodes: Iterable<Ip>,
  gives: boolean,
): FamilyNumbers {
  const avoids = pool.avoidsBuggyIps && family === 4;
  let assigned = 0n;
  let capacity = 0n;
  let usedCapacity = 0n;
  for (const range of pool.ranges) {
    if (range.family !== family) continue;
    capacity += sizeOf(range.first, range.last, avoids);
    for (const { first, last } of used.of(family).within(range.first, range.last)) {
      assigned += last - first + 1n;
      usedCapacity += sizeOf(first, last, avoids);
    }
  }
  for (const ip of nodes) {
    if (familyOf(ip) !== family || (avoids && isBuggy(ip)) || used.has(ip)) continue;
    if (pool.ranges.some((range) => rangeHolds(range, ip))) usedCapacity++;
  }
  return { assigned, available: gives ? capacity - usedCapacity : 0n };
}

export function poolNumbers(pool: AllocatorPool, used: AddressSet, nodes: readonly Ip[], gives: boolean): PoolNumbers {
  const v4 = familyNumbers(pool, 4, used, nodes, gives);
  const v6 = familyNumbers(pool, 6, used, nodes, gives);
  return {
    assignedIPv4: saturated(v4.assigned),
    assignedIPv6: saturated(v6.assigned),
    availableIPv4: saturated(v4.available),
    availableIPv6: saturated(v6.available),
  };
}

function saturated(count: bigint): string {
  return String(count > MAX_INT64 ? MAX_INT64 : count);
}

/** Addresses from first to last, without those that end in .0 and .255 where they are avoided. */
function sizeOf(first: bigint, last: bigint, avoidsBuggy: boolean): bigint {
  const size = last - first + 1n;
  return avoidsBuggy ? size - endingIn(0n, first, last) - endingIn(255n, first, last) : size;
}

/** Values from first to last of which the lowest eight bits are `end`. */
function endingIn(end: bigint, first: bigint, last: bigint): bigint {
  return countTo(last, end) - countTo(first - 1n, end);
}

function countTo(value: bigint, end: bigint): bigint {
  return value < end ? 0n : ((value - end) >> 8n) + 1n;
}
