/**
 * Strict addresses on one node (docs/decisions/strict-addresses.md): voter, holder and the sets of expected speakers together. Messages
 * and the time in, messages out. Pure, but for its own state.
 */
import type { Random } from "../../base/random.ts";
import type { NodeName } from "../../desired/snapshot.ts";
import type { Ip } from "../../net/ip.ts";
import { LeaseHolder } from "./lease-holder.ts";
import { LEASE_MS, type LeaseAsk, type LeaseGrant, type LeaseMessage } from "./lease-messages.ts";
import { LeaseVoter, type VoterView } from "./lease-voter.ts";
import { majorityOf, type VoterSet, VoterSets } from "./voter-sets.ts";

export interface StrictOptions {
  readonly self: NodeName;
  readonly random: Random;
  readonly nowMs: number;
}

/** `voter`: as it stands in the list of expected speakers; `node`: a member's name. */
export type StrictMessage =
  | { readonly voter: string; readonly message: LeaseAsk }
  | { readonly node: NodeName; readonly message: LeaseGrant };

/** Why an address is answered, or is not. Numbers are of the set in which most are missing. */
export interface LeaseReport {
  readonly isHeld: boolean;
  /** When the lease ends; absent: there is none. */
  readonly untilMs?: number;
  readonly expected: number;
  readonly needed: number;
  /** Who has granted it within a lease. */
  readonly grantedBy: readonly string[];
  /** Who has answered within a lease, this node among them. */
  readonly heard: readonly string[];
  /** Who has it from this node's own vote, if another. */
  readonly holder?: NodeName;
}

const SESSIONS = 0xffff_ffff;

export class StrictLeases {
  readonly #self: NodeName;
  readonly #session: number;
  readonly #sets = new VoterSets();
  readonly #voter: LeaseVoter;
  readonly #holder: LeaseHolder;
  /** This node as it stands in the list. */
  #selfVoter = "";
  /** What `#holder` was told of the sets. */
  #needed = "";
  #outgoing: StrictMessage[] = [];

  constructor({ self, random, nowMs }: StrictOptions) {
    this.#self = self;
    this.#session = random.below(SESSIONS);
    this.#voter = new LeaseVoter(self, nowMs);
    this.#holder = new LeaseHolder(random);
  }

  /** The list of expected speakers as it is read now, and how this node stands in it. */
  expect(members: readonly string[], selfVoter: string, nowMs: number): void {
    this.#selfVoter = selfVoter;
    if (this.#sets.expect(members, nowMs)) this.tick(nowMs);
  }

  want(ip: Ip, nowMs: number): void {
    this.#holder.want(ip, nowMs);
  }

  /** The address is answered no longer. */
  release(ip: Ip, nowMs: number): void {
    this.#holder.release(ip, nowMs);
  }

  /** `voter`: the sender as it stands in the list, if it does. `nowMs` must have been read after the message was. */
  hear(message: LeaseMessage, voter: string | undefined, nowMs: number): void {
    if (message.kind === "lease-ask") return this.#vote(message, nowMs);
    if (message.session !== this.#session || voter === undefined) return;
    this.#take(voter, message, nowMs);
  }

  /** Asks whom it is time to ask, and sees what has ended. */
  tick(nowMs: number): void {
    this.#follow(nowMs);
    this.#holder.judge(nowMs);
    const voterSets = this.#sets.needed(nowMs).map(({ id }) => id);
    for (const { to, pages } of this.#holder.due(nowMs, this.#sets.isChanging)) {
      const askedMs = Math.floor(nowMs);
      const kind = "lease-ask";
      const message: LeaseAsk = { kind, node: this.#self, session: this.#session, askedMs, voterSets, pages };
      if (to === this.#selfVoter) this.#vote(message, nowMs);
      else this.#outgoing.push({ voter: to, message });
    }
  }

  takeOutgoing(): readonly StrictMessage[] {
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    return outgoing;
  }

  takeChanges(): { readonly gained: readonly Ip[]; readonly lost: readonly Ip[] } {
    return this.#holder.takeChanges();
  }

  /** When the lease ends by our clock. */
  untilMs(ip: Ip): number {
    return this.#holder.untilMs(ip);
  }

  /** Of all that are held. */
  get earliestEndMs(): number {
    return this.#holder.earliestEndMs;
  }

  nextDeadlineMs(nowMs: number): number | undefined {
    return this.#holder.nextDeadlineMs(nowMs, this.#sets.isChanging);
  }

  /** What is wanted and has no lease. */
  waiting(): readonly Ip[] {
    return this.#holder.waiting();
  }

  /** Since when it is; undefined when it is not. */
  waitsSinceMs(ip: Ip): number | undefined {
    return this.#holder.waitsSinceMs(ip);
  }

  /** Enough speakers answer that it would get what nobody else has. */
  isInReach(nowMs: number): boolean {
    const sets = this.#sets.needed(nowMs);
    return sets.length > 0 && sets.every((set) => this.#heardOf(set.members, nowMs).length >= majorityOf(set));
  }

  report(ip: Ip, nowMs: number): LeaseReport {
    const votes = this.#holder.votesFor(ip);
    const granted = (members: ReadonlySet<string>): string[] =>
      [...members].filter((voter) => nowMs - (votes.get(voter) ?? Number.NEGATIVE_INFINITY) < LEASE_MS);
    const missing = (set: VoterSet): number => majorityOf(set) - granted(set.members).length;
    const [worst] = this.#sets.needed(nowMs).toSorted((a, b) => missing(b) - missing(a));
    const members: ReadonlySet<string> = worst?.members ?? new Set();
    const untilMs = this.#holder.untilMs(ip);
    const holder = this.#voter.grantedTo(ip, nowMs);
    return {
      isHeld: nowMs < untilMs,
      ...(nowMs < untilMs ? { untilMs } : {}),
      expected: members.size,
      needed: worst === undefined ? 1 : majorityOf(worst),
      grantedBy: granted(members),
      heard: this.#heardOf(members, nowMs),
      ...(holder === undefined || holder === this.#self ? {} : { holder }),
    };
  }

  #heardOf(members: ReadonlySet<string>, nowMs: number): string[] {
    return [...members].filter((voter) => nowMs - this.#holder.heardAskedMs(voter) < LEASE_MS);
  }

  #vote(ask: LeaseAsk, nowMs: number): void {
    const { newest } = this.#sets;
    if (newest === undefined) return;
    const view: VoterView = { newestId: newest.id, allows: (ids) => this.#sets.allows(ids) };
    const { grant, more } = this.#voter.answer(ask, view, nowMs);
    for (const { to, grant: message } of [{ to: ask.node, grant }, ...more]) {
      if (to !== this.#self) this.#outgoing.push({ node: to, message });
      else if (message.session === this.#session) this.#take(this.#selfVoter, message, nowMs);
    }
  }

  #take(voter: string, grant: LeaseGrant, nowMs: number): void {
    this.#sets.hear(voter, grant.voterSet, grant.askedMs, nowMs);
    this.#follow(nowMs);
    this.#holder.hear(voter, grant, nowMs);
  }

  #follow(nowMs: number): void {
    const needed = this.#sets.needed(nowMs);
    const key = needed.map(({ id }) => id).join();
    if (key === this.#needed) return;
    this.#needed = key;
    this.#holder.setVoters(needed, new Set(needed.flatMap(({ members }) => [...members])));
  }
}
