/**
 * What this node has to write about Services (`src/kube/write/service-report.ts`), from the very values that drive the wire.
 * Pure but for its memory: a report that says the same is the same object, and only differences are handed out.
 */
import { isDeepStrictEqual } from "node:util";
import { planLinks, type Topology, topologyOf } from "../src/announcer/plan.ts";
import type { AnnounceLink } from "../src/announcer/ports.ts";
import { type ListDifference, listDifference } from "../src/base/list-difference.ts";
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
import type { Stand } from "./stand.ts";

/** As many as neither thread stalls on. */
export const CHANGES_AT_ONCE = 500;
/** Reports that are worked out in one turn: a few milliseconds. */
const REPORTS_AT_ONCE = 60;
/** What a subject costs of which nothing is to be said here, in reports: after a change of members that is most of them. */
const SILENT_COST = 0.1;

export interface ReportView {
  readonly leadership: LeadershipByIp;
  readonly refused: readonly RefusedService[];
  /** This node's, the same array while they are the same. */
  readonly links: readonly AnnounceLink[];
  readonly ownLabels: Labels;
  /** Of the first address of a group; undefined: its leader answers. */
  readonly standOf: (ip: Ip) => Stand | undefined;
  readonly nowMs: number;
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

/** What may be said of Services: a decision of its own, a refused one of itself. */
type Subject = Decision | RefusedService;

const NOTHING: ReportBatch = { changes: [], isEnd: true };

export class ServiceReports {
  readonly #self: NodeName;
  readonly #reporters = new Reporters();
  #last: ReportView | undefined;
  #topology: Topology = topologyOf([], []);
  readonly #decisions = new Set<Decision>();
  /** As they were handed out, and as they should be. */
  readonly #told = new Map<string, ServiceReport>();
  readonly #wanted = new Map<string, ServiceReport>();
  /** Services of which the two may differ. */
  readonly #dirty = new Set<string>();
  /** What is said of a subject is to be worked out. */
  readonly #queue = new Set<Subject>();
  /** The Services of which a subject had something to be said here. */
  readonly #servicesOf = new Map<Subject, readonly string[]>();
  /** Of subjects that are gone or in the queue: until all is worked out, what was said of them stands. */
  readonly #open = new Set<string>();
  /** By the first address of a group, as it was when something was said of it last. */
  readonly #stands = new Map<Ip, Stand>();
  /** When, and from whom, this node got back what a contest had taken from it. */
  readonly #resumed = new Map<Ip, { readonly atMs: number; readonly from: NodeName }>();
  /** Fixed when first asked for: a wall clock that is set must not change what was said. */
  #began = new Map<Ip, { readonly atMs: number; readonly wallMs: number }>();

  constructor(self: NodeName) {
    this.#self = self;
  }

  /** Decisions that have changed; what is to be said of them is worked out by `follow`. */
  takeDecisions(changes: ListDifference<Decision>): void {
    for (const decision of changes.gone) this.#decisions.delete(decision);
    for (const decision of changes.come) this.#decisions.add(decision);
    this.#takeSubjects(changes);
  }

