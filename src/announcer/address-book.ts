/**
 * What this node is for every address that it has a duty for, and the talk with other members about it (DESIGN D8, D9). The only
 * place where a phase changes: by duties, messages, and frames of a new leader.
 */
import { earliest } from "../base/deadlines.ts";
import { isSameList } from "../base/same-list.ts";
import type { Ip } from "../net/ip.ts";
import type { Mac } from "../net/mac.ts";
import { Address, claimTargets, isSameDuty, phaseFor } from "./address.ts";
import { AddressTable } from "./address-table.ts";
import { against, type Claimant, compareClaims, hasComparableFreshness, holdsAgainst, weighed } from "./contest.ts";
import { claimsOf, Handover, type Outgoing } from "./handover.ts";
import { HeardHolders } from "./heard-holders.ts";
import type {
  AddressPhase,
  AddressState,
  AnnouncerNote,
  Claim,
  ClaimBasis,
  Contest,
  Duty,
  HandoverMessage,
  LeadAnswer,
  LeadQuestion,
  MemberMacs,
  Yielded,
} from "./ports.ts";
import { CONTEST_REFUSAL_MS, isOwedWord, REFUSAL_MS, wasSilencedByUs } from "./refusal.ts";
import { Rivals } from "./rivals.ts";

type StopCause = Extract<AnnouncerNote, { readonly kind: "stopped" }>["cause"];

/** What is said to who claims or asks: our claim, "yielded", or nothing yet, because our claim follows when we are armed. */
type Stand = "leads" | "yields" | "returns";

export class AddressBook {
  /** The addresses by their bytes, for received frames. */
  readonly table = new AddressTable<Address>();
  /** Who lost a contest for what is led here. */
  readonly rivals = new Rivals();
  readonly #nodeName: string;
  readonly #addresses = new Map<Ip, Address>();
  readonly #handover: Handover;
  /** Silent although they have a duty: the same duties again may be a reason to speak. */
  readonly #stopped = new Set<Address>();
  /** Whose duty, phase or plan differ from what the wire was told; those without a duty left among them. */
  #dirty = new Set<Address>();
  #nodeOfMac: ReadonlyMap<Mac, string> = new Map();
  #notes: AnnouncerNote[] = [];
  #messages: Outgoing[] = [];
  readonly #holders = new HeardHolders();
  #freshness = 0;

  constructor(nodeName: string) {
    this.#nodeName = nodeName;
    this.#handover = new Handover(nodeName, (duty, nowMs) => this.#basisOf(duty, nowMs));
  }

  /** Of this node's view, from now on. */
  setFreshness(freshness: number): void {
    this.#freshness = freshness;
  }

  all(): Iterable<Address> {
    return this.#addresses.values();
  }

  find(ip: Ip): Address | undefined {
    return this.#addresses.get(ip);
  }

  #known(addresses: readonly Ip[]): readonly Address[] {
    return addresses.flatMap((ip) => this.#addresses.get(ip) ?? []);
  }

