/** The lowest free address of a pool: found from gap to gap between what is taken, never by walking a prefix. Pure. */
import { type Family, type Ip, ipOfBigInt } from "../net/ip.ts";
import { type Range, rangeHolds } from "../net/prefix.ts";
import type { AddressSet } from "./address-set.ts";
import { type AllocatorPool, isBuggy } from "./pool.ts";

type PoolRanges = Pick<AllocatorPool, "ranges" | "avoidsBuggyIps">;

/** Ranges in the order written, then ascending; undefined when every address of the family is in one of the sets. */
export function lowestFree(pool: PoolRanges, family: Family, taken: readonly AddressSet[]): Ip | undefined {
  for (const range of pool.ranges) {
    if (range.family !== family) continue;
    const free = lowestFreeIn(range, pool.avoidsBuggyIps && family === 4, taken);
    if (free !== undefined) return free;
  }
  return undefined;
}

/** Whether the address is one of the pool's own: within a range, and not avoided. */
export function isAddressOf(pool: PoolRanges, ip: Ip): boolean {
  return pool.ranges.some((range) => rangeHolds(range, ip)) && !(pool.avoidsBuggyIps && isBuggy(ip));
}

function lowestFreeIn(range: Range, avoidsBuggy: boolean, taken: readonly AddressSet[]): Ip | undefined {
  let value = range.first;
  while (value <= range.last) {
    const before = value;
    for (const set of taken) value = set.of(range.family).firstFree(value);
    if (avoidsBuggy && isBuggyValue(value)) value++;
    // Stands still only where no set has it.
    if (value === before) return ipOfBigInt(value, range.family);
  }
  return undefined;
}

function isBuggyValue(value: bigint): boolean {
  const last = value & 0xffn;
  return last === 0n || last === 0xffn;
}
