/** The address that a pool would give to a Service. Pure. */
import { type Family, familyOf, type Ip, ipToBigInt } from "../net/ip.ts";
import { rangeHolds } from "../net/prefix.ts";
import { type BookView, clashesOn } from "./book.ts";
import { isAddressOf, lowestFree } from "./free-address.ts";
import type { AllocatorPool } from "./pool.ts";
import type { Applicant, Given, World } from "./world.ts";

/** Whether addresses that are kept for others for a while may be given. */
export type Reserve = "keep" | "give-back";

/** Each is tried before the next: what is kept for others goes only where nothing else is left. */
export const RESERVES: readonly Reserve[] = ["keep", "give-back"];

/**
 * What is kept for the Service itself; then an address that others have with whom it may share; then the lowest free one. The book must
 * not hold the Service itself.
 */
export function pick(
  pool: AllocatorPool,
  family: Family,
  applicant: Applicant,
  world: World,
  book: BookView,
  reserve: Reserve,
): Ip | undefined {
  const { pinnedSet, reservedSet } = world.reservations;
  const usable = (ip: Ip) =>
    familyOf(ip) === family &&
    isAddressOf(pool, ip) &&
    !world.nodes.set.has(ip) &&
    clashesOn(ip, applicant.sharing, book).length === 0;
  const own = world.reservations.of(applicant.key).find(usable);
  if (own !== undefined) return own;
  let shared: Ip | undefined;
  for (const ip of book.sharedBy(applicant.sharing)) {
    const isKept = pinnedSet.has(ip) || (reserve === "keep" && reservedSet.has(ip));
    if (!isKept && usable(ip) && (shared === undefined || isGivenBefore(pool, ip, shared))) shared = ip;
  }
  if (shared !== undefined) return shared;
  const taken = [book.used, world.nodes.set, pinnedSet, ...(reserve === "keep" ? [reservedSet] : [])];
  return lowestFree(pool, family, taken);
}

/** One address of each family that the Service must have; undefined when the pool cannot. */
export function pickAll(
  pool: AllocatorPool,
  families: readonly Family[],
  applicant: Applicant,
  world: World,
  book: BookView,
  reserve: Reserve,
): Given | undefined {
  const addresses: Ip[] = [];
  for (const family of families) {
    const ip = pick(pool, family, applicant, world, book, reserve);
    if (ip === undefined) return undefined;
    addresses.push(ip);
  }
  return { addresses, pool };
}

export function hasFamily(pool: AllocatorPool, family: Family): boolean {
  return pool.ranges.some((range) => range.family === family);
}

/** By range as written, then ascending. Both are addresses of the pool. */
function isGivenBefore({ ranges }: AllocatorPool, a: Ip, b: Ip): boolean {
  const inA = ranges.findIndex((range) => rangeHolds(range, a));
  const inB = ranges.findIndex((range) => rangeHolds(range, b));
  return inA === inB ? ipToBigInt(a) < ipToBigInt(b) : inA < inB;
}
