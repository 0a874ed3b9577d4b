/** Addresses for a Service that has none: those it asks for, of the pool it asks for, or of the first pool that can. Pure. */
import { type Family, familyOf, type Ip } from "../net/ip.ts";
import { type AddressClash, type BookView, clashesOn } from "./book.ts";
import { lowestFree } from "./free-address.ts";
import { hasFamily, pickAll, RESERVES } from "./pick.ts";
import type { AllocatorPool } from "./pool.ts";
import type { Asked, Refusal } from "./refusal.ts";
import type { AskedAddresses } from "./requests.ts";
import type { Sharing } from "./sharing.ts";
import { secondsText } from "./time-text.ts";
import { type Applicant, admitsService, type Given, type World } from "./world.ts";

export function chooseAsked(
  asked: AskedAddresses,
  askedPool: Asked | undefined,
  applicant: Applicant,
  world: World,
  book: BookView,
): Given | Refusal {
  const { addresses } = asked;
  const pool = world.pools.poolOf(addresses);
  if (pool === undefined) return outsideRefusal(asked, world);
  if (askedPool !== undefined && askedPool.value !== pool.name)
    return { reason: "address-in-other-pool", asked, pool: pool.name, wanted: askedPool.value };
  const refusal = poolRefusal(pool, asked, applicant, world);
  if (refusal !== undefined) return refusal;
  for (const address of addresses) {
    const node = world.nodes.nodeOf(address);
    if (node !== undefined) return { reason: "address-of-node", asked, address, node };
    const kept = keptRefusal(address, asked, pool, applicant, world, book);
    if (kept !== undefined) return kept;
    const clash = clashRefusal(clashesOn(address, applicant.sharing, book), applicant.sharing);
    if (clash !== undefined) return clash;
  }
  return { addresses, pool };
}

export function chooseFromPool(asked: Asked, applicant: Applicant, world: World, book: BookView): Given | Refusal {
  const pool = world.pools.named(asked.value);
  if (pool === undefined) return { reason: "unknown-pool", asked, fitting: fittingPools(applicant, world) };
  const refusal = poolRefusal(pool, asked, applicant, world);
  if (refusal !== undefined) return refusal;
  const given = fromPools([pool], applicant, world, book);
  if (given !== undefined) return given;
  const lacking = applicant.families.find((family) => !hasFamily(pool, family));
  if (lacking !== undefined) return { reason: "pool-lacks-family", asked, pool: pool.name, family: lacking };
  return { reason: "pool-full", asked, pool: pool.name, family: fullFamily(pool, applicant, world, book) };
}

export function chooseAutomatically(applicant: Applicant, world: World, book: BookView): Given | Refusal {
  const { pools, reservations } = world;
  const admitting = pools.automatic.filter((pool) => admitsService(pool, applicant.service, world));
  // A pool of which something is kept for this very Service comes first, even if nobody gets addresses of it unasked.
  const own = reservations.of(applicant.key).flatMap((ip) => {
    const pool = pools.poolOf([ip]);
    return pool !== undefined && pools.gives(pool) && admitsService(pool, applicant.service, world)
      ? [{ pool, ip }]
      : [];
  });
  for (const { pool, ip } of own) {
    const given = fromPools([pool], applicant, world, book);
    if (given?.addresses.includes(ip) === true) return given;
  }
  return fromPools(admitting, applicant, world, book) ?? automaticRefusal(admitting, applicant, world);
}

/** The first pool that has both families, or else, where one is enough, the first that has the primary one, or else the other. */
function fromPools(
  pools: readonly AllocatorPool[],
  applicant: Applicant,
  world: World,
  book: BookView,
): Given | undefined {
  const { families, isOneEnough, primary } = applicant;
  const other: Family = primary === 4 ? 6 : 4;
  const wishes = families.length === 2 && isOneEnough ? [families, [primary], [other]] : [families];
  for (const reserve of RESERVES) {
    for (const wish of wishes) {
      for (const pool of pools) {
        const given = pickAll(pool, wish, applicant, world, book, reserve);
        if (given !== undefined) return given;
      }
    }
  }
  return undefined;
}

