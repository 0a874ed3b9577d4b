/**
 * Who leads what, as leaders say it to those who come after them (DESIGN D9): this node's own word, its answers, and the orphan rule
 * over the decisions. `Orphans` has the rule; this knows decisions, members and what is answered.
 */
import { LAST_RANK, type Orphan, type OrphanSteps, Orphans, type RankedGroup } from "../src/announcer/orphans.ts";
import type { AddressState, AnnouncerNote, HandoverMessage, LeadAnswer } from "../src/announcer/ports.ts";
import { earliest } from "../src/base/deadlines.ts";
import type { ListDifference } from "../src/base/list-difference.ts";
import type { Decision } from "../src/election/decision.ts";
import type { Ip } from "../src/net/ip.ts";
import type { Council } from "./council.ts";
import { LeadWord } from "./lead-word.ts";

export interface OrphanWatchPorts {
  readonly council: Pick<Council, "decisionOf" | "dutyChanged" | "isDeciding">;
  readonly isOurs: (node: string) => boolean;
  readonly stateOf: (ip: Ip) => AddressState | undefined;
  /** Of a lease that is missing: it comes when nobody else has it; most speakers do not answer; or it is not known yet. */
  readonly leaseProspect: (ip: Ip) => "in-reach" | "out-of-reach" | "unknown";
  readonly send: (to: string, messages: readonly HandoverMessage[]) => void;
  /** Asks leaders' links for addresses, and whether they hear this node: `held` and `proved` say that one answered. */
  readonly probe: (asked: OrphanSteps["probe"], nowMs: number) => void;
}

type Why = Pick<LeadAnswer, "reason" | "leader">;

export class OrphanWatch {
  readonly #self: string;
  readonly #ports: OrphanWatchPorts;
  readonly #orphans: Orphans;
  #freshness = 0;
  readonly #word: LeadWord;

