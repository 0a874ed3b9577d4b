/** The part of a speaker that leads from facts to reports of Services, and a small cluster for it. */
import { LeadershipBook } from "../../speaker/leadership.ts";
import { ServiceReports } from "../../speaker/service-reports.ts";
import type { Stand } from "../../speaker/stand.ts";
import type { AnnounceLink } from "../../src/announcer/ports.ts";
import { listDifference } from "../../src/base/list-difference.ts";
import { Deriver } from "../../src/desired/derive.ts";
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import type { Decision, MemberView } from "../../src/election/decision.ts";
import { decide } from "../../src/election/elect.ts";
import { RankMemory } from "../../src/election/rank-memory.ts";
import type { Rule } from "../../src/election/word.ts";
import type { ServiceReport } from "../../src/kube/write/service-report.ts";
import { advertisement, node, pool, service, slice, snapshot } from "../desired/facts.ts";
import { mac, member, prefix } from "../election/views.ts";

export const NAMES = ["node-a", "node-b", "node-c"];
export const MEMBERS = NAMES.map((name) => member(name));
/** node-b, node-a, node-c by hash for 10.0.0.1; node-b, node-c, node-a for 10.0.0.2. */
export const LED = service("web", ["10.0.0.1"]);

export function link(
  name: string,
  index: number,
  isUsable = true,
  prefixes = ["10.0.0.0/8", "2001:db8::/32"],
): AnnounceLink {
  return { index, name, mac: mac(`02:00:00:00:00:0${index}`), isUsable, addresses: [], prefixes: prefixes.map(prefix) };
}

export const LINKS = [link("eth0", 2), link("eth1", 3, true, ["198.51.100.0/24"])];

export function cluster(contents: Parameters<typeof snapshot>[0] = {}): ClusterSnapshot {
  const services = contents.services ?? [LED];
  return snapshot({
    pools: [pool("main", ["10.0.0.0/8", "2001:db8::/64"])],
    advertisements: [advertisement("all")],
    nodes: NAMES.map((name) => node(name)),
    endpointSlices: services.map(({ name }) => slice(name, [{ nodeName: "node-a" }])),
    ...contents,
    services,
  });
}

/** The part of a speaker that leads from facts to reports. */
export class Reporter {
  readonly reports: ServiceReports;
  readonly told = new Map<string, ServiceReport>();
  readonly #deriver = new Deriver();
  readonly #memory = new RankMemory();
  readonly #book = new LeadershipBook();
  #decisions: readonly Decision[] = [];
  rule: Rule = "arpeggio-1";
  links: readonly AnnounceLink[] = LINKS;
  wallOffsetMs = 1_000_000;
  stand: Stand | undefined;

  readonly name: string;

  constructor(name: string) {
    this.name = name;
    this.reports = new ServiceReports(name);
  }

  /** It answers in another's place, or another in its own. */
  take(stand: Stand | undefined): boolean {
    this.stand = stand;
    const [decision] = this.#decisions;
    return decision !== undefined && this.reports.standChanged(decision, stand);
  }

  follow(facts: ClusterSnapshot, members: readonly MemberView[] = MEMBERS, nowMs = 0) {
    const derived = this.#deriver.derive(facts, {
      loadBalancerClass: "",
      checksAdmission: this.rule === "arpeggio-1",
    });
    const { rule } = this;
    const view = { rule, source: "kubernetes", members, nodes: facts.nodes, ignoresExcludeLabel: false } as const;
    const decisions = decide(derived.groups, view, this.#memory);
    const changes = listDifference(this.#decisions, decisions);
    this.#book.follow(changes, nowMs);
    this.#decisions = decisions;
    this.reports.takeDecisions(changes);
    const batch = this.reports.follow({
      leadership: this.#book.byIp,
      refused: derived.refused,
      links: this.links,
      ownLabels: facts.nodes.get(this.name)?.labels ?? {},
      members,
      wallMsOf: (atMs) => atMs + this.wallOffsetMs,
      standOf: () => this.stand,
      nowMs,
    });
    for (const { service: of, report } of batch.changes) {
      if (report === undefined) this.told.delete(of);
      else this.told.set(of, report);
    }
    return batch;
  }
}

export function reporters(): readonly Reporter[] {
  return NAMES.map((name) => new Reporter(name));
}

/** Who says something of the Service, and what. */
export function saidOf(all: readonly Reporter[], of: string): readonly (readonly [string, ServiceReport])[] {
  return all.flatMap(({ name, told }) => {
    const report = told.get(of);
    return report === undefined ? [] : [[name, report] as const];
  });
}
