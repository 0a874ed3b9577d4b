/** Which groups look alike to the rules, so that members are judged once for all of them. Pure, but for its caches. */
import type { AddressGroup, GroupService } from "../desired/group.ts";
import type { AdvertisementFacts } from "../desired/snapshot.ts";
import { familyOf, type Ip, ipToBigInt } from "../net/ip.ts";
import { formatPrefix, type Prefix, type Range, rangeOfPrefix } from "../net/prefix.ts";
import type { ElectionView } from "./decision.ts";

/** Equal text for groups on which every member stands alike. */
export type Profiler = (group: AddressGroup) => string;

/** Which of the members' on-link prefixes hold an address: remembered, because big numbers are slow and prefixes rarely change. */
export class Holdings {
  #prefixes = "";
  #ranges: readonly Range[] = [];
  #byIp = new Map<Ip, string>();

  use(prefixes: ReadonlyMap<string, Prefix>): void {
    const names = [...prefixes.keys()].toSorted();
    if (names.join() === this.#prefixes) return;
    this.#prefixes = names.join();
    this.#ranges = [...prefixes.entries()]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, prefix]) => rangeOfPrefix(prefix));
    this.#byIp = new Map();
  }

  of(ip: Ip): string {
    let holding = this.#byIp.get(ip);
    if (holding === undefined) {
      const family = familyOf(ip);
      const value = ipToBigInt(ip);
      holding = this.#ranges
        .flatMap((range, index) =>
          range.family === family && range.first <= value && value <= range.last ? [index] : [],
        )
        .join();
      this.#byIp.set(ip, holding);
    }
    return holding;
  }

  prune(count: number): void {
    if (this.#byIp.size > 2 * count + 1_000) this.#byIp = new Map();
  }
}

export function groupProfiler(view: ElectionView, holdings: Holdings): Profiler {
  const prefixes = new Map<string, Prefix>();
  if (view.rule === "arpeggio-1") {
    for (const { word } of view.members) {
      for (const { prefix } of word?.prefixes ?? []) prefixes.set(formatPrefix(prefix), prefix);
    }
  }
  holdings.use(prefixes);
  const identities = new Identities();
  return (group) => {
    let profile = "";
    for (const service of group.services) profile += `${profileOf(service, holdings, identities)};`;
    return profile;
  };
}

function profileOf(service: GroupService, holdings: Holdings, identities: Identities): string {
  let profile = identities.of(service.advertisements);
  for (const ip of service.addresses) profile += ` ${holdings.of(ip)}`;
  if (service.externalTrafficPolicy === "Cluster") return `${profile} ${service.hasServingEndpoint}`;
  if (service.isServedEverywhere) return `${profile} everywhere`;
  return `${profile} ready ${namesOf(service.readyNodes)} terminating ${namesOf(service.terminatingNodes)}`;
}

function namesOf(nodes: ReadonlySet<string>): string {
  return JSON.stringify([...nodes].toSorted());
}

/** Numbers for advertisements, and for lists of them: `derive` shares one list between the Services of a pool. */
class Identities {
  readonly #numbers = new Map<AdvertisementFacts, number>();
  readonly #lists = new Map<readonly AdvertisementFacts[], string>();

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
    this.#numbers.set(advertisement, this.#numbers.size);
    return this.#numbers.size - 1;
  }
}
