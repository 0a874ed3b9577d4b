/**
 * What this node has to write about Services (`src/kube/write/service-report.ts`), from the very values that drive the wire.
 * Pure but for its memory: a report that says the same is the same object, and only differences are handed out.
 */
import { isDeepStrictEqual } from "node:util";
import { planLinks, type Topology, topologyOf } from "../src/announcer/plan.ts";
import type { AnnounceLink } from "../src/announcer/ports.ts";
import type { GroupService, RefusedService } from "../src/desired/group.ts";
import type { Labels } from "../src/desired/selectors.ts";
import type { NodeName } from "../src/desired/snapshot.ts";
import type { Decision, MemberView } from "../src/election/decision.ts";
import type { ServiceReport, ServiceReportChange } from "../src/kube/write/service-report.ts";
import { type Ip, ipBytes } from "../src/net/ip.ts";
import { interfacesOf } from "./duties.ts";
import type { LeadershipByIp } from "./leadership.ts";
import { Reporters } from "./reporters.ts";
import { leaderlessSentence, refusedSentence } from "./service-sentence.ts";

/** As many as neither thread stalls on. */
export const CHANGES_AT_ONCE = 500;

export interface ReportView {
  readonly decisions: readonly Decision[];
  readonly leadership: LeadershipByIp;
  readonly refused: readonly RefusedService[];
  /** This node's, the same array while they are the same. */
  readonly links: readonly AnnounceLink[];
  readonly ownLabels: Labels;
  /** Those that were elected from. */
  readonly members: readonly MemberView[];
  /** Wall time, ms, of a monotonic time. */
  readonly wallMsOf: (atMs: number) => number;
}

export interface ReportBatch {
  readonly changes: readonly ServiceReportChange[];
  /** False: more is to be said, in the next turn. */
  readonly isEnd: boolean;
}

interface Report {
  readonly service: string;
  readonly report: ServiceReport;
}

const NOTHING: ReportBatch = { changes: [], isEnd: true };

export class ServiceReports {
  readonly #self: NodeName;
  readonly #reporters = new Reporters();
  #last: ReportView | undefined;
  #topology: Topology = topologyOf([], []);
  #isComplete = true;
  /** As they were handed out. */
  readonly #told = new Map<string, ServiceReport>();
  /** Of decisions and refusals that stand; those of led ones are made anew when links, labels or the number of members change. */
  #ofLed = new WeakMap<Decision, readonly Report[]>();
  readonly #ofLeaderless = new WeakMap<Decision | RefusedService, readonly Report[]>();
  /** Fixed when first asked for: a wall clock that is set must not change what was said. */
  #began = new Map<Ip, { readonly atMs: number; readonly wallMs: number }>();

  constructor(self: NodeName) {
    this.#self = self;
  }

