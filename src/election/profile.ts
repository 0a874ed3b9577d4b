/** Which groups look alike to the rules, so that members are judged once for all of them. Pure, but for its caches. */
import { shared } from "../base/shared.ts";
import type { AddressGroup, GroupService } from "../desired/group.ts";
import type { AdvertisementFacts } from "../desired/snapshot.ts";
import type { Ip } from "../net/ip.ts";
import { formatPrefix, type Prefix, type Range, rangeHolds, rangeOfPrefix } from "../net/prefix.ts";
import type { ElectionView } from "./decision.ts";

/** Equal text for groups on which every member stands alike. */
export type Profiler = (group: AddressGroup) => string;

const NO_NODES: ReadonlySet<string> = new Set();

/** Profiles by group, and what they are made of: remembered, because big numbers are slow and prefixes rarely change. */
export class ProfileMemory {
  readonly #identities = new Identities();
  #prefixes = "";
  #ranges: readonly Range[] = [];
  #holdings = new Map<Ip, string>();
  /** By the group's key. */
  #profiles = new Map<Ip, { readonly group: AddressGroup; readonly profile: string }>();
  /** Every profile in use once, and others. */
  #texts = new Map<string, string>();

  /** The prefixes that profiles are made with. */
  get prefixes(): string {
    return this.#prefixes;
  }

  /** Only the prefixes of members matter: addresses that the same of them hold look alike. */
  use(prefixes: readonly Prefix[]): void {
    const named = [...new Map(prefixes.map((prefix) => [formatPrefix(prefix), prefix]))];
    named.sort(([a], [b]) => (a < b ? -1 : 1));
    const names = named.map(([name]) => name).join();
    if (names === this.#prefixes) return;
    this.#prefixes = names;
    this.#ranges = named.map(([, prefix]) => rangeOfPrefix(prefix));
    this.#holdings = new Map();
    this.#profiles = new Map();
    this.#texts = new Map();
  }

  profileOf(group: AddressGroup): string {
    const known = this.#profiles.get(group.key);
    if (known?.group === group) return known.profile;
    const text = group.services.map((service) => this.#ofService(service)).join(";");
    const profile = shared(this.#texts, text, text);
    this.#profiles.set(group.key, { group, profile });
    return profile;
  }

  prune(groups: number): void {
    if (this.#holdings.size > 2 * groups + 1_000) this.#holdings = new Map();
    if (this.#profiles.size > 2 * groups + 1_000) this.#profiles = new Map();
    if (this.#texts.size > 2 * groups + 1_000) this.#texts = new Map();
  }

  #ofService(service: GroupService): string {
    const advertisements = this.#identities.of(service.advertisements);
    const held = service.addresses.map((ip) => this.#holdingOf(ip)).join(" ");
    const profile = `${advertisements} ${held} ${service.hasServingEndpoint}`;
    if (service.externalTrafficPolicy === "Cluster") return profile;
    if (service.isServedEverywhere) return `${profile} everywhere`;
    return `${profile} unplaced ${service.hasUnplacedEndpoint} ready ${namesOf(service.readyNodes)} terminating ${namesOf(service.terminatingNodes)} fresh ${namesOf(service.freshNodes ?? NO_NODES)}`;
  }

  /** Numbers of the prefixes that hold the address. */
  #holdingOf(ip: Ip): string {
    let holding = this.#holdings.get(ip);
    if (holding === undefined) {
      const numbers: number[] = [];
      for (const [number, range] of this.#ranges.entries()) if (rangeHolds(range, ip)) numbers.push(number);
      holding = numbers.join();
      this.#holdings.set(ip, holding);
    }
    return holding;
  }
}

export function groupProfiler(view: ElectionView, memory: ProfileMemory): Profiler {
  // MetalLB's rule knows no links.
  memory.use(
    view.rule === "metallb-1"
      ? []
      : view.members.flatMap(({ word }) => word?.prefixes ?? []).map(({ prefix }) => prefix),
  );
  return (group) => memory.profileOf(group);
}

function namesOf(nodes: ReadonlySet<string>): string {
  return JSON.stringify([...nodes].toSorted());
}

/** Numbers for advertisements, and for lists of them: `derive` shares one list between the Services of a pool. */
class Identities {
  readonly #numbers = new WeakMap<AdvertisementFacts, number>();
  readonly #lists = new WeakMap<readonly AdvertisementFacts[], string>();
  #count = 0;

  of(advertisements: readonly AdvertisementFacts[]): string {
    let identity = this.#lists.get(advertisements);
    if (identity === undefined) {
      identity = advertisements.map((advertisement) => this.#numberOf(advertisement)).join();
      this.#lists.set(advertisements, identity);
    }
    return identity;
  }

  #numberOf(advertisement: AdvertisementFacts): number {
    const known = this.#numbers.get(advertisement);
    if (known !== undefined) return known;
    this.#numbers.set(advertisement, this.#count);
    return this.#count++;
  }
}