  /** Another may answer than before for the decision's addresses; whether something else is to be said because of it. */
  standChanged(decision: Decision, stand: Stand | undefined): boolean {
    const [ip] = decision.group.addresses;
    if (ip === undefined || isDeepStrictEqual(this.#stands.get(ip), stand)) return false;
    this.#queue.add(decision);
    return true;
  }

  /** What is different from what was handed out so far: `CHANGES_AT_ONCE` at most. */
  follow(view: ReportView): ReportBatch {
    const last = this.#last;
    this.#last = view;
    this.#takeSubjects(listDifference(last?.refused ?? [], view.refused));
    if (this.#reporters.begin(view.members)) {
      for (const decision of this.#decisions) if (decision.leader === undefined) this.#queue.add(decision);
      for (const service of view.refused) this.#queue.add(service);
    }
    if (last?.links !== view.links) this.#topology = topologyOf(view.links, []);
    const hasSamePlace = last?.links === view.links && last.ownLabels === view.ownLabels;
    // How many candidates there are is said of every Service that is led.
    if (!hasSamePlace || last.members.length !== view.members.length) {
      for (const decision of this.#decisions) if (decision.leader === this.#self) this.#queue.add(decision);
    }
    if (this.#queue.size === 0 && this.#open.size === 0 && this.#dirty.size === 0) return NOTHING;
    this.#workOff(view);
    const changes = this.#difference();
    return { changes, isEnd: this.#queue.size === 0 && this.#dirty.size === 0 };
  }

  #takeSubjects({ gone, come }: ListDifference<Subject>): void {
    for (const subject of gone) {
      this.#queue.delete(subject);
      for (const service of this.#servicesOf.get(subject) ?? []) this.#open.add(service);
      this.#servicesOf.delete(subject);
    }
    for (const subject of come) this.#queue.add(subject);
  }

  #workOff(view: ReportView): void {
    let worked = 0;
    for (const subject of this.#queue) {
      if (worked >= REPORTS_AT_ONCE) return;
      const reports = "candidates" in subject ? this.#ofDecision(subject, view) : this.#refused(subject);
      // The turn's share of hashes is used up.
      if (reports === undefined) return;
      worked += Math.max(reports.length, SILENT_COST);
      this.#queue.delete(subject);
      for (const service of this.#servicesOf.get(subject) ?? []) this.#open.add(service);
      if (reports.length === 0) this.#servicesOf.delete(subject);
      else
        this.#servicesOf.set(
          subject,
          reports.map(({ service }) => service),
        );
      for (const one of reports) this.#want(one);
    }
    for (const service of this.#open) {
      this.#wanted.delete(service);
      this.#dirty.add(service);
    }
    this.#open.clear();
    this.#reporters.prune(this.#decisions.size + view.refused.length);
    if (this.#began.size > 2 * this.#decisions.size + 1_000) this.#began = new Map();
    for (const memory of [this.#stands, this.#resumed]) this.#forgetGone(memory, view);
  }

  /** Stands are few; a long list of them is looked through only when most of it must be of what has gone. */
  #forgetGone(memory: Map<Ip, unknown>, { leadership }: ReportView): void {
    if (memory.size <= this.#decisions.size) return;
    for (const ip of memory.keys()) if (!leadership.has(ip)) memory.delete(ip);
  }

  /** What says the same as before is given as the same object. */
  #want({ service, report }: Report): void {
    this.#open.delete(service);
    const told = this.#told.get(service);
    const isSame = told !== undefined && isDeepStrictEqual(told, report);
    this.#wanted.set(service, isSame ? told : report);
    this.#dirty.add(service);
  }

  #difference(): ServiceReportChange[] {
    const changes: ServiceReportChange[] = [];
    for (const service of this.#dirty) {
      const report = this.#wanted.get(service);
      if (this.#told.get(service) === report) {
        this.#dirty.delete(service);
        continue;
      }
      if (changes.length === CHANGES_AT_ONCE) break;
      this.#dirty.delete(service);
      if (report === undefined) this.#told.delete(service);
      else this.#told.set(service, report);
      changes.push(report === undefined ? { service } : { service, report });
    }
    return changes;
  }

  #ofDecision(decision: Decision, view: ReportView): readonly Report[] | undefined {
    const stand = this.#takeStand(decision, view);
    // Whoever answers in its place writes what is to be written: two would take each other's status away.
    if (stand?.kind === "silenced" || stand?.kind === "unleased") return [];
    if (stand?.kind === "taken") return this.#led(decision, view, stand);
    if (decision.leader === this.#self) return this.#led(decision, view);
    return decision.leader === undefined ? this.#ours(this.#leaderless(decision)) : [];
  }

  #takeStand({ group, leader }: Decision, { standOf, nowMs }: ReportView): Stand | undefined {
    const [ip] = group.addresses;
    if (ip === undefined) return undefined;
    const before = this.#stands.get(ip);
    const stand = standOf(ip);
    if (stand === undefined) this.#stands.delete(ip);
    else this.#stands.set(ip, stand);
    if (leader !== this.#self || stand?.kind === "silenced") this.#resumed.delete(ip);
    else if (before?.kind === "silenced") this.#resumed.set(ip, { atMs: nowMs, from: before.by });
    return stand;
  }

  /** Those that this node is to write; undefined when it cannot be told yet. */
  #ours(candidates: readonly Report[]): readonly Report[] | undefined {
    const ours: Report[] = [];
    for (const candidate of candidates) {
      const { service, report } = candidate;
      const reporter = this.#reporters.of(report.addresses[0] ?? service);
      if (this.#reporters.isShort) return undefined;
      if (reporter === this.#self) ours.push(candidate);
    }
    return ours;
  }

  #led(decision: Decision, view: ReportView, taken?: Stand & { readonly kind: "taken" }): readonly Report[] {
    const restrictedTo = interfacesOf(decision, view.ownLabels);
    return reportsOf(decision, (addresses) => {
      const links = this.#linksOf(addresses, restrictedTo, view.links);
      if (links.length === 0) return { kind: "no-link", addresses };
      const { since, previousNode } = this.#history(addresses, view, taken);
      const place = decision.candidates.findIndex(({ node }) => node === this.#self);
      return {
        kind: "leading",
        addresses,
        links,
        restrictedTo,
        sinceMs: since,
        reason: taken === undefined ? decision.reason : "orphan",
        ...(previousNode === undefined ? {} : { previousNode }),
        rank: taken === undefined ? 1 : place + 1,
        candidates: view.members.length - decision.refusals.length,
      };
    });
  }

  #leaderless(decision: Decision): readonly Report[] {
    const { reason } = decision;
    const sentence = leaderlessSentence(decision);
    return reportsOf(decision, (addresses) => ({ kind: "not-announced", addresses, reason, sentence }));
  }

  #refused(refused: RefusedService): readonly Report[] | undefined {
    const sentence = refusedSentence(refused);
    if (sentence === undefined) return [];
    const { addresses, reason } = refused;
    return this.#ours([{ service: nameOf(refused), report: { kind: "not-announced", addresses, reason, sentence } }]);
  }

  /** Where the addresses are answered, by the announcer's own plan. */
  #linksOf(addresses: readonly Ip[], restrictedTo: readonly string[], links: readonly AnnounceLink[]) {
    const planned = new Set(addresses.flatMap((ip) => planLinks(ipBytes(ip), restrictedTo, this.#topology)));
    return links.filter(({ index }) => planned.has(index)).map(({ name, mac }) => ({ name, mac }));
  }

  #history([ip]: readonly Ip[], { leadership, wallMsOf }: ReportView, taken?: Stand & { readonly kind: "taken" }) {
    const led = ip === undefined ? undefined : leadership.get(ip);
    if (ip === undefined || led === undefined) return { since: 0 };
    const resumed = this.#resumed.get(ip);
    const began =
      taken ??
      (resumed === undefined || resumed.atMs < led.sinceMs ? undefined : { from: resumed.from, sinceMs: resumed.atMs });
    const sinceMs = began?.sinceMs ?? led.sinceMs;
    const previousNode = began?.from ?? led.previousLeader;
    const known = this.#began.get(ip);
    const since = known?.atMs === sinceMs ? known.wallMs : Math.round(wallMsOf(sinceMs));
    this.#began.set(ip, { atMs: sinceMs, wallMs: since });
    return previousNode === undefined ? { since } : { since, previousNode };
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
    const isWhole = service.addresses.every((ip) => group.addresses.includes(ip));
    const addresses = isWhole ? service.addresses : service.addresses.filter((ip) => group.addresses.includes(ip));
    if (addresses.length === 0 || addresses[0] !== service.addresses[0]) return [];
    return [{ service: nameOf(service), report: reportOn(addresses, service) }];
  });
}

function nameOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