  /** What is different from what was handed out so far: `CHANGES_AT_ONCE` at most. */
  follow(view: ReportView): ReportBatch {
    const last = this.#last;
    this.#last = view;
    const hasSameReporters = !this.#reporters.begin(view.members);
    if (!hasSameReporters) this.#isComplete = false;
    const hasSamePlace = last?.links === view.links && last.ownLabels === view.ownLabels;
    const hasSameDecisions = last?.decisions === view.decisions && last.refused === view.refused;
    const hasSameCount = last?.members.length === view.members.length;
    if (hasSamePlace && hasSameDecisions && hasSameCount && this.#isComplete) return NOTHING;
    if (last?.links !== view.links) this.#topology = topologyOf(view.links, []);
    // How many candidates there are is said of every Service that is led.
    if (!hasSamePlace || !hasSameCount) this.#ofLed = new WeakMap();
    return this.#difference(this.#wanted(view));
  }

  #wanted(view: ReportView): ReadonlyMap<string, ServiceReport> {
    const wanted = new Map<string, ServiceReport>();
    const add = ({ service, report }: Report): unknown => wanted.set(service, report);
    let leaderless = 0;
    for (const decision of view.decisions) {
      if (decision.leader === this.#self) this.#led(decision, view).forEach(add);
      if (decision.leader !== undefined) continue;
      leaderless++;
      for (const report of this.#leaderless(decision)) this.#addIfOurs(report, add);
    }
    for (const service of view.refused) for (const report of this.#refused(service)) this.#addIfOurs(report, add);
    this.#reporters.prune(leaderless + view.refused.length);
    if (this.#began.size > 2 * view.decisions.length + 1_000) this.#began = new Map();
    return wanted;
  }

  /** While its reporter is not worked out, what was said of a Service stands. */
  #addIfOurs(candidate: Report, add: (report: Report) => unknown): void {
    const { service, report } = candidate;
    const reporter = this.#reporters.of(report.addresses[0] ?? service);
    const told = this.#told.get(service);
    if (reporter === this.#self) add(candidate);
    else if (reporter === undefined && told !== undefined) add({ service, report: told });
  }

  #difference(wanted: ReadonlyMap<string, ServiceReport>): ReportBatch {
    const changes: ServiceReportChange[] = [];
    let isEnd = !this.#reporters.isShort;
    for (const [service, report] of wanted) {
      if (this.#told.get(service) === report) continue;
      if (changes.length === CHANGES_AT_ONCE) {
        isEnd = false;
        break;
      }
      this.#told.set(service, report);
      changes.push({ service, report });
    }
    for (const service of this.#told.keys()) {
      if (wanted.has(service)) continue;
      if (changes.length === CHANGES_AT_ONCE) {
        isEnd = false;
        break;
      }
      this.#told.delete(service);
      changes.push({ service });
    }
    this.#isComplete = isEnd;
    return { changes, isEnd };
  }

  #led(decision: Decision, view: ReportView): readonly Report[] {
    const known = this.#ofLed.get(decision);
    if (known !== undefined) return known;
    const restrictedTo = interfacesOf(decision, view.ownLabels);
    const reports = reportsOf(decision, (addresses) => {
      const links = this.#linksOf(addresses, restrictedTo, view.links);
      if (links.length === 0) return { kind: "no-link", addresses };
      const { since, previousNode } = this.#history(addresses, view);
      return {
        kind: "leading",
        addresses,
        links,
        restrictedTo,
        sinceMs: since,
        reason: decision.reason,
        ...(previousNode === undefined ? {} : { previousNode }),
        rank: 1,
        candidates: view.members.length - decision.refusals.length,
      };
    });
    return this.#keep(this.#ofLed, decision, reports);
  }

  #leaderless(decision: Decision): readonly Report[] {
    const known = this.#ofLeaderless.get(decision);
    if (known !== undefined) return known;
    const { reason } = decision;
    const sentence = leaderlessSentence(decision);
    const reports = reportsOf(decision, (addresses) => ({ kind: "not-announced", addresses, reason, sentence }));
    return this.#keep(this.#ofLeaderless, decision, reports);
  }

  #refused(refused: RefusedService): readonly Report[] {
    const known = this.#ofLeaderless.get(refused);
    if (known !== undefined) return known;
    const sentence = refusedSentence(refused);
    const { addresses, reason } = refused;
    const service = nameOf(refused);
    const reports: readonly Report[] =
      sentence === undefined ? [] : [{ service, report: { kind: "not-announced", addresses, reason, sentence } }];
    return this.#keep(this.#ofLeaderless, refused, reports);
  }

  /** What says the same as before is given as the same object. */
  #keep<Key extends object>(
    memory: WeakMap<Key, readonly Report[]>,
    key: Key,
    reports: readonly Report[],
  ): readonly Report[] {
    const kept = reports.map((one) => {
      const told = this.#told.get(one.service);
      return told !== undefined && isDeepStrictEqual(told, one.report) ? { service: one.service, report: told } : one;
    });
    memory.set(key, kept);
    return kept;
  }

  /** Where the addresses are answered, by the announcer's own plan. */
  #linksOf(addresses: readonly Ip[], restrictedTo: readonly string[], links: readonly AnnounceLink[]) {
    const planned = new Set(addresses.flatMap((ip) => planLinks(ipBytes(ip), restrictedTo, this.#topology)));
    return links.filter(({ index }) => planned.has(index)).map(({ name, mac }) => ({ name, mac }));
  }

  #history([ip]: readonly Ip[], { leadership, wallMsOf }: ReportView) {
    const led = ip === undefined ? undefined : leadership.get(ip);
    if (ip === undefined || led === undefined) return { since: 0 };
    const known = this.#began.get(ip);
    const since = known?.atMs === led.sinceMs ? known.wallMs : Math.round(wallMsOf(led.sinceMs));
    this.#began.set(ip, { atMs: led.sinceMs, wallMs: since });
    return led.previousLeader === undefined ? { since } : { since, previousNode: led.previousLeader };
  }
}

/**
 * One report for each Service that the decision speaks for. Under `metallb-1` two decisions may share a Service's addresses: the
 * one on its first address, which MetalLB elects by, has the word.
 */
function reportsOf(
  { group }: Decision,
  reportOn: (addresses: readonly Ip[], service: GroupService) => ServiceReport,
): readonly Report[] {
  return group.services.flatMap((service) => {
    const addresses = service.addresses.filter((ip) => group.addresses.includes(ip));
    if (addresses.length === 0 || addresses[0] !== service.addresses[0]) return [];
    return [{ service: nameOf(service), report: reportOn(addresses, service) }];
  });
}

function nameOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
