/** Which pools stand: of two that overlap the older, by creationTimestamp, then by name. A refused one goes on counting. Pure. */
import { overlapOf } from "./last-good.ts";
import type { PoolFacts } from "./snapshot.ts";
import { compareText } from "./text-order.ts";

export interface ReadPool {
  readonly facts: PoolFacts;
  /** Its schema or its fields refuse it. */
  readonly isRefused: boolean;
  /** As written, one for each range; absent when it is refused. */
  readonly entries?: readonly string[];
}

export interface PoolOverlap {
  readonly pool: PoolFacts;
  /** Such as `spec.addresses[0] is "192.0.2.0/24": …`. */
  readonly sentence: string;
}

export interface AcceptedPools {
  /** All of them, oldest first: where a refused one overlaps, the older holds the address anyway. */
  readonly pools: ReadonlyMap<string, PoolFacts>;
  readonly overlaps: readonly PoolOverlap[];
}

export function acceptPools(read: Iterable<ReadPool>): AcceptedPools {
  const pools = new Map<string, PoolFacts>();
  const overlaps: PoolOverlap[] = [];
  const standing: ReadPool[] = [];
  for (const pool of [...read].toSorted(olderFirst)) {
    const overlap = pool.isRefused ? undefined : overlapWith(standing, pool);
    if (overlap !== undefined) overlaps.push({ pool: pool.facts, sentence: overlap });
    if (!pool.isRefused && overlap === undefined) standing.push(pool);
    pools.set(pool.facts.name, pool.facts);
  }
  return { pools, overlaps };
}

function overlapWith(standing: readonly ReadPool[], pool: ReadPool): string | undefined {
  for (const older of standing) {
    const found = overlapOf(older.facts, pool.facts);
    if (found === undefined) continue;
    const field = `spec.addresses[${found.inB}] is ${JSON.stringify(pool.entries?.[found.inB] ?? "")}`;
    const other = `${JSON.stringify(older.entries?.[found.inA] ?? "")} of IPAddressPool ${older.facts.name}`;
    return `${field}: overlaps with already defined CIDR ${other}`;
  }
  return undefined;
}

/** Kubernetes writes RFC 3339 in UTC, to the second: text in order is time in order. */
function olderFirst(a: ReadPool, b: ReadPool): number {
  return compareText(a.facts.createdAt, b.facts.createdAt) || compareText(a.facts.name, b.facts.name);
}
