/** What the allocator knows, for those who ask: never a decision of its own. Pure. */
import type { Family, Ip } from "../net/ip.ts";
import { compareIps } from "../net/ip.ts";
import { rangeHolds } from "../net/prefix.ts";
import type { Allocator } from "./allocator.ts";
import { hasFamily } from "./pick.ts";
import type { AllocatorPool } from "./pool.ts";
import { type Outcome, reconcile } from "./reconcile.ts";
import { refusalText } from "./refusal-text.ts";
import { type AllocatorService, type ServiceKey } from "./service.ts";
import { admitsService, type World } from "./world.ts";

/** Why a pool gives to a Service, or does not. */
export type PoolAnswer = "automatic" | "by-name" | "refused" | "not-admitted" | "lacks-family";

export interface Explanation {
  readonly outcome: Outcome;
  /** Why it gets nothing, or not what it asks for. */
  readonly sentence?: string;
  /** A change is asked for and not yet written. */
  readonly isPending: boolean;
  /** By name. */
  readonly pools: readonly { readonly name: string; readonly answer: PoolAnswer }[];
}

export interface AddressEntry {
  readonly address: Ip;
  readonly services: readonly { readonly key: ServiceKey; readonly ports: readonly string[] }[];
  /** Of those that share it. */
  readonly sharingKey?: string;
  /** Kept for the name of this Service. */
  readonly keptFor?: { readonly key: ServiceKey; readonly untilMs?: number };
}

/** What would be decided about the Service now; undefined when it is not known, or not everything was read. */
export function explain(allocator: Allocator, key: ServiceKey, wallMs: number): Explanation | undefined {
  const entry = allocator.table.entries.get(key);
  const { world } = allocator.surroundings;
  if (entry === undefined || world === undefined || !allocator.isComplete) return undefined;
  const { book } = allocator.table;
  const outcome = allocator.table.without(entry, () =>
    reconcile(entry.service, world, book, allocator.settings, wallMs),
  );
  return {
    outcome,
    ...(outcome.refusal === undefined ? {} : { sentence: refusalText(outcome.refusal) }),
    isPending: entry.pending !== undefined,
    pools: world.pools.all.map((pool) => ({ name: pool.name, answer: answerOf(pool, entry.service, world) })),
  };
}

/** Addresses of a pool that somebody has or that are kept, ascending, after `after`; undefined when there is no such pool. */
export function poolAddresses(
  allocator: Allocator,
  name: string,
  limit: number,
  after?: Ip,
): readonly AddressEntry[] | undefined {
  const { world } = allocator.surroundings;
  const pool = world?.pools.named(name);
  if (world === undefined || pool === undefined) return undefined;
  const { reserved, pinned } = world.reservations;
  const kept = [...reserved, ...pinned].flatMap(({ addresses }) => addresses);
  const all = new Set([...allocator.table.book.addresses(), ...kept]);
  return [...all]
    .filter(
      (ip) => (after === undefined || compareIps(ip, after) > 0) && pool.ranges.some((range) => rangeHolds(range, ip)),
    )
    .toSorted(compareIps)
    .slice(0, limit)
    .map((ip) => entryOf(ip, allocator, world));
}

function entryOf(address: Ip, allocator: Allocator, world: World): AddressEntry {
  const holders = allocator.table.book.holdersOf(address);
  const owner = world.reservations.ownerOf(address);
  const sharingKey = holders.find(({ sharing }) => sharing.key !== "")?.sharing.key;
  return {
    address,
    services: holders.map(({ key, sharing }) => ({ key, ports: sharing.ports })),
    ...(sharingKey === undefined ? {} : { sharingKey }),
    ...(owner === undefined
      ? {}
      : { keptFor: { key: owner.key, ...("untilMs" in owner ? { untilMs: owner.untilMs } : {}) } }),
  };
}

function answerOf(pool: AllocatorPool, service: AllocatorService, world: World): PoolAnswer {
  if (!world.pools.gives(pool)) return "refused";
  if (!admitsService(pool, service, world)) return "not-admitted";
  const families = service.clusterIps.map((ip): Family => (ip.includes(":") ? 6 : 4));
  if (!families.some((family) => hasFamily(pool, family))) return "lacks-family";
  return pool.autoAssign ? "automatic" : "by-name";
}