  /** Undefined: there is no duty for the address. */
  stateOf(ip: Ip): AddressState | undefined {
    const address = this.#addresses.get(ip);
    return address?.state(this.#contestOf(address));
  }

  #contestOf({ ip, duty, stated }: Address): Contest | undefined {
    const winner = this.#handover.winnerOf(ip);
    const rivals = this.rivals.of(ip);
    if (winner === undefined && rivals.length === 0) return undefined;
    // What is read here counts as said by nobody.
    const basis = { ...duty.basis, freshness: stated?.freshness ?? this.#freshness };
    if (winner === undefined) return { winner: { node: this.#nodeName, basis }, losers: rivals };
    return { winner, losers: [{ node: this.#nodeName, basis: against(winner, basis) }] };
  }

  /** Every plan is to be made anew. */
  replan(): void {
    for (const address of this.all()) {
      address.plannedLinks = undefined;
      this.#dirty.add(address);
    }
  }

  /** Its lease has come or gone. */
  leaseChanged(address: Address): void {
    this.#dirty.add(address);
  }

  /** Addresses that differ from what the wire was told. */
  takeDirty(): ReadonlySet<Address> {
    const dirty = this.#dirty;
    if (dirty.size > 0) this.#dirty = new Set();
    return dirty;
  }

  takeNotes(): AnnouncerNote[] {
    return this.#notes.splice(0);
  }

  takeOutgoing(): Outgoing[] {
    return this.#messages.splice(0);
  }

  nextDeadlineMs(): number | undefined {
    return earliest([this.#handover.nextDeadlineMs(), this.#holders.nextDeadlineMs()]);
  }

  beginTurn(): void {
    this.#handover.beginTurn();
  }

  /** Claims and questions that are due. */
  speak(nowMs: number): void {
    this.#claimContested(nowMs);
    const isLed = ({ ip }: Duty): boolean => this.#addresses.get(ip)?.isArmed === true;
    this.#messages.push(...this.#handover.due(nowMs, isLed));
  }

  /** Winners that do not answer any more silence nobody. */
  resumeUnanswered(nowMs: number): void {
    for (const address of this.#known(this.#handover.takeUnanswered(nowMs))) this.#resume(address, undefined);
  }

  /** Says once more to a member that came back what is led here. */
  claimTo(node: string, led: readonly Address[]): void {
    const duties = led.map(({ duty }) => duty);
    this.#handover.tellAgain(node, duties);
  }

  /** Claims an armed address from whoever had it, unless that was done since it was won. */
  claim(address: Address, nowMs: number): void {
    const targets = claimTargets(address, this.#nodeName);
    if (targets?.[0] === address.claimedFrom) return;
    address.claimedFrom = targets?.[0];
    this.#handover.endClaims(address.ip);
    if (targets !== undefined) this.#handover.claim(address.duty, targets, nowMs);
  }

  /** One duty at most for each address. */
  changeDuties(gone: readonly Duty[], come: readonly Duty[], nowMs: number): void {
    const taken = new Set<Ip>();
    for (const duty of come) {
      if (taken.has(duty.ip)) continue;
      taken.add(duty.ip);
      const address = this.#addresses.get(duty.ip) ?? this.#add(duty);
      if (address.phase === "stopped" || !isSameDuty(address.duty, duty)) this.#assign(address, duty, nowMs);
    }
    for (const { ip } of gone) {
      const address = this.#addresses.get(ip);
      if (address !== undefined && !taken.has(ip)) this.#withdraw(address);
    }
    for (const address of this.#stopped) if (!taken.has(address.ip)) this.#assign(address, address.duty, nowMs);
  }

  #add(duty: Duty): Address {
    const address = new Address(duty);
    this.#addresses.set(duty.ip, address);
    this.#stopped.add(address);
    this.#dirty.add(address);
    this.table.set(address);
    return address;
  }

  #assign(address: Address, duty: Duty, nowMs: number): void {
    const isOtherView = address.duty !== duty;
    if (!isSameList(address.duty.interfaces, duty.interfaces)) address.plannedLinks = undefined;
    if (address.duty.previousLeader !== duty.previousLeader) address.resumedFrom = undefined;
    address.duty = duty;
    this.#dirty.add(address);
    const winner = this.#handover.winnerOf(duty.ip);
    const isLost = duty.role === "lead" && winner !== undefined;
    const isSilenced = isLost && this.#staysSilent(address, winner, isOtherView, nowMs);
    if (!isSilenced) this.#handover.endSilence(duty.ip);
    this.#enter(address, phaseFor(duty.role, address.phase, isSilenced));
    const { nextLeader } = duty;
    if (address.phase !== "handing-over" || nextLeader?.sendsClaims !== true) this.#handover.endAwaiting(duty.ip);
    else this.#handover.awaitClaim(duty, nextLeader.node);
  }

  /** What silenced us is known as of some time ago: where freshness may decide, or we would follow the winner, it is asked once more. */
  #staysSilent(address: Address, winner: Claimant, isOtherView: boolean, nowMs: number): boolean {
    if (isOtherView) address.stated = { freshness: this.#freshness, atMs: nowMs };
    const own = this.#claimant(address, nowMs);
    const isBehind = compareClaims(own, winner) > 0;
    if (isBehind && address.duty.basis.term === own.basis.term) return true;
    if (!isBehind && !hasComparableFreshness(own.basis, winner.basis)) return false;
    this.#handover.askSoon(address.ip, nowMs);
    return true;
  }

  #withdraw(address: Address): void {
    this.#enter(address, "stopped");
    this.#dirty.add(address);
    this.#handover.endSilence(address.ip);
    this.#addresses.delete(address.ip);
    this.#stopped.delete(address);
    this.table.delete(address.bytes);
  }

  /** The only place where a phase changes. Answering ends here and now; it begins when the groups are joined. */
  #enter(address: Address, phase: AddressPhase, cause: StopCause = "withdrawn"): void {
    if (address.phase === phase) return;
    this.#handover.endAwaiting(address.ip);
    const wasAnswering = address.isAnswering();
    address.phase = phase;
    if (phase === "stopped") this.#stopped.add(address);
    else this.#stopped.delete(address);
    address.isArmed = false;
    address.claimedFrom = undefined;
    this.#dirty.add(address);
    if (phase === "leading") return;
    this.#handover.endClaims(address.ip);
    this.rivals.forget(address.ip);
    address.resumedFrom = undefined;
    if (isOwedWord(address.refused, phase, address.duty))
      this.#yieldTo(address.refused.node, address.duty.group, [address.ip]);
    if (phase !== "handing-over") address.refused = undefined;
    if (!wasAnswering || address.isAnswering()) return;
    address.answeredOn = [];
    this.#notes.push({ kind: "stopped", ip: address.ip, cause });
  }

  takeMembers(members: readonly MemberMacs[]): void {
    const others = members.filter(({ node }) => node !== this.#nodeName);
    this.#nodeOfMac = new Map(others.flatMap(({ node, macs }) => macs.map((mac) => [mac, node])));
  }

  /** `isMute`: claims stay unsaid; who claims or asks will do so again. */
  takeMessages(from: string, messages: readonly HandoverMessage[], isMute: boolean, nowMs: number): void {
    for (const message of messages) this.#takeMessage(from, message, isMute, nowMs);
  }

  #takeMessage(from: string, message: HandoverMessage, isMute: boolean, nowMs: number): void {
    if (message.node !== from || from === this.#nodeName) return;
    switch (message.kind) {
      case "claim":
        return this.#answerClaimant(message, isMute, nowMs, (address) => this.#stand(address, message, nowMs));
      case "yielded":
        return this.#takeYielded(message, nowMs);
      case "lead-question":
        return this.#answerClaimant(message, isMute, nowMs, (address) => this.#answer(address, message, nowMs));
      case "lead":
        // To who has claimed nothing it is for `Orphans`.
        if (!message.leads) return this.#resumeAfter(message, nowMs);
        return isMute ? undefined : this.#hearLeader(message, nowMs);
    }
  }

  #hearLeader({ addresses, node }: LeadAnswer, nowMs: number): void {
    for (const address of this.#known(addresses)) this.#holders.hear(address, node, this.#freshness, nowMs);
  }

  #answer(address: Address, { node, basis }: LeadQuestion, nowMs: number): Stand {
    if (!address.isArmed)
      return basis !== undefined && this.#isKeptFrom(address, { node, basis }, nowMs) ? "leads" : "yields";
    if (basis !== undefined) this.rivals.hear(address.ip, { node, basis }, nowMs);
    return "leads";
  }

  /** It is handed over, and to another than `asker`, which we have silenced. */
  #isKeptFrom(address: Address, asker: Claimant, nowMs: number): boolean {
    const { nextLeader } = address.duty;
    if (address.phase !== "handing-over" || nextLeader === undefined || nextLeader.node === asker.node) return false;
    return holdsAgainst(this.#claimant(address, nowMs), asker);
  }

  /**
   * What a claim does to the address: the better one stands, and whoever handed over is glad of any; whoever does not lead it after this is
   * silent from now on. A claim is never answered by a frame (DESIGN D9).
   */
  #stand(address: Address, claim: Claim, nowMs: number): Stand {
    if (address.phase === "handing-over" && !wasSilencedByUs(address.refused, claim.node, nowMs)) {
      address.refused = undefined;
      this.#enter(address, "stopped", "claimed");
    }
    if (address.duty.role !== "lead") return "yields";
    const winner = this.#handover.winnerOf(address.ip);
    const rival = weighed(claim, winner);
    const isBetter = compareClaims(this.#claimant(address, nowMs), rival) < 0;
    if (isBetter && address.isArmed) {
      address.refused = { node: claim.node, untilMs: nowMs + REFUSAL_MS };
      return "leads";
    }
    if (isBetter && address.phase === "stopped") {
      // The winner's claim has become worse than ours: the contest is won after all. A third one's says nothing of the winner.
      if (winner?.node !== claim.node) return "yields";
      this.#resume(address, claim.node);
      return "returns";
    }
    // A better claim; or any claim for what no link of ours lets us answer.
    if (address.refused?.node === claim.node) address.refused = undefined;
    const own = this.#basisOf(address.duty, nowMs);
    // Where freshness did not decide now, it does not undo it later: what was unknown may become known.
    if (!hasComparableFreshness(own, rival.basis)) address.stated = { freshness: 0, atMs: nowMs };
    this.#enter(address, "stopped", "claimed");
    this.#handover.silence(address.duty, rival, nowMs);
    return "yields";
  }

  #takeYielded(yielded: Yielded, nowMs: number): void {
    const ended = yielded.addresses.filter((ip) => this.#handover.hearYielded(ip, yielded.node));
    for (const ip of ended) this.#notes.push({ kind: "yielded-by", ip, node: yielded.node });
    this.#resumeAfter(yielded, nowMs);
  }

  /** Who has silenced us leads no longer, if it may be believed. */
  #resumeAfter({ addresses, node }: Yielded | LeadAnswer, nowMs: number): void {
    for (const address of this.#known(addresses)) {
      if (this.#handover.believesYielded(address.ip, node, nowMs)) this.#resume(address, node);
    }
  }

  #resume(address: Address, winner: string | undefined): void {
    this.#handover.endSilence(address.ip);
    if (address.duty.role !== "lead") return;
    address.resumedFrom = winner;
    this.#enter(address, "leading");
  }

  /** Tells who claims or asks: our claim for what we lead, "yielded" for the rest. */
  #answerClaimant(
    asked: Claim | LeadQuestion,
    isMute: boolean,
    nowMs: number,
    standOf: (address: Address) => Stand,
  ): void {
    const yielded: Ip[] = [];
    const led: Duty[] = [];
    for (const ip of asked.addresses) {
      const address = this.#addresses.get(ip);
      const stand = address === undefined ? "yields" : standOf(address);
      if (stand === "yields") yielded.push(ip);
      if (stand === "leads" && address !== undefined) led.push(address.duty);
    }
    const to = [asked.node];
    const claims = isMute ? [] : led.map((duty) => ({ duty, to, basis: this.#basisOf(duty, nowMs) }));
    this.#messages.push(...claimsOf(this.#nodeName, claims));
    if (yielded.length > 0) this.#yieldTo(asked.node, asked.group, yielded);
  }

  /** Said even while mute: it gives up, and claims nothing. */
  #yieldTo(node: string, group: string, addresses: readonly Ip[]): void {
    this.#messages.push({ to: [node], message: { kind: "yielded", group, addresses, node: this.#nodeName } });
  }

  #claimant({ duty }: Address, nowMs: number): Claimant {
    return { node: this.#nodeName, basis: this.#basisOf(duty, nowMs) };
  }

  /** Whoever is silent has lost with what it said: its view may get fresher without a better claim. */
  #basisOf(duty: Duty, nowMs: number): ClaimBasis {
    const address = this.#addresses.get(duty.ip);
    if (address === undefined) return { ...duty.basis, freshness: this.#freshness };
    const winner = this.#handover.winnerOf(duty.ip);
    if (winner === undefined) return address.basisAt(this.#freshness, nowMs);
    return against(winner, address.basisAt(address.stated?.freshness ?? 0, nowMs));
  }

  /** Claims what others were heard as holders of. */
  #claimContested(nowMs: number): void {
    for (const { address, node } of this.#holders.takeDue(nowMs)) {
      const { duty } = address;
      // It may silence the other before that one's own claim comes.
      address.refused = { node, untilMs: nowMs + CONTEST_REFUSAL_MS };
      this.#messages.push(...claimsOf(this.#nodeName, [{ duty, to: [node], basis: this.#basisOf(duty, nowMs) }]));
    }
  }

  /** Another node spoke as the holder of the address. Whether that has brought about something to do. */
  hearHolder(address: Address, mac: Mac, nowMs: number): boolean {
    const member = this.#nodeOfMac.get(mac);
    if (address.phase === "leading" && member !== undefined)
      return this.#holders.hear(address, member, this.#freshness, nowMs);
    if (address.phase !== "handing-over") return false;
    const { nextLeader, group } = address.duty;
    // A Go member's MACs are unknown: any other MAC than ours is its.
    const isNext =
      nextLeader === undefined ? member !== undefined : !nextLeader.sendsClaims || member === nextLeader.node;
    if (!isNext) return false;
    this.#enter(address, "stopped", "frame-heard");
    if (nextLeader?.sendsClaims === true) this.#yieldTo(nextLeader.node, group, [address.ip]);
    return true;
  }
}
