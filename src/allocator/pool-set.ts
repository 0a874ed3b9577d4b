/** All pools of one reading, arranged for the questions the allocator asks. Pure. */
import { acceptPools } from "../desired/accept-pools.ts";
import { PoolIndex } from "../desired/pool-index.ts";
import { compareText } from "../desired/text-order.ts";
import type { Ip } from "../net/ip.ts";
import { isAddressOf } from "./free-address.ts";
import type { AllocatorPool } from "./pool.ts";

export class PoolSet {
  /** By name. */
  readonly all: readonly AllocatorPool[];
  /** Those that give to Services that name no pool, in the order they are tried, before anybody is asked whom they admit. */
  readonly automatic: readonly AllocatorPool[];
  readonly #byName: ReadonlyMap<string, AllocatorPool>;
  readonly #index: PoolIndex<AllocatorPool>;
  readonly #faults: ReadonlyMap<string, string>;

  constructor(pools: Iterable<AllocatorPool>) {
    this.all = [...pools].toSorted((a, b) => compareText(a.name, b.name));
    this.#byName = new Map(this.all.map((pool) => [pool.name, pool]));
    this.#index = new PoolIndex(this.all);
    this.#faults = faultsOf(this.all);
    const giving = this.all.filter((pool) => pool.autoAssign && this.gives(pool));
    this.automatic = [
      ...giving.filter(({ isPinned }) => isPinned).toSorted(byPriority),
      ...giving.filter(({ isPinned }) => !isPinned),
    ];
  }

  named(name: string): AllocatorPool | undefined {
    return this.#byName.get(name);
  }

  /** The pool that all of the addresses belong to, if one does; the oldest where pools overlap. */
  poolOf(addresses: readonly Ip[]): AllocatorPool | undefined {
    return this.#index.poolsOf(addresses).find((pool) => addresses.every((ip) => isAddressOf(pool, ip)));
  }

  /** As above, but for addresses that the pool avoids. */
  poolAround(ip: Ip): AllocatorPool | undefined {
    return this.#index.poolOf([ip]);
  }

  /** Why a pool is refused, naming field and value; of two that overlap the younger is. */
  faultOf({ name }: AllocatorPool): string | undefined {
    return this.#faults.get(name);
  }

  /** A refused pool gives nothing new. */
  gives(pool: AllocatorPool): boolean {
    return this.faultOf(pool) === undefined;
  }
}

function faultsOf(pools: readonly AllocatorPool[]): ReadonlyMap<string, string> {
  const faults = new Map<string, string>();
  for (const { name, fault } of pools) if (fault !== undefined) faults.set(name, fault);
  const read = pools.map((facts) => ({ facts, isRefused: facts.fault !== undefined, entries: facts.entries }));
  for (const { pool, sentence } of acceptPools(read).overlaps) faults.set(pool.name, sentence);
  return faults;
}

/** Ascending, 0 last; the sort is stable, so names decide between equals. */
function byPriority(a: AllocatorPool, b: AllocatorPool): number {
  if (a.priority === b.priority) return 0;
  if (a.priority === 0 || b.priority === 0) return a.priority === 0 ? 1 : -1;
  return a.priority - b.priority;
}
