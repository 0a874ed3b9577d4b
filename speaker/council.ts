/**
 * Everything that leads from facts to duties on one node: snapshot, members and links in; decisions, leadership and duties out. What is
 * to be led comes from the derivation, what this node is from its standing and links; who leads is decided here. It holds the pure
 * machines' states and knows no socket, timer or message.
 */
import { NODE_LABELS } from "../api/annotations.ts";
import type { DETECTIONS } from "../api/reasons.ts";
import type { Duty } from "../src/announcer/ports.ts";
import { earliest } from "../src/base/deadlines.ts";
import type { ListDifference } from "../src/base/list-difference.ts";
import type { Derived } from "../src/desired/group.ts";
import type { Labels } from "../src/desired/selectors.ts";
import type { ChangedKeys, ClusterSnapshot } from "../src/desired/snapshot.ts";
import type { Decision, MemberView } from "../src/election/decision.ts";
import { Election } from "../src/election/election.ts";
import { nodesAsMembers } from "../src/election/nodes-as-members.ts";
import {
  NO_OBSERVED_NODES,
  type ObservedNodes,
  observedNodesDeadlineMs,
  observeNodes,
} from "../src/election/observed-nodes.ts";
import { type RuleState, ruleDeadlineMs, ruleInForce } from "../src/election/rule-in-force.ts";
import { type NodeWord, RULES, type Rule } from "../src/election/word.ts";
import type { Ip } from "../src/net/ip.ts";
import type { Prefix } from "../src/net/prefix.ts";
import { Derivation, type Judgement } from "./derivation.ts";
import { DutyBook } from "./duty-book.ts";
import { Holding } from "./holding.ts";
import { type LeaderChange, LeadershipBook, type LeadershipByIp } from "./leadership.ts";
import type { MemberViews } from "./member-views.ts";
import { OwnNode } from "./own-node.ts";
import type { CouncilPorts, SpeakerSettings } from "./speaker-ports.ts";

/** What is so in the turn in which it decides. */
export interface Circumstances {
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
}

export interface Verdict {
  /** What is different from before. */
  readonly decisions: ListDifference<Decision>;
  readonly duties: ListDifference<Duty>;
  readonly changes: readonly LeaderChange[];
  /** Sticky addresses that this node has written itself down for: others are to hear of it. */
  readonly held: readonly Ip[];
  readonly budgetLeft: number;
}

const NONE: ListDifference<never> = { gone: [], come: [] };

export class Council {
  readonly #settings: SpeakerSettings;
  readonly #members: MemberViews;
  readonly #isGossipOn: boolean;
  readonly #cap: Rule;
  readonly #labelsOfName: Labels;
  readonly node: OwnNode;
  readonly holding: Holding;
  readonly #derivation: Derivation;
  readonly #election: Election;
  readonly #leadership = new LeadershipBook();
  readonly #duties = new DutyBook();
  #rule: RuleState;
  #observed: ObservedNodes = NO_OBSERVED_NODES;
  #electors: readonly MemberView[] = [];
  /** Until every group was decided after it. */
  #wasReplaced = false;

  constructor(settings: SpeakerSettings, members: MemberViews, ports: CouncilPorts, nowMs: number) {
    this.#settings = settings;
    this.#members = members;
    this.#isGossipOn = ports.gossip !== undefined;
    this.#cap = settings.electionCap === "metallb" ? RULES[0] : RULES[1];
    this.#labelsOfName = { [NODE_LABELS.hostname]: settings.nodeName };
    this.node = new OwnNode(settings, nowMs, ports.returnTiming);
    this.holding = new Holding(
      settings.nodeName,
      (ip) => this.#duties.decisionOf(ip),
      (addresses) => this.#election.holdersChanged(addresses),
    );
    this.#derivation = new Derivation(settings);
    this.#election = new Election(ports.rankHeads);
    this.#rule = ruleInForce(undefined, [], nowMs, this.#cap);
  }

  get rule(): RuleState {
    return this.#rule;
  }

  /** Why the configuration as it was read does not count (`metallb-1` accepts whole ones only); undefined when it does. */
  get configurationRefusal(): string | undefined {
    return this.#derivation.refusal;
  }

