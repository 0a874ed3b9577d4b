/** Which pool holds an address: sorted ranges, so that 10,000 Services cost a binary search each. Pure. */
import { type Family, familyOf, type Ip, ipToBigInt } from "../net/ip.ts";
import { createdMsOf } from "./creation.ts";
import type { PoolFacts } from "./snapshot.ts";

interface Entry<Pool> {
  readonly first: bigint;
  readonly last: bigint;
  readonly pool: Pool;
  readonly createdMs: number;
  /** Highest `last` of this entry and all before it: where a walk to the left may stop. */
  readonly reach: bigint;
}

export class PoolIndex<Pool extends PoolFacts> {
  readonly #entries: Readonly<Record<Family, readonly Entry<Pool>[]>>;

  constructor(pools: Iterable<Pool>) {
    const all = [...pools];
    this.#entries = { 4: entriesOf(all, 4), 6: entriesOf(all, 6) };
  }

  /**
   * The pool that holds every one of the addresses. When pools overlap, the oldest, then the first by name: a pool that comes
   * later takes no address away from the one that has it, and all nodes agree.
   */
  poolOf(addresses: readonly Ip[]): Pool | undefined {
    return this.poolsOf(addresses)[0];
  }

  /** Every pool that holds all of the addresses, in that order. */
  poolsOf(addresses: readonly Ip[]): readonly Pool[] {
    const [any, ...others] = addresses.map((ip) => this.#holders(ip));
    const common = (any ?? []).filter(({ pool }) =>
      others.every((holders) => holders.some((other) => other.pool === pool)),
    );
    return common.toSorted((a, b) => (isOlder(a, b) ? -1 : 1)).map(({ pool }) => pool);
  }

  #holders(ip: Ip): Entry<Pool>[] {
    const entries = this.#entries[familyOf(ip)];
    const value = ipToBigInt(ip);
    const found: Entry<Pool>[] = [];
    for (let index = lastNotAfter(entries, value); index >= 0; index--) {
      const entry = entries[index];
      if (entry === undefined || entry.reach < value) break;
      if (entry.last >= value) found.push(entry);
    }
    return found;
  }
}

function isOlder(a: Entry<PoolFacts>, b: Entry<PoolFacts>): boolean {
  return a.createdMs === b.createdMs ? a.pool.name < b.pool.name : a.createdMs < b.createdMs;
}

function entriesOf<Pool extends PoolFacts>(pools: readonly Pool[], family: Family): Entry<Pool>[] {
  const ranges = pools.flatMap((pool) => {
    const createdMs = createdMsOf(pool.createdAt);
    return pool.ranges
      .filter((range) => range.family === family)
      .map(({ first, last }) => ({ first, last, pool, createdMs }));
  });
  ranges.sort((a, b) => (a.first < b.first ? -1 : Number(a.first > b.first)));
  let reach = -1n;
  return ranges.map((range) => {
    if (range.last > reach) reach = range.last;
    return { ...range, reach };
  });
}

/** Index of the last entry that begins at or before `value`; -1 when none does. */
function lastNotAfter(entries: readonly Entry<PoolFacts>[], value: bigint): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.first ?? value) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
