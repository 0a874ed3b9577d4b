/** Which advertisements reach a Service, or why it is not announced: what pools and advertisements say, indexed once. Pure. */
import { type Ip, parseIp } from "../net/ip.ts";
import type { ServiceRefusal } from "./group.ts";
import { admits } from "./pool-admission.ts";
import { PoolIndex } from "./pool-index.ts";
import { anySelectorMatches, selectorMatches } from "./selectors.ts";
import type { AdvertisementFacts, ClusterSnapshot, PoolFacts, ServiceFacts } from "./snapshot.ts";
import { compareText } from "./text-order.ts";

export interface JudgeRules {
  /** `--lb-class`: empty serves the Services that name no class. */
  readonly loadBalancerClass: string;
  /** Whether a pool's serviceAllocation counts; MetalLB's speaker does not look at it. */
  readonly checksAdmission: boolean;
}

type Judgement =
  | ServiceRefusal
  | { readonly reason?: undefined; readonly advertisements: readonly AdvertisementFacts[] };

export class ServiceJudge {
  readonly #rules: JudgeRules;
  readonly #namespaces: ClusterSnapshot["namespaces"];
  readonly #pools: PoolIndex<PoolFacts>;
  readonly #advertisements: AdvertisementIndex;

  constructor(snapshot: ClusterSnapshot, rules: JudgeRules) {
    this.#rules = rules;
    this.#namespaces = snapshot.namespaces;
    this.#pools = new PoolIndex(snapshot.pools.values());
    this.#advertisements = new AdvertisementIndex(snapshot);
  }

  /** The advertisements that reach the Service, or why it is not announced; tested in MetalLB's order. */
  judge(service: ServiceFacts, addresses: readonly Ip[]): Judgement {
    if (!service.isLoadBalancer) return { reason: "not-load-balancer" };
    if ((service.loadBalancerClass ?? "") !== this.#rules.loadBalancerClass)
      return { reason: "other-load-balancer-class" };
    if (service.isBeingDeleted) return { reason: "being-deleted" };
    if (service.addresses.length === 0) return { reason: "no-address" };
    if (service.addresses.some((text) => parseIp(text) === undefined)) return { reason: "invalid-address" };
    const pool = this.#pools.poolOf(addresses);
    if (pool === undefined) return { reason: "no-pool" };
    if (this.#rules.checksAdmission && !admits(pool, service, this.#namespaces))
      return { reason: "not-admitted-by-pool", pool: pool.name };
    const reaching = this.#advertisements.reaching(pool, service);
    if (reaching.length === 0) {
      const advertisements = this.#advertisements.ofPool(pool).map(({ name }) => name);
      return { reason: "no-advertisement", pool: pool.name, advertisements };
    }
    const selecting = reaching.filter(({ serviceSelectors }) => serviceSelectors.length > 0);
    if (!service.hasSharingKey || selecting.length === 0) return { advertisements: reaching };
    const advertisements = selecting.map(({ name }) => name);
    return { reason: "shared-address-with-service-selector", pool: pool.name, advertisements };
  }
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

  ofPool(pool: PoolFacts): readonly AdvertisementFacts[] {
    return this.#byPool.get(pool.name) ?? [];
  }

  reaching(pool: PoolFacts, service: ServiceFacts): readonly AdvertisementFacts[] {
    const ofPool = this.ofPool(pool);
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