  /** Who notices that a node died. Without gossip and without an API server, nobody does. */
  get detection(): (typeof DETECTIONS)[number] {
    if (this.#isGossipOn) return "gossip";
    return this.#derivation.snapshot?.source === "kubernetes" ? "api-server" : "none";
  }

  /** Strict addresses can be: others can be asked. */
  get hasLeases(): boolean {
    return this.#isGossipOn;
  }

  get derived(): Derived {
    return this.#derivation.derived;
  }

  get poolPrefixes(): readonly Prefix[] {
    return this.#derivation.poolPrefixes;
  }

  get decisions(): readonly Decision[] {
    return this.#election.decisions;
  }

  /** Undefined: no election is about the address. */
  decisionOf(ip: Ip): Decision | undefined {
    return this.#duties.decisionOf(ip);
  }

  get leadership(): LeadershipByIp {
    return this.#leadership.byIp;
  }

  /** Members that the last decisions were made of. */
  get electors(): readonly MemberView[] {
    return this.#electors;
  }

  /** Labels of the own Node; of one that no document describes, its name. */
  get ownLabels(): Labels {
    return this.#derivation.snapshot?.nodes.get(this.#settings.nodeName)?.labels ?? this.#labelsOfName;
  }

  /** Some decisions are of before: more is to be decided in the next turn. */
  get isDeciding(): boolean {
    return this.#derivation.isReading || !this.#election.isDone || !this.#duties.isDone;
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
    this.#derivation.answeringChanged();
  }

  /** Something beside decisions has changed that the address's duty follows from. */
  dutyChanged(ip: Ip): void {
    this.#duties.touch(ip);
  }

  /** `answering`: what this node answers for now. */
  applySnapshot(snapshot: ClusterSnapshot, answering: ReadonlySet<Ip>, nowMs: number, changed?: ChangedKeys): void {
    this.#derivation.applySnapshot(snapshot, this.#judgement(answering), nowMs, changed);
    const node = snapshot.nodes.get(this.#settings.nodeName);
    this.node.stand({ kind: "node-facts", node, source: snapshot.source }, nowMs);
  }

  #judgement(answering: ReadonlySet<Ip>): Judgement {
    return { rule: this.#rule.rule, answering };
  }

  /** Derives the first snapshot, some objects a turn; until that is done it does not count as read. */
  goOnReading(nowMs: number): void {
    if (this.#derivation.goOnReading(nowMs)) this.node.stand({ kind: "snapshot-complete" }, nowMs);
  }

  word(nowMs: number): NodeWord {
    const { snapshot } = this.#derivation;
    return this.node.word(
      { highestRule: this.#cap, ruleInUse: this.#rule.rule, ...(snapshot === undefined ? {} : { snapshot }) },
      nowMs,
    );
  }

  /** As much as the budget allows; before the first snapshot nothing is decided: "not read yet" is not "empty". */
  decide(now: Circumstances): Verdict {
    const { nowMs, answering } = now;
    this.node.stand({ kind: "tick" }, nowMs);
    const others = this.#members.electorate();
    this.#rule = ruleInForce(this.#rule, others, nowMs, this.#cap);
    this.#derivation.refresh(this.#judgement(answering), nowMs);
    const { snapshot } = this.#derivation;
    if (snapshot === undefined) return { decisions: NONE, duties: NONE, changes: [], held: [], budgetLeft: now.budget };
    this.#electors = this.#electorate(snapshot, others, now.isGone, nowMs);
    this.#wasReplaced ||= now.wasReplaced;
    const budgetToGo = this.#elect(snapshot, now);
    const decisions = this.#election.takeChanges();
    const changes = this.#leadership.follow(decisions, nowMs);
    const { changes: duties, budgetLeft } = this.#assign(decisions, now, budgetToGo);
    const held = this.holding.hold(decisions.come, answering, nowMs);
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

  /** Who leads what; gives the budget that is left. */
  #elect({ source, nodes }: ClusterSnapshot, { nowMs, budget, asked }: Circumstances): number {
    const { rule } = this.#rule;
    this.#observed = observeNodes(this.#observed, source, nodes, this.#electors, nowMs);
    const view = {
      rule,
      source,
      members: this.#electors,
      // MetalLB's speakers drop a Node that is deleted at once, and they must be agreed with.
      nodes: rule === "metallb-1" ? nodes : this.#observed.nodes,
      ignoresExcludeLabel: this.#settings.ignoresExcludeLabel,
      notYetCounted: this.#observed.notYetCounted,
      holders: this.holding.byIp,
    };
    return this.#election.advance(this.derived.groups, view, this.#derivation.isReading ? 0 : budget, asked);
  }

  /** What this node does about what was decided. */
  #assign(
    decisions: ListDifference<Decision>,
    { incarnation, answering, orphans, saysGoodbye, nowMs }: Circumstances,
    budget: number,
  ): ReturnType<DutyBook["follow"]> {
    const view = {
      self: this.#settings.nodeName,
      incarnation,
      answering,
      orphans,
      wasReplaced: this.#wasReplaced,
      saysGoodbye,
      leadership: this.#leadership.byIp,
      ownLabels: this.ownLabels,
      ours: this.#members.ours,
      hasLeases: this.hasLeases,
      // Nobody announces before it is ready, whatever the rule says of members.
      isReady: this.node.isReady(nowMs),
    };
    return this.#duties.follow(decisions, view, budget);
  }

  nextDeadlineMs(nowMs: number): number | undefined {
    return earliest([
      this.node.deadlineMs(nowMs),
      ruleDeadlineMs(this.#rule),
      observedNodesDeadlineMs(this.#observed, nowMs),
      this.#derivation.deadlineMs,
      this.holding.deadlineMs,
    ]);
  }
}
