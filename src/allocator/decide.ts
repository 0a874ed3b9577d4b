/** What one Service shall have: MetalLB's order of decisions, row by row. Pure. */
import { type Family, familyOf, type Ip, parseIp } from "../net/ip.ts";
import { type BookView, olderClashesOn } from "./book.ts";
import { chooseAsked, chooseAutomatically, chooseFromPool, clashRefusal } from "./choose.ts";
import { hasFamily, pick, RESERVES } from "./pick.ts";
import type { AllocatorPool } from "./pool.ts";
import type { Asked, Refusal } from "./refusal.ts";
import { type AskedAddresses, askedAddresses, askedPool } from "./requests.ts";
import { type AllocatorService, ageOf, keyOf } from "./service.ts";
import { sharingOf } from "./sharing.ts";
import { type Applicant, admitsService, type Given, type World } from "./world.ts";

export interface Verdict {
  /** What the Service has from now on. What it had already stands in the order of its status; what is new comes IPv4 first. */
  readonly addresses: readonly Ip[];
  readonly pool?: string;
  /** Why it has none, or not what it asks for. */
  readonly refusal?: Refusal;
  readonly notes: readonly Note[];
}

/** What happened on the way, worth an event. */
export type Note =
  /** The status has addresses that no Service can have: no addresses, one twice, two of a family. */
  | { readonly kind: "status-unusable"; readonly ingress: readonly string[] }
  /** What it had is not allowed any more. */
  | { readonly kind: "taken-away"; readonly why: Refusal }
  | { readonly kind: "second-family-missing"; readonly why: Refusal }
  | { readonly kind: "second-family-added"; readonly address: Ip };

/** The book must not hold the Service itself. */
export function decide(service: AllocatorService, world: World, book: BookView): Verdict {
  const notes: Note[] = [];
  const { clusterIps } = service;
  if (world.pools.all.length === 0) return { addresses: [], refusal: { reason: "no-pools" }, notes };
  if (clusterIps.length === 0) return { addresses: [], refusal: { reason: "no-cluster-ip" }, notes };
  if (service.ipFamilyPolicy === "RequireDualStack" && clusterIps.length < 2)
    return { addresses: [], refusal: { reason: "not-enough-cluster-ips", clusterIps }, notes };
  const held = heldAddresses(service.ingress);
  if (held === undefined) notes.push({ kind: "status-unusable", ingress: service.ingress });
  const families = familiesOf(clusterIps);
  if (families === undefined)
    return { ...withPool(held ?? [], world), refusal: { reason: "cluster-ips-unreadable", clusterIps }, notes };
  const applicant = applicantOf(service, families);
  const current = stillHeld(held ?? [], applicant, world, book, notes);
  const asked = askedAddresses(service, families);
  if (current === undefined) return { ...allocate(asked, applicant, world, book), notes };
  return keep(current, asked, applicant, world, book, notes);
}

/** Status without host names: undefined when it is nothing that one Service can have. */
export function heldAddresses(ingress: readonly string[]): readonly Ip[] | undefined {
  const addresses: Ip[] = [];
  for (const text of ingress) {
    const ip = parseIp(text);
    if (ip === undefined || addresses.some((other) => familyOf(other) === familyOf(ip))) return undefined;
    addresses.push(ip);
  }
  return addresses;
}

/** What it has may stand, whatever it asks for; otherwise it is treated as if it had nothing. */
function stillHeld(
  held: readonly Ip[],
  applicant: Applicant,
  world: World,
  book: BookView,
  notes: Note[],
): Given | undefined {
  if (held.length === 0 || !fitsFamilies(held, applicant)) return undefined;
  const pool = world.pools.poolOf(held);
  const why =
    pool === undefined
      ? ({ reason: "pool-gone", addresses: held } as const)
      : heldRefusal(held, pool, applicant, world, book);
  if (why !== undefined) notes.push({ kind: "taken-away", why });
  if (pool === undefined || why !== undefined) return undefined;
  const wanted = askedPool(applicant.service);
  return wanted !== undefined && wanted.value !== pool.name ? undefined : { addresses: held, pool };
}

function heldRefusal(
  held: readonly Ip[],
  pool: AllocatorPool,
  { service, sharing }: Applicant,
  world: World,
  book: BookView,
): Refusal | undefined {
  if (!admitsService(pool, service, world))
    return { reason: "pool-does-not-admit", pool: pool.name, namespace: service.namespace };
  const own = ageOf(service);
  return clashRefusal(
    held.flatMap((ip) => olderClashesOn(ip, own, sharing, book)),
    sharing,
  );
}

