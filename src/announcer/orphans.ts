/**
 * The orphan rule (DESIGN D9): when views differ, an address may have a leader in everybody's eyes that does not lead it in its own.
 * Whoever comes next in rank waits for the leader's word, asks for it, and takes the address if it does not come. Pure: words and the
 * time in, questions and addresses to take out.
 */
import { isSameList } from "../base/same-list.ts";
import type { Ip } from "../net/ip.ts";
import type { HandoverMessage, LeadAnswer } from "./ports.ts";

/** From a change to the leader's word, seen by the second in rank (DESIGN D9). */
export const WORD_EXPECTED_MS = 300;
/** Whoever is one rank lower waits so much longer: somebody may have taken the address meanwhile. */
export const RANK_STEP_MS = 1_000;
/** Nobody below the fifth takes what is orphaned: by then it is to be answered, and more would only ask. */
export const LAST_RANK = 5;
/** Who says nothing for so long after the first question is silent; a leader only if it has shown meanwhile that it hears us. */
export const SILENT_MS = 1_000;
const ASK_AGAIN_MS = 300;
/** A leader that does not hear us is asked again after so long: whether it lives is for the failure detector to say (DESIGN D7). */
const UNHEARD_REST_MS = 2_000;
/** How often whoever took an address asks whether the leader leads it now. */
const TAKEN_ASK_MS = 2_000;
/** What is answered with a lease stays so long with who took it: otherwise it would go there and back as often as a lease ends. */
const KEPT_MS = 10_000;
/** What a member has shown so long ago is of no use any more. */
const PROVEN_MS = 10_000;
/** Addresses that are asked for together, and the time from one such round to the next: thousands at once would hold up everything else. */
const ASKED_AT_ONCE = 64;
const ROUND_MS = 20;
/** A word that comes before this node has decided on the address is kept so long, and so many of them at most. */
const EARLY_MS = 5_000;
const MOST_EARLY = 20_000;

/** A group of addresses that another leads, and this node comes after it. */
export interface RankedGroup {
  /** Led together; the first stands for all of them. */
  readonly addresses: readonly Ip[];
  readonly leader: string;
  /** The leader first, then whoever else comes before this node. */
  readonly before: readonly string[];
}

/** Why an address was taken that another leads in this node's eyes. */
export interface Orphan {
  readonly leader: string;
  /** As the leader said it; "silent" when it, and the address, said nothing. */
  readonly reason: string;
  /** When it was taken. */
  readonly sinceMs: number;
}

export interface OrphanSteps {
  readonly ask: readonly { readonly to: string; readonly ip: Ip }[];
  /** Whether the address is answered by its leader, on the wire. */
  readonly probe: readonly { readonly leader: string; readonly ip: Ip }[];
}

/** Who said that it leads, and who was to lead then: another may do so in the leader's place. */
interface Confirmed {
  readonly node: string;
  readonly leader: string;
}

interface Watch {
  readonly group: RankedGroup;
  readonly firstAskMs: number;
  /** When it was really asked for the first time. */
  askedMs: number | undefined;
  nextMs: number;
  /** Who says that it does not lead. */
  readonly noes: Map<string, LeadAnswer>;
  /** Led by in the eyes of one that does not. */
  readonly named: Set<string>;
  isHeld: boolean;
  orphan: Orphan | undefined;
  /** Since when it is answered here with a lease. */
  leasedMs: number | undefined;
}

export class Orphans {
  readonly #self: string;
  readonly #rankOf: (ip: Ip) => RankedGroup | undefined;
  /** By the first address of each group, as all else here. */
  readonly #watches = new Map<Ip, Watch>();
  /** Who said last that it leads. */
  readonly #confirmed = new Map<Ip, Confirmed>();
  /** Who said so of an address that this node does not watch, the latest last: its own decision may come after the word. */
  readonly #early = new Map<Ip, { readonly node: string; readonly atMs: number }>();
  /** When a member last answered a ping of ours: it hears us, and we hear it. */
  readonly #provenMs = new Map<string, number>();
  readonly #taken = new Map<Ip, Orphan>();
  readonly #changed = new Set<Ip>();
  #deadlineMs: number | undefined;

  /** `rankOf`: of the group that the address is the first of; undefined for one that is not watched by this node. */
  constructor(self: string, rankOf: (ip: Ip) => RankedGroup | undefined) {
    this.#self = self;
    this.#rankOf = rankOf;
  }

  /** All addresses that this node has taken. */
  get taken(): ReadonlyMap<Ip, Orphan> {
    return this.#taken;
  }

  get deadlineMs(): number | undefined {
    return this.#deadlineMs;
  }

