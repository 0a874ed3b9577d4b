/** What must be led: the snapshot reduced to address groups, or to one reason per Service that has none (DESIGN D3). Pure. */
import { type Ip, parseIp } from "../net/ip.ts";
import { servingOf, slicesByService } from "./endpoints.ts";
import type { AddressGroup, Derived, GroupService, NoGroupReason, RefusedService } from "./group.ts";
import { PoolIndex } from "./pool-index.ts";
import { anySelectorMatches, selectorMatches } from "./selectors.ts";
import type { AdvertisementFacts, ClusterSnapshot, PoolFacts, ServiceFacts } from "./snapshot.ts";
import { compareText } from "./text-order.ts";

export interface DeriveOptions {
  /** `--lb-class`: empty serves the Services that name no class. */
  readonly loadBalancerClass: string;
}

/** Refusals and groups come in order of age, so that equal snapshots give equal values whatever order they arrived in. */
export function derive(snapshot: ClusterSnapshot, options: DeriveOptions): Derived {
  const pools = new PoolIndex(snapshot.pools.values());
  const advertisements = new AdvertisementIndex(snapshot);
  const slices = slicesByService(snapshot.endpointSlices.values());
  const members: GroupService[] = [];
  const refused: RefusedService[] = [];
  for (const service of oldestFirst(snapshot.services.values())) {
    const addresses = parsedAddresses(service);
    const judged = judge(service, addresses, options, pools, advertisements);
    const { namespace, name } = service;
    if (typeof judged === "string") {
      refused.push({ namespace, name, addresses, reason: judged });
      continue;
    }
    const serving = servingOf(service, slices, snapshot.source);
    const { externalTrafficPolicy } = service;
    members.push({ namespace, name, addresses, externalTrafficPolicy, advertisements: judged, ...serving });
  }
  return { groups: joinByAddress(members), refused };
}

/** The advertisements that reach the Service, or why it is not announced; tested in MetalLB's order. */
function judge(
  service: ServiceFacts,
  addresses: readonly Ip[],
  options: DeriveOptions,
  pools: PoolIndex,
  advertisements: AdvertisementIndex,
): readonly AdvertisementFacts[] | NoGroupReason {
  if (!service.isLoadBalancer) return "not-load-balancer";
  if ((service.loadBalancerClass ?? "") !== options.loadBalancerClass) return "other-load-balancer-class";
  if (service.isBeingDeleted) return "being-deleted";
  if (service.addresses.length === 0) return "no-address";
  if (service.addresses.some((text) => parseIp(text) === undefined)) return "invalid-address";
  const pool = pools.poolOf(addresses);
  if (pool === undefined) return "no-pool";
  const reaching = advertisements.reaching(pool, service);
  if (reaching.length === 0) return "no-advertisement";
  if (service.hasSharingKey && reaching.some(({ serviceSelectors }) => serviceSelectors.length > 0)) {
    return "shared-address-with-service-selector";
  }
  return reaching;
}

/** Each once, in the order written. */
function parsedAddresses(service: ServiceFacts): readonly Ip[] {
  const [first, ...others] = service.addresses;
  if (first !== undefined && others.length === 0) {
    const only = parseIp(first);
    return only === undefined ? [] : [only];
  }
  return [...new Set(service.addresses.map(parseIp))].filter((ip) => ip !== undefined);
}

/** Which advertisements a pool has, worked out once per pool; the list is shared by all Services it fits, unfiltered. */
class AdvertisementIndex {
  readonly #byPool = new Map<string, readonly AdvertisementFacts[]>();

  constructor(snapshot: ClusterSnapshot) {
    const all = [...snapshot.advertisements.values()].toSorted((a, b) => compareText(a.name, b.name));
    for (const pool of snapshot.pools.values()) {
      this.#byPool.set(
        pool.name,
        all.filter((advertisement) => reachesPool(advertisement, pool)),
      );
    }
  }

  reaching(pool: PoolFacts, service: ServiceFacts): readonly AdvertisementFacts[] {
    const ofPool = this.#byPool.get(pool.name) ?? [];
    if (ofPool.every(({ serviceSelectors }) => serviceSelectors.length === 0)) return ofPool;
    return ofPool.filter(({ serviceSelectors }) => anySelectorMatches(serviceSelectors, service.labels));
  }
}

/** Neither names nor selectors: every pool. Otherwise the union of both; a selector that matches nothing adds nothing. */
function reachesPool(advertisement: AdvertisementFacts, pool: PoolFacts): boolean {
  const { poolNames, poolSelectors } = advertisement;
  if (poolNames.length === 0 && poolSelectors.length === 0) return true;
  return poolNames.includes(pool.name) || poolSelectors.some((selector) => selectorMatches(selector, pool.labels));
}

/** By creation, then namespace/name. A Service without a time is the oldest: its file was there first. */
function oldestFirst(services: Iterable<ServiceFacts>): ServiceFacts[] {
  const dated = [...services].map((service) => ({ service, createdMs: createdMsOf(service.createdAt) }));
  dated.sort(
    (a, b) =>
      a.createdMs - b.createdMs ||
      compareText(a.service.namespace, b.service.namespace) ||
      compareText(a.service.name, b.service.name),
  );
  return dated.map(({ service }) => service);
}

/** Kubernetes writes RFC 3339 in UTC; parsed, because a file may carry an offset or fractions. */
function createdMsOf(createdAt: string): number {
  const parsed = createdAt === "" ? Number.NaN : Date.parse(createdAt);
  return Number.isNaN(parsed) ? Number.MIN_SAFE_INTEGER : parsed;
}

/** Connected components of Services over the addresses they share. `services` is oldest first, and stays so in each group. */
function joinByAddress(services: readonly GroupService[]): AddressGroup[] {
  const parents = services.map((_, index) => index);
  const rootOf = (index: number): number => {
    let root = index;
    while ((parents[root] ?? root) !== root) root = parents[root] ?? root;
    for (let step = index; step !== root; ) {
      const next = parents[step] ?? root;
      parents[step] = root;
      step = next;
    }
    return root;
  };
  const holders = new Map<Ip, number>();
  for (const [index, service] of services.entries()) {
    for (const ip of service.addresses) {
      const other = holders.get(ip);
      if (other === undefined) holders.set(ip, index);
      // The lower index, the older Service, becomes the root, so that components come out in order of age.
      else joinRoots(parents, rootOf(other), rootOf(index));
    }
  }
  const components = new Map<number, GroupService[]>();
  for (const [index, service] of services.entries()) {
    const root = rootOf(index);
    const component = components.get(root);
    if (component === undefined) components.set(root, [service]);
    else component.push(service);
  }
  return [...components.values()].flatMap(groupOf);
}

function joinRoots(parents: number[], a: number, b: number): void {
  parents[Math.max(a, b)] = Math.min(a, b);
}

function groupOf(services: readonly GroupService[]): AddressGroup[] {
  const oldest = services[0];
  const key = oldest?.addresses[0];
  if (oldest === undefined || key === undefined) return [];
  const addresses =
    services.length === 1 ? oldest.addresses : [...new Set(services.flatMap((service) => service.addresses))];
  return [{ key, addresses, services }];
}
