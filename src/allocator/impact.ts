/** What a pool would do to the Services that have addresses, if it were written: the allocator's own decisions, on a copy of its book. */
import type { Ip } from "../net/ip.ts";
import { Book } from "./book.ts";
import type { AllocatorPool } from "./pool.ts";
import { PoolSet } from "./pool-set.ts";
import { reconcile, type Settings, statusAddresses } from "./reconcile.ts";
import { refusalText } from "./refusal-text.ts";
import { type AllocatorService, ageOf, compareAge, type ServiceKey } from "./service.ts";
import { sharingOf } from "./sharing.ts";
import type { World } from "./world.ts";

export interface Impact {
  /** Why the pool would be refused. */
  readonly fault?: string;
  /** Oldest Service first. */
  readonly moves: readonly Move[];
}

export interface Move {
  readonly service: ServiceKey;
  readonly from: readonly Ip[];
  /** Empty: it would have none. */
  readonly to: readonly Ip[];
  /** Why it would have none, or not what it asks for. */
  readonly why?: string;
}

/** `pool`: new, or in place of the one of its name. */
export function poolImpact(
  pool: AllocatorPool,
  services: Iterable<AllocatorService>,
  world: World,
  settings: Settings,
): Impact {
  const others = world.pools.all.filter(({ name }) => name !== pool.name);
  const next = { ...world, pools: new PoolSet([...others, inPlaceOf(world.pools.named(pool.name), pool)]) };
  const aged = [...services].map((service) => ({ service, age: ageOf(service), held: statusAddresses(service) }));
  const holders = aged.map(({ service, age, held }) => ({ ...age, addresses: held, sharing: sharingOf(service) }));
  const book = new Book(holders);
  const moves: Move[] = [];
  for (const { service, age, held } of aged.toSorted((a, b) => compareAge(a.age, b.age))) {
    if (held.length === 0) continue;
    book.remove(age.key);
    const { addresses, refusal } = reconcile(service, next, book, settings, 0);
    book.put({ ...age, addresses, sharing: sharingOf(service) });
    if (held.length === addresses.length && held.every((ip) => addresses.includes(ip))) continue;
    const why = refusal === undefined ? {} : { why: refusalText(refusal) };
    moves.push({ service: age.key, from: held, to: addresses, ...why });
  }
  const fault = next.pools.faultOf(pool);
  return { moves, ...(fault === undefined ? {} : { fault }) };
}

/** What is about to be written is as old as what it replaces. */
function inPlaceOf(before: AllocatorPool | undefined, pool: AllocatorPool): AllocatorPool {
  if (before === undefined) return { ...pool, createdAt: pool.createdAt === "" ? NEWEST : pool.createdAt };
  return { ...pool, uid: before.uid, createdAt: before.createdAt };
}

/** A pool that does not exist yet is younger than all that do. */
const NEWEST = "9999-12-31T23:59:59Z";