/** Names the Services in the way by the first kind of clash; undefined when nobody is. */
export function clashRefusal(clashes: readonly AddressClash[], { key }: Sharing): Refusal | undefined {
  const [first] = clashes;
  if (first === undefined) return undefined;
  const { address, clash } = first;
  const by = clashes.flatMap((other) => (other.clash.kind === clash.kind ? [other.holder.key] : []));
  switch (clash.kind) {
    case "keys-differ":
      return { reason: "sharing-key-differs", address, by, key };
    case "policies-differ":
      return { reason: "sharing-policy-differs", address, by };
    case "port-in-use":
      return { reason: "port-in-use", address, by, port: clash.port };
    case "no-key":
      return { reason: "address-in-use", address, by, key };
    default:
      return clash satisfies never;
  }
}

function outsideRefusal(asked: AskedAddresses, { pools }: World): Refusal {
  const found: string[] = [];
  for (const address of asked.addresses) {
    const pool = pools.poolOf([address]);
    if (pool !== undefined) found.push(pool.name);
    else {
      const around = pools.poolAround(address);
      return around === undefined
        ? { reason: "address-in-no-pool", asked, address }
        : { reason: "address-avoided", asked, address, pool: around.name };
    }
  }
  return { reason: "addresses-in-two-pools", asked, pools: found };
}

function poolRefusal(pool: AllocatorPool, asked: Asked, { service }: Applicant, world: World): Refusal | undefined {
  const fault = world.pools.faultOf(pool);
  if (fault !== undefined) return { reason: "pool-refused", asked, pool: pool.name, fault };
  if (!admitsService(pool, service, world))
    return { reason: "pool-does-not-admit", asked, pool: pool.name, namespace: service.namespace };
  return undefined;
}

/** What is kept for another Service for a while is given when its pool has nothing else. */
function keptRefusal(
  address: Ip,
  asked: Asked,
  pool: AllocatorPool,
  { key }: Applicant,
  world: World,
  book: BookView,
): Refusal | undefined {
  const { pinnedSet, reservedSet } = world.reservations;
  const owner = world.reservations.ownerOf(address);
  if (owner === undefined || owner.key === key) return undefined;
  const refusal = { reason: "address-reserved", asked, address, reservedFor: owner.key } as const;
  if (!("untilMs" in owner)) return refusal;
  const isFull =
    lowestFree(pool, familyOf(address), [book.used, world.nodes.set, pinnedSet, reservedSet]) === undefined;
  return isFull ? undefined : { ...refusal, until: secondsText(owner.untilMs) };
}

function fittingPools(applicant: Applicant, world: World): readonly string[] {
  const { pools } = world;
  const fits = (pool: AllocatorPool) =>
    pools.gives(pool) && admitsService(pool, applicant.service, world) && hasFamilies(pool, applicant);
  return namesOf(pools.all.filter(fits));
}

function hasFamilies(pool: AllocatorPool, { families, isOneEnough }: Applicant): boolean {
  const has = (family: Family) => hasFamily(pool, family);
  return isOneEnough ? families.some(has) : families.every(has);
}

function fullFamily(pool: AllocatorPool, applicant: Applicant, world: World, book: BookView): Family {
  const isFull = (family: Family) => pickAll(pool, [family], applicant, world, book, "give-back") === undefined;
  return applicant.families.find(isFull) ?? applicant.primary;
}

function automaticRefusal(admitting: readonly AllocatorPool[], applicant: Applicant, world: World): Refusal {
  const { families, service } = applicant;
  if (admitting.length === 0)
    return { reason: "no-pool-for-service", namespace: service.namespace, pools: namesOf(world.pools.all) };
  const able = admitting.filter((pool) => hasFamilies(pool, applicant));
  if (able.length > 0) return { reason: "no-free-address", pools: namesOf(able) };
  const [family = 4] = families;
  if (families.length === 1) return { reason: "no-pool-of-family", family, pools: namesOf(admitting) };
  const onlyIpv4 = namesOf(admitting.filter((pool) => hasFamily(pool, 4)));
  const onlyIpv6 = namesOf(admitting.filter((pool) => hasFamily(pool, 6)));
  return { reason: "no-pool-of-both-families", onlyIpv4, onlyIpv6 };
}

function namesOf(pools: readonly AllocatorPool[]): readonly string[] {
  return pools.map(({ name }) => name).toSorted();
}
