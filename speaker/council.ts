/**
 * Everything that leads from facts to duties on one node: snapshot, members and links in; decisions, leadership and the own
 * word out. It holds the pure machines' states and knows no socket, timer or message.
 */
import { NODE_LABELS } from "../api/annotations.ts";
import type { DETECTIONS, READY_REASONS } from "../api/reasons.ts";
import type { Duty } from "../src/announcer/ports.ts";
import { earliest, isDue } from "../src/base/deadlines.ts";
import type { ListDifference } from "../src/base/list-difference.ts";
import { type Acceptance, acceptConfiguration } from "../src/desired/accept-configuration.ts";
import { Deriver } from "../src/desired/derive.ts";
import { FreshEndpoints } from "../src/desired/fresh-endpoints.ts";
import type { Derived } from "../src/desired/group.ts";
import { hasSameValues } from "../src/desired/keyed-difference.ts";
import type { Labels } from "../src/desired/selectors.ts";
import type { ChangedKeys, ClusterSnapshot } from "../src/desired/snapshot.ts";
import type { PastRun } from "../src/election/damping.ts";
import type { Decision, MemberView } from "../src/election/decision.ts";
import { Election } from "../src/election/election.ts";
import { nodesAsMembers } from "../src/election/nodes-as-members.ts";
import {
  NO_OBSERVED_NODES,
  type ObservedNodes,
  observedNodesDeadlineMs,
  observeNodes,
} from "../src/election/observed-nodes.ts";
import { buildWord } from "../src/election/own-word.ts";
import { type RuleState, ruleDeadlineMs, ruleInForce } from "../src/election/rule-in-force.ts";
import {
  flagsOf,
  initialStanding,
  readyReasonOf,
  type StandingEvent,
  type StandingState,
  stand,
  standingDeadlineMs,
} from "../src/election/standing.ts";
import {
  failSockets,
  initialLinks,
  type JudgedLink,
  judgeLinks,
  type LinksState,
  linksDeadlineMs,
  observeLinks,
} from "../src/election/usable-links.ts";
import { type NodeWord, RULES, type Rule } from "../src/election/word.ts";
import type { Ip } from "../src/net/ip.ts";
import type { Link } from "../src/net/link.ts";
import { type Prefix, prefixesOfRange } from "../src/net/prefix.ts";
import { DutyBook } from "./duty-book.ts";
import { Holding } from "./holding.ts";
import { type LeaderChange, LeadershipBook, type LeadershipByIp } from "./leadership.ts";
import type { MemberViews } from "./member-views.ts";
import { type CouncilPorts, type PastTrouble, pastTroublesOf, type SpeakerSettings } from "./speaker-ports.ts";

export type Readiness = (typeof READY_REASONS)[number];

export interface Verdict {
  /** What is different from before. */
  readonly decisions: ListDifference<Decision>;
  readonly duties: ListDifference<Duty>;
  readonly changes: readonly LeaderChange[];
  /** Sticky addresses that this node has written itself down for: others are to hear of it. */
  readonly held: readonly Ip[];
  readonly budgetLeft: number;
}

/** Of the first snapshot, in one turn: some milliseconds. */
const OBJECTS_AT_ONCE = 150;
const NONE: ListDifference<never> = { gone: [], come: [] };
const NOTHING_DERIVED: Derived = { groups: [], refused: [] };

export class Council {
  readonly #settings: SpeakerSettings;
  readonly #members: MemberViews;
  readonly #cap: Rule;
  readonly #election: Election;
  #standing: StandingState;
  #links: LinksState;
  #rule: RuleState;
  #observed: ObservedNodes = NO_OBSERVED_NODES;
  /** As read last, and as it counts. */
  #read: ClusterSnapshot | undefined;
  /** All of the first snapshot was derived. */
  #isRead = false;
  #snapshot: ClusterSnapshot | undefined;
  #refusal: string | undefined;
  /** Some address was given up, or taken, since the configuration was last judged. */
  #mayAccept = false;
  #derived: Derived = NOTHING_DERIVED;
  #poolPrefixes: readonly Prefix[] = [];
  /** Until every group was decided after it. */
  #wasReplaced = false;
  #electors: readonly MemberView[] = [];
  readonly #leadership = new LeadershipBook();
  readonly #duties = new DutyBook();
  readonly holding: Holding;
  readonly #deriver = new Deriver();
  readonly #fresh = new FreshEndpoints();
  /** What `#derived` is without the marks of fresh endpoints. */
  #judged: Derived = NOTHING_DERIVED;
  readonly #isGossipOn: boolean;
  readonly #labelsOfName: Labels;