  constructor(self: string, ports: OrphanWatchPorts) {
    this.#self = self;
    this.#ports = ports;
    this.#orphans = new Orphans(self, (ip) => this.#rankOf(ip));
    this.#word = new LeadWord({
      isLeading: (ip) => this.#isLeading(ip),
      nextInRank: (ip) => this.#nextInRank(ip),
      isOurs: ports.isOurs,
    });
  }

  get taken(): ReadonlyMap<Ip, Orphan> {
    return this.#orphans.taken;
  }

  setFreshness(freshness: number): void {
    this.#freshness = freshness;
  }

  noted(note: AnnouncerNote, nowMs: number): void {
    if (note.kind === "armed") {
      this.#word.begin(note.ip);
      this.#orphans.leased(note.ip, this.#ports.stateOf(note.ip)?.lease === "held", nowMs);
    }
    if (note.kind !== "stopped") return;
    this.#orphans.leased(note.ip, false, nowMs);
    // Whoever claimed it, or was heard for it, has told its own; only the winner of a contest may have others than we.
    const isFree = note.cause === "withdrawn" || note.cause === "lease-lost";
    const isKnown = !isFree && this.#ports.stateOf(note.ip)?.contest === undefined;
    this.#word.end(note.ip, isKnown, nowMs);
  }

  /** After the announcer knows the duties that follow from the decisions; whether it gives something back because of them. */
  follow({ gone, come }: ListDifference<Decision>, nowMs: number): boolean {
    for (const { group } of gone) {
      const [ip] = group.addresses;
      if (ip !== undefined && this.#ports.council.decisionOf(ip)?.group.addresses[0] !== ip)
        this.#orphans.follow(ip, nowMs);
    }
    for (const { group, leader } of come) {
      const [ip] = group.addresses;
      if (ip === undefined) continue;
      this.#orphans.follow(ip, nowMs);
      if (leader === this.#self) this.#word.follow(ip);
    }
    return this.#passChanges().length > 0;
  }

  /** What is led here was claimed from members that came back. They may be silent by that before this node knows them to be alive. */
  claimedFrom(nodes: Iterable<string>, led: ReadonlySet<Ip>): void {
    for (const node of nodes) for (const ip of led) this.#word.believed(ip, node);
  }

  /** Addresses that this node has taken and whose leader speaks for them: they are to be handed over before it is heard. */
  hear(from: string, messages: readonly HandoverMessage[], nowMs: number): readonly Ip[] {
    for (const message of messages) {
      if (message.node !== from) continue;
      this.#orphans.hear(message, this.#freshness, nowMs);
      if (message.kind !== "yielded") continue;
      for (const ip of message.addresses) if (this.#isLeading(ip)) this.#word.believed(ip, from);
    }
    return this.#passChanges();
  }

  /** The address that a leader's link was heard to answer for, if any. */
  held(ip: Ip | undefined): void {
    if (ip !== undefined) this.#orphans.held(ip);
  }

  /** A member has answered a ping of this node. */
  proved(node: string, nowMs: number): void {
    this.#orphans.proved(node, nowMs);
  }

  /** Of what is not led here; the announcer claims the rest. */
  answer(from: string, messages: readonly HandoverMessage[]): void {
    for (const message of messages) {
      // Whoever lost a contest is told by the announcer that the address is free.
      if (message.kind !== "lead-question" || message.node !== from || message.basis !== undefined) continue;
      const awaited: Ip[] = [];
      const others: Ip[] = [];
      for (const ip of message.addresses) {
        const isLeading = this.#isLeading(ip);
        const prospect = isLeading ? "in-reach" : this.#prospectOf(ip);
        if (prospect === "in-reach") this.#word.believed(ip, from);
        if (prospect === "out-of-reach") others.push(ip);
        else if (prospect === "in-reach" && !isLeading) awaited.push(ip);
      }
      // Strict addresses that this node will lead: nobody else needs to take them.
      if (awaited.length > 0) this.#sendLead([from], awaited, true, { reason: "" });
      this.#say([from], others);
    }
  }

  /** Says what is due; whether it has taken or released an address. */
  tick(nowMs: number): boolean {
    if ((this.deadlineMs() ?? Number.POSITIVE_INFINITY) > nowMs) return false;
    this.#tellNews(nowMs);
    if (this.#ports.council.isDeciding) return false;
    const { ask, probe } = this.#orphans.due(nowMs);
    const byNode = Map.groupBy(ask, ({ to }) => to);
    for (const [to, asked] of byNode) {
      const addresses = asked.map(({ ip }) => ip);
      this.#send([to], addresses, (group) => ({ kind: "lead-question", group, addresses, node: this.#self }));
    }
    if (probe.length > 0) this.#ports.probe(probe, nowMs);
    return this.#passChanges().length > 0;
  }

  deadlineMs(): number | undefined {
    // While this node has not decided all, others have not either: their word may be late.
    const askMs = this.#ports.council.isDeciding ? undefined : this.#orphans.deadlineMs;
    return earliest([this.#word.deadlineMs(), askMs]);
  }

  #passChanges(): readonly Ip[] {
    const changed = this.#orphans.takeChanges();
    for (const ip of changed) this.#ports.council.dutyChanged(ip);
    return changed;
  }

  /** And answers. */
  #isLeading(ip: Ip): boolean {
    const state = this.#ports.stateOf(ip);
    return state?.phase === "leading" && state.answeredOn.length > 0;
  }

  /** Of one that waits for no lease: it will not come to be led. */
  #prospectOf(ip: Ip): ReturnType<OrphanWatchPorts["leaseProspect"]> {
    const state = this.#ports.stateOf(ip);
    return state?.phase === "leading" && state.lease === "missing" ? this.#ports.leaseProspect(ip) : "out-of-reach";
  }

  #rankOf(ip: Ip): RankedGroup | undefined {
    const decision = this.#ports.council.decisionOf(ip);
    if (decision === undefined || decision.rule !== "arpeggio-1" || decision.group.addresses[0] !== ip)
      return undefined;
    const { leader, candidates, group } = decision;
    if (leader === undefined || leader === this.#self || !this.#ports.isOurs(leader)) return undefined;
    const names = candidates.slice(0, LAST_RANK).map(({ node }) => node);
    const place = names.indexOf(this.#self);
    return place < 1 ? undefined : { addresses: group.addresses, leader, before: names.slice(0, place) };
  }

  #nextInRank(ip: Ip): readonly string[] {
    const decision = this.#ports.council.decisionOf(ip);
    if (decision === undefined || decision.group.addresses[0] !== ip) return [];
    const names = decision.candidates.slice(0, LAST_RANK).map(({ node }) => node);
    return names.filter((node) => node !== this.#self && this.#ports.isOurs(node));
  }

  #tellNews(nowMs: number): void {
    const { begun, ended } = this.#word.due(nowMs);
    for (const [node, addresses] of begun) this.#sendLead([node], addresses, true, { reason: "" });
    for (const alike of Map.groupBy(ended, ({ to }) => to.join(" ")).values()) {
      const addresses = alike.map(({ ip }) => ip);
      this.#say(alike[0]?.to ?? [], addresses);
    }
  }

  #say(to: readonly string[], addresses: readonly Ip[]): void {
    const answers = Map.groupBy(
      addresses.map((ip) => ({ ip, why: this.#whyNot(ip) })),
      ({ why }) => `${why.reason} ${why.leader ?? ""}`,
    );
    for (const [first, ...rest] of answers.values()) {
      if (first !== undefined)
        this.#sendLead(
          to,
          [first, ...rest].map(({ ip }) => ip),
          false,
          first.why,
        );
    }
  }

  #whyNot(ip: Ip): Why {
    const decision = this.#ports.council.decisionOf(ip);
    if (decision === undefined) return { reason: "unknown-address" };
    const { leader, refusals, reason } = decision;
    if (leader === this.#self) {
      const state = this.#ports.stateOf(ip);
      if (state?.phase === "leading" && state.lease === "missing") return { reason: "no-lease" };
      const winner = state?.contest?.winner.node;
      return winner === undefined ? { reason: "no-link" } : { reason: "views-differ", leader: winner };
    }
    const refusal = refusals.find(({ node }) => node === this.#self)?.reason;
    if (leader === undefined) return { reason: refusal ?? reason };
    return { reason: refusal ?? "other-leader", leader };
  }

  #sendLead(to: readonly string[], addresses: readonly Ip[], leads: boolean, why: Why): void {
    const freshness = this.#freshness;
    this.#send(to, addresses, (group) => ({
      kind: "lead",
      group,
      addresses,
      node: this.#self,
      leads,
      ...why,
      freshness,
    }));
  }

  #send(to: readonly string[], addresses: readonly Ip[], build: (group: string) => HandoverMessage): void {
    const [group] = addresses;
    if (group !== undefined) for (const node of to) this.#ports.send(node, [build(group)]);
  }
}