  /** The decision on a group has changed: its leader's word is expected, unless it was heard already. */
  follow(ip: Ip, nowMs: number): void {
    const group = this.#rankOf(ip);
    const known = this.#watches.get(ip);
    const isSame =
      group !== undefined && known?.group.leader === group.leader && isSameList(known.group.addresses, group.addresses);
    if (!isSame) this.#drop(ip);
    if (group === undefined) {
      this.#confirmed.delete(ip);
      return;
    }
    const early = this.#early.get(ip);
    this.#early.delete(ip);
    if (early?.node === group.leader && nowMs - early.atMs <= EARLY_MS) this.#confirmedBy(early.node, ip, group);
    const confirmed = this.#confirmed.get(ip);
    if (confirmed?.node === group.leader || this.#watches.has(ip)) return;
    this.#confirmed.delete(ip);
    this.#expect(ip, group, nowMs, confirmed?.leader === group.leader ? confirmed.node : undefined);
  }

  hear(message: HandoverMessage, freshness: number, nowMs: number): void {
    for (const ip of message.addresses) {
      // Whoever claims answers already; a word may come from one that waits for the lease that we have.
      if (message.kind === "lead" && message.leads && nowMs < keptUntilMs(this.#watches.get(ip))) continue;
      if (message.kind === "claim" || (message.kind === "lead" && message.leads))
        this.#hearYes(ip, message.node, nowMs);
      else if (message.kind === "lead") this.#hearNo(ip, message, freshness, nowMs);
    }
  }

  /** The leader's link answers for the address. */
  held(ip: Ip): void {
    const watch = this.#watches.get(ip);
    if (watch !== undefined) watch.isHeld = true;
  }

  /** A member has answered a ping: what it does not say now, it does not say though it hears us. */
  proved(node: string, nowMs: number): void {
    // Acks come all the time, and are asked for by who watches alone.
    if (this.#watches.size === 0) return this.#provenMs.clear();
    this.#provenMs.set(node, nowMs);
    for (const [name, atMs] of this.#provenMs) if (nowMs - atMs > PROVEN_MS) this.#provenMs.delete(name);
  }

  /** What this node has taken it answers with a lease, from now on, or no longer. */
  leased(ip: Ip, isLeased: boolean, nowMs: number): void {
    const watch = this.#watches.get(ip);
    if (watch !== undefined) watch.leasedMs = isLeased && watch.orphan !== undefined ? nowMs : undefined;
  }

  due(nowMs: number): OrphanSteps {
    const ask: { readonly to: string; readonly ip: Ip }[] = [];
    const probe: { readonly leader: string; readonly ip: Ip }[] = [];
    if (this.#deadlineMs === undefined || this.#deadlineMs > nowMs) return { ask, probe };
    let left = ASKED_AT_ONCE;
    this.#deadlineMs = undefined;
    for (const [ip, watch] of this.#watches) {
      if (watch.nextMs <= nowMs) {
        // The round is full: whatever comes after is looked at in the next one.
        if (left-- === 0) {
          this.#wake(nowMs + ROUND_MS);
          break;
        }
        const asked = this.#advance(ip, watch, nowMs);
        for (const to of asked) ask.push({ to, ip });
        // Mostly the first question is answered at once, and its answer is worth more than the link's.
        const isAskedAgain = watch.askedMs !== nowMs && watch.orphan === undefined;
        if (isAskedAgain && asked.includes(watch.group.leader)) probe.push({ leader: watch.group.leader, ip });
      }
      if (this.#watches.has(ip)) this.#wake(Math.max(watch.nextMs, nowMs + ROUND_MS));
    }
    return { ask, probe };
  }

  /** Addresses of which it has changed whether this node has taken them, since this was asked for last. */
  takeChanges(): readonly Ip[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /** `standIn`: who said last that it leads in the leader's place. The leader itself need not know. */
  #expect(ip: Ip, group: RankedGroup, nowMs: number, standIn?: string): void {
    const firstAskMs = nowMs + WORD_EXPECTED_MS + (group.before.length - 1) * RANK_STEP_MS;
    this.#watches.set(ip, {
      group,
      firstAskMs,
      askedMs: undefined,
      nextMs: firstAskMs,
      noes: new Map(),
      named: new Set(standIn === undefined ? [] : [standIn]),
      isHeld: false,
      orphan: undefined,
      leasedMs: undefined,
    });
    this.#wake(firstAskMs);
  }

  #hearYes(ip: Ip, node: string, nowMs: number): void {
    const watch = this.#watches.get(ip);
    const group = watch?.group ?? this.#rankOf(ip);
    if (group === undefined) return this.#keep(ip, node, nowMs);
    // Of what was taken another claim is a contest; the leader's own ends it.
    if (watch?.orphan !== undefined && node !== watch.group.leader) return;
    this.#confirmedBy(node, ip, group);
    this.#drop(ip);
  }

  #confirmedBy(node: string, ip: Ip, { leader }: RankedGroup): void {
    this.#confirmed.set(ip, { node, leader });
  }

  #keep(ip: Ip, node: string, nowMs: number): void {
    this.#early.delete(ip);
    this.#early.set(ip, { node, atMs: nowMs });
    for (const [kept, { atMs }] of this.#early) {
      if (nowMs - atMs <= EARLY_MS && this.#early.size <= MOST_EARLY) break;
      this.#early.delete(kept);
    }
  }

  #hearNo(ip: Ip, message: LeadAnswer, freshness: number, nowMs: number): void {
    const { node, leader } = message;
    const watch = this.#watches.get(ip);
    if (this.#early.get(ip)?.node === node) this.#early.delete(ip);
    if (watch === undefined) {
      const group = this.#rankOf(ip);
      const confirmed = this.#confirmed.get(ip)?.node;
      if (group === undefined || (node !== group.leader && node !== confirmed)) return;
      // Whom it names has said so itself.
      if (leader !== undefined && leader === confirmed) return;
      this.#confirmed.delete(ip);
      return this.#expect(ip, group, nowMs);
    }
    if (watch.orphan !== undefined || !this.#asked(watch).includes(node)) return;
    // It has gone, or can be led by nobody, and we have not read that yet.
    const knowsBetter = freshness !== 0 && message.freshness > freshness && message.reason === "unknown-address";
    if (knowsBetter || message.reason === "no-link") return this.#drop(ip);
    watch.noes.set(node, message);
    if (leader !== undefined && leader !== this.#self) watch.named.add(leader);
    if (nowMs >= watch.firstAskMs) watch.nextMs = nowMs;
    this.#wake(watch.nextMs);
  }

  #asked({ group, named }: Watch): readonly string[] {
    return [...new Set([...group.before, ...named])];
  }

  /** Whom to ask now; takes the address when that is of no use any more. */
  #advance(ip: Ip, watch: Watch, nowMs: number): readonly string[] {
    const { group, noes } = watch;
    if (watch.orphan !== undefined) {
      const keptMs = keptUntilMs(watch);
      watch.nextMs = Math.max(nowMs + TAKEN_ASK_MS, keptMs);
      return nowMs < keptMs ? [] : [group.leader];
    }
    const missing = this.#asked(watch).filter((node) => !noes.has(node));
    if (missing.length > 0) watch.askedMs ??= nowMs;
    const silentMs = (watch.askedMs ?? nowMs) + SILENT_MS;
    if (missing.length > 0 && nowMs < silentMs) {
      watch.nextMs = Math.min(nowMs + ASK_AGAIN_MS, silentMs);
      return missing;
    }
    const isSilent = missing.includes(group.leader);
    if (isSilent && watch.isHeld) {
      this.#confirmedBy(group.leader, ip, group);
      this.#drop(ip);
      return [];
    }
    // One that does not hear us may well answer everybody else.
    if (isSilent && !this.#hasProved(group.leader, watch.askedMs ?? nowMs)) {
      watch.askedMs = undefined;
      watch.nextMs = nowMs + UNHEARD_REST_MS;
      return [];
    }
    watch.orphan = { leader: group.leader, reason: noes.get(group.leader)?.reason ?? "silent", sinceMs: nowMs };
    watch.nextMs = nowMs + TAKEN_ASK_MS;
    for (const taken of group.addresses) this.#taken.set(taken, watch.orphan);
    for (const taken of group.addresses) this.#changed.add(taken);
    return [];
  }

  #hasProved(node: string, sinceMs: number): boolean {
    return (this.#provenMs.get(node) ?? Number.NEGATIVE_INFINITY) >= sinceMs;
  }

  #drop(ip: Ip): void {
    const watch = this.#watches.get(ip);
    this.#watches.delete(ip);
    if (watch?.orphan === undefined) return;
    for (const taken of watch.group.addresses) this.#taken.delete(taken);
    for (const taken of watch.group.addresses) this.#changed.add(taken);
  }

  #wake(atMs: number): void {
    if (this.#deadlineMs === undefined || atMs < this.#deadlineMs) this.#deadlineMs = atMs;
  }
}

/** Until when the leader's word alone does not end it. */
function keptUntilMs(watch: Watch | undefined): number {
  return (watch?.leasedMs ?? Number.NEGATIVE_INFINITY) + KEPT_MS;
}