  constructor(settings: SpeakerSettings, members: MemberViews, ports: CouncilPorts, nowMs: number) {
    this.#settings = settings;
    this.#election = new Election(ports.rankHeads);
    this.#members = members;
    this.#isGossipOn = ports.gossip !== undefined;
    this.#labelsOfName = { [NODE_LABELS.hostname]: settings.nodeName };
    this.#cap = settings.electionCap === "metallb" ? RULES[0] : RULES[1];
    this.#standing = initialStanding({
      name: settings.nodeName,
      ignoresCordon: settings.ignoresCordon,
      ignoresExcludeLabel: settings.ignoresExcludeLabel,
      troubles: settings.pastTroubles.map(({ kind, ageMs }) => ({ kind, atMs: nowMs - ageMs })),
      isFirstRun: settings.isFirstRun === true,
    });
    this.#links = initialLinks({ excluded: settings.excludedLinks, selected: [] });
    this.#rule = ruleInForce(undefined, [], nowMs, this.#cap);
    this.holding = new Holding(
      settings.nodeName,
      (ip) => this.#duties.decisionOf(ip),
      (addresses) => this.#election.holdersChanged(addresses),
    );
  }

  get standing(): StandingState {
    return this.#standing;
  }

  get rule(): RuleState {
    return this.#rule;
  }

  get snapshot(): ClusterSnapshot | undefined {
    return this.#snapshot;
  }

  /** Why the configuration as it was read does not count (`metallb-1` accepts whole ones only); undefined when it does. */
  get configurationRefusal(): string | undefined {
    return this.#refusal;
  }

  /** Who notices that a node died. Without gossip and without an API server, nobody does. */
  get detection(): (typeof DETECTIONS)[number] {
    if (this.#isGossipOn) return "gossip";
    return this.#snapshot?.source === "kubernetes" ? "api-server" : "none";
  }

  /** Strict addresses can be: others can be asked. */
  get hasLeases(): boolean {
    return this.#isGossipOn;
  }

  get derived(): Derived {
    return this.#derived;
  }

  get decisions(): readonly Decision[] {
    return this.#election.decisions;
  }

  /** Some decisions are of before: more is to be decided in the next turn. */
  get isDeciding(): boolean {
    return this.#isReading || !this.#election.isDone || !this.#duties.isDone;
  }

  get #isReading(): boolean {
    return this.#snapshot !== undefined && !this.#isRead;
  }

  /** Some address is answered here that another shall lead, or that may be found to be so in the next turns. */
  handsOver(answering: ReadonlySet<Ip>): boolean {
    const { nodeName } = this.#settings;
    return (
      this.isDeciding ||
      this.decisions.some(
        ({ leader, group }) =>
          leader !== undefined && leader !== nodeName && group.addresses.some((ip) => answering.has(ip)),
      )
    );
  }

  /** This node has begun or ceased to answer for the address. */
  answeringChanged(ip: Ip): void {
    this.#duties.touch(ip);
    this.holding.answers(ip);
    this.#mayAccept = true;
  }

  /** Something beside decisions has changed that the address's duty follows from. */
  dutyChanged(ip: Ip): void {
    this.#duties.touch(ip);
  }

  /** Undefined: no election is about the address. */
  decisionOf(ip: Ip): Decision | undefined {
    return this.#duties.decisionOf(ip);
  }

  /** Members that the last decisions were made of. */
  get electors(): readonly MemberView[] {
    return this.#electors;
  }

  /** Labels of the own Node; of one that no document describes, its name. */
  get ownLabels(): Labels {
    return this.#snapshot?.nodes.get(this.#settings.nodeName)?.labels ?? this.#labelsOfName;
  }

  get leadership(): LeadershipByIp {
    return this.#leadership.byIp;
  }

  get poolPrefixes(): readonly Prefix[] {
    return this.#poolPrefixes;
  }

  /** What this node still waits for; "ready" when nothing. */
  readiness(): Readiness {
    return readyReasonOf(this.#standing);
  }

  /** `announced`: what this node answers for now; under `metallb-1` a configuration must not take the pool from under it. */
  applySnapshot(snapshot: ClusterSnapshot, announced: ReadonlySet<Ip>, nowMs: number, changed?: ChangedKeys): void {
    this.#read = snapshot;
    this.#accept(announced, nowMs, changed);
    const node = snapshot.nodes.get(this.#settings.nodeName);
    this.stand({ kind: "node-facts", node, source: snapshot.source }, nowMs);
  }

  /** Derives the first snapshot, some objects a turn; until that is done it does not count as read. */
  goOnReading(nowMs: number): void {
    if (this.#snapshot === undefined || this.#isRead) return;
    if (!this.#deriver.isDone) {
      this.#judged = this.#deriver.goOn(this.#settings.turnBudget ?? OBJECTS_AT_ONCE);
      this.#derived = this.#fresh.mark(this.#judged, nowMs);
    }
    if (!this.#deriver.isDone) return;
    this.#isRead = true;
    this.stand({ kind: "snapshot-complete" }, nowMs);
  }

  #accept(announced: ReadonlySet<Ip>, nowMs: number, changed?: ChangedKeys): void {
    if (this.#read === undefined) return;
    this.#mayAccept = false;
    const isWhole = this.#rule.rule === "metallb-1";
    const { snapshot: counted, refusal }: Acceptance = isWhole
      ? acceptConfiguration(this.#snapshot, this.#read, announced)
      : { snapshot: this.#read };
    this.#refusal = refusal;
    const poolsBefore = this.#snapshot?.pools;
    this.#snapshot = counted;
    const rules = { loadBalancerClass: this.#settings.loadBalancerClass, checksAdmission: !isWhole };
    if (poolsBefore === undefined || !hasSameValues(poolsBefore, counted.pools)) {
      this.#poolPrefixes = [...counted.pools.values()].flatMap(({ ranges }) => ranges.flatMap(prefixesOfRange));
    }
    if (poolsBefore === undefined) return this.#deriver.begin(counted, rules);
    this.#judged = this.#deriver.derive(counted, rules, changed);
    this.#derived = this.#fresh.mark(this.#judged, nowMs);
  }

  observeLinks(links: readonly Link[], nowMs: number): void {
    this.#links = observeLinks(this.#links, links, nowMs);
  }

  stand(event: StandingEvent, nowMs: number): void {
    this.#standing = stand(this.#standing, event, nowMs);
  }

  /** Troubles of the process before this one that only a peer knew of. */
  remember(run: PastRun, nowMs: number): readonly PastTrouble[] {
    const before = this.#standing.troubles;
    this.stand({ kind: "remembered", run }, nowMs);
    return this.#standing.troubles === before ? [] : pastTroublesOf(this.#standing.troubles, nowMs);
  }

  links(nowMs: number): readonly JudgedLink[] {
    return judgeLinks(this.#links, nowMs);
  }

  failSockets(links: ReadonlySet<number>): void {
    this.#links = failSockets(this.#links, links);
  }

  /** One link that fails must not keep the others from answering; with no link at all there is nothing to open. */
  hasOpenSockets(nowMs: number): boolean {
    if (!this.knowsLinks) return false;
    const links = this.links(nowMs);
    return links.some(({ isUsable }) => isUsable) || !links.some(({ reason }) => reason === "socket-failed");
  }

  get knowsLinks(): boolean {
    return this.#links.links !== undefined;
  }

  word(nowMs: number): NodeWord {
    const facts = {
      standing: this.#standing,
      links: this.links(nowMs),
      highestRule: this.#cap,
      ruleInUse: this.#rule.rule,
      ...(this.#snapshot === undefined ? {} : { snapshot: this.#snapshot }),
    };
    return buildWord(facts, nowMs);
  }

  /** As much as the budget allows; before the first snapshot nothing is decided: "not read yet" is not "empty". */
  decide(view: {
    readonly incarnation: number;
    readonly answering: ReadonlySet<Ip>;
    readonly orphans: ReadonlyMap<Ip, unknown>;
    readonly wasReplaced: boolean;
    /** It says goodbye, or has said it. */
    readonly saysGoodbye: boolean;
    /** It has said goodbye and answers only until others are heard: it is no candidate any more. */
    readonly isGone: boolean;
    readonly nowMs: number;
    /** See `Election`. */
    readonly budget: number;
    readonly asked: ReadonlySet<Ip>;
  }): Verdict {
    const { nowMs, budget } = view;
    this.stand({ kind: "tick" }, nowMs);
    const others = this.#members.electorate();
    const ruleBefore = this.#rule.rule;
    this.#rule = ruleInForce(this.#rule, others, nowMs, this.#cap);
    const { rule } = this.#rule;
    // Refused once is not refused for good: the address may have been given up. And each rule reads pools in its own way.
    if ((this.#refusal !== undefined && this.#mayAccept) || rule !== ruleBefore) this.#accept(view.answering, nowMs);
    else if (isDue(this.#fresh.deadlineMs, nowMs)) this.#derived = this.#fresh.mark(this.#judged, nowMs);
    const snapshot = this.#snapshot;
    if (snapshot === undefined) return { decisions: NONE, duties: NONE, changes: [], held: [], budgetLeft: budget };
    const members = this.#electorate(snapshot, others, view.isGone, nowMs);
    this.#electors = members;
    this.#observed = observeNodes(this.#observed, snapshot.source, snapshot.nodes, members, nowMs);
    this.#wasReplaced ||= view.wasReplaced;
    const budgetToGo = this.#election.advance(
      this.#derived.groups,
      {
        rule,
        source: snapshot.source,
        members,
        // MetalLB's speakers drop a Node that is deleted at once, and they must be agreed with.
        nodes: rule === "metallb-1" ? snapshot.nodes : this.#observed.nodes,
        ignoresExcludeLabel: this.#settings.ignoresExcludeLabel,
        notYetCounted: this.#observed.notYetCounted,
        holders: this.holding.byIp,
      },
      this.#isReading ? 0 : budget,
      view.asked,
    );
    const decisions = this.#election.takeChanges();
    const changes = this.#leadership.follow(decisions, nowMs);
    const bookView = {
      self: this.#settings.nodeName,
      incarnation: view.incarnation,
      answering: view.answering,
      orphans: view.orphans,
      wasReplaced: this.#wasReplaced,
      saysGoodbye: view.saysGoodbye,
      leadership: this.#leadership.byIp,
      ownLabels: this.ownLabels,
      ours: this.#members.ours,
      hasLeases: this.hasLeases,
      // Nobody announces before it is ready, whatever the rule says of members.
      isReady: flagsOf(this.#standing, nowMs).includes("ready"),
    };
    const { changes: duties, budgetLeft } = this.#duties.follow(decisions, bookView, budgetToGo);
    const held = this.holding.hold(decisions.come, view.answering, nowMs);
    if (!this.isDeciding) this.#wasReplaced = false;
    return { decisions, duties, changes, held, budgetLeft };
  }

  #electorate(
    snapshot: ClusterSnapshot,
    others: readonly MemberView[],
    isGone: boolean,
    nowMs: number,
  ): readonly MemberView[] {
    if (this.detection === "api-server") {
      const all = nodesAsMembers(snapshot.nodes.values(), this.#settings, this.#rule.rule);
      return isGone ? all.filter(({ name }) => name !== this.#settings.nodeName) : all;
    }
    return isGone ? others : [...others, { name: this.#settings.nodeName, word: this.word(nowMs) }];
  }

  nextDeadlineMs(nowMs: number): number | undefined {
    return earliest([
      standingDeadlineMs(this.#standing, nowMs),
      linksDeadlineMs(this.#links, nowMs),
      ruleDeadlineMs(this.#rule),
      observedNodesDeadlineMs(this.#observed, nowMs),
      this.#fresh.deadlineMs,
      this.holding.deadlineMs,
    ]);
  }
}