/** What it has stands, unless what it asks for instead can be had. */
function keep(
  current: Given,
  asked: AskedAddresses | Refusal | undefined,
  applicant: Applicant,
  world: World,
  book: BookView,
  notes: Note[],
): Verdict {
  const kept = { addresses: current.addresses, pool: current.pool.name, notes };
  if (asked === undefined) return grow(current, applicant, world, book, notes);
  if ("reason" in asked) return { ...kept, refusal: asked };
  const isSame =
    asked.addresses.length === current.addresses.length &&
    asked.addresses.every((ip) => current.addresses.includes(ip));
  if (isSame) return kept;
  const given = chooseAsked(asked, askedPool(applicant.service), applicant, world, book);
  if ("reason" in given) return { ...kept, refusal: given };
  return { addresses: given.addresses, pool: given.pool.name, notes };
}

/** PreferDualStack on a dual-stack Service that has one address: the other family, from the same pool only. */
function grow({ addresses, pool }: Given, applicant: Applicant, world: World, book: BookView, notes: Note[]): Verdict {
  const [only] = addresses;
  const kept = { addresses, pool: pool.name, notes };
  if (only === undefined || addresses.length > 1 || !applicant.isOneEnough) return kept;
  const family: Family = familyOf(only) === 4 ? 6 : 4;
  const fault = world.pools.faultOf(pool);
  for (const reserve of fault === undefined ? RESERVES : []) {
    const address = pick(pool, family, applicant, world, book, reserve);
    if (address === undefined) continue;
    notes.push({ kind: "second-family-added", address });
    return { ...kept, addresses: [only, address] };
  }
  notes.push({ kind: "second-family-missing", why: growthRefusal(pool, family, fault) });
  return kept;
}

function growthRefusal(pool: AllocatorPool, family: Family, fault: string | undefined): Refusal {
  if (fault !== undefined) return { reason: "pool-refused", pool: pool.name, fault };
  return { reason: hasFamily(pool, family) ? "pool-full" : "pool-lacks-family", pool: pool.name, family };
}

function allocate(
  asked: AskedAddresses | Refusal | undefined,
  applicant: Applicant,
  world: World,
  book: BookView,
): Omit<Verdict, "notes"> {
  if (asked !== undefined && "reason" in asked) return { addresses: [], refusal: asked };
  const given = choose(asked, askedPool(applicant.service), applicant, world, book);
  if ("reason" in given) return { addresses: [], refusal: given };
  return { addresses: given.addresses, pool: given.pool.name };
}

function choose(
  asked: AskedAddresses | undefined,
  wantedPool: Asked | undefined,
  applicant: Applicant,
  world: World,
  book: BookView,
): Given | Refusal {
  if (asked !== undefined) return chooseAsked(asked, wantedPool, applicant, world, book);
  if (wantedPool !== undefined) return chooseFromPool(wantedPool, applicant, world, book);
  return chooseAutomatically(applicant, world, book);
}

function applicantOf(service: AllocatorService, families: readonly Family[]): Applicant {
  const [primary = 4] = families;
  return {
    service,
    key: keyOf(service),
    sharing: sharingOf(service),
    families: families.toSorted((a, b) => a - b),
    // A single-stack Service has what its cluster IP says, whatever its policy.
    isOneEnough: families.length === 2 && service.ipFamilyPolicy === "PreferDualStack",
    primary: service.ipFamilies[0] === "IPv6" ? 6 : service.ipFamilies[0] === "IPv4" ? 4 : primary,
  };
}

/** In the order of the cluster IPs; undefined for what is neither one address nor one of each family. */
function familiesOf(clusterIps: readonly string[]): readonly Family[] | undefined {
  return heldAddresses(clusterIps)?.map(familyOf);
}

function fitsFamilies(held: readonly Ip[], { families, isOneEnough }: Applicant): boolean {
  return (held.length === families.length || isOneEnough) && held.every((ip) => families.includes(familyOf(ip)));
}

function withPool(addresses: readonly Ip[], world: World): Pick<Verdict, "addresses" | "pool"> {
  const pool = addresses.length === 0 ? undefined : world.pools.poolOf(addresses);
  return { addresses, ...(pool === undefined ? {} : { pool: pool.name }) };
}
