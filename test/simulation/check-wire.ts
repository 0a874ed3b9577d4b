/** Invariant 19: the order of what a speaker does on the wire: join, arm, claim, announce; stop, a second later leave. */
import type { Ip } from "../../src/net/ip.ts";
import { solicitedNodeGroupOf } from "../../src/packet/solicited-node.ts";
import { isUnsolicited, type NeighbourFrame } from "./frames.ts";
import type { Machine } from "./machine.ts";
import type { NetworkCard } from "./network-card.ts";
import { type Answerer, type Findings, type Witness } from "./witness.ts";

/** From the first answer to the first frame, for the first hundred frames of a burst (DESIGN D11's bucket). */
const FIRST_FRAME_MS = 20;
const BUCKET_FRAMES = 100;
/** Groups are left this long after the last answer (D8), less what looking costs. */
const LEAVE_AFTER_MS = 950;
/** Repeats come 1.1 s apart (D11), less rounding. */
const REPEAT_MS = 1_090;
/** A claim so long before the first frame belongs to the same taking over. */
const CLAIM_MS = 1_000;
/** What makes somebody begin to answer is delivered to others so much later: they may believe that nobody does. */
const DELIVERED_MS = 210;
/** A process settles for 10 s (D3), and has seen every leader by then. */
const NEW_PROCESS_MS = 10_000;

interface Speech {
  readonly machine: Machine;
  readonly ip: Ip;
  /** When it was last seen to answer, and when it began to. */
  answersSinceMs?: number | undefined;
  lastAnswerMs: number;
  firstFrameMs?: number | undefined;
  /** Began to answer after standing still: nothing was gained, nothing need be said. */
  isThawed: boolean;
  lastFrameMs: Map<string, number>;
}

export interface WireRules {
  /** The cluster is founded and only planned changes happen: repeats and claims may be judged strictly. */
  readonly isPlannedOnly: () => boolean;
  /** Addresses that a datagram claims. */
  readonly claimsIn: (bytes: Uint8Array) => readonly string[];
  /** Addresses gained at one time may be more than the bucket holds. */
  readonly addresses: number;
}

export class WireOrderChecker implements Witness {
  readonly #rules: WireRules;
  readonly #findings: Findings;
  readonly #joined = new Map<NetworkCard, Set<Ip>>();
  readonly #speeches = new Map<Ip, Map<Machine, Speech>>();
  /** Frames whose sender must be seen to answer at this very instant. */
  #owed: { readonly machine: Machine; readonly card: NetworkCard; readonly ip: Ip; readonly atMs: number }[] = [];
  readonly #stoodUntilMs = new Map<Machine, number>();
  #disturbedMs = Number.NEGATIVE_INFINITY;
  /** `machine address` → when it was claimed last. */
  readonly #claimedMs = new Map<string, number>();
  /** Who answers, and since when. */
  readonly #answerers = new Map<Ip, ReadonlyMap<string, number>>();
  /** When each card was last seen to answer for an address: a node may stop on one link and not on another. */
  readonly #lastAnswerMs = new Map<Ip, Map<NetworkCard, number>>();
  /** Who announced each address last, by form. */
  readonly #spoken = new Map<string, string>();

  constructor(rules: WireRules, findings: Findings) {
    this.#rules = rules;
    this.#findings = findings;
  }

  disturbed(atMs: number): void {
    this.#disturbedMs = atMs;
  }

  joined(_atMs: number, _machine: Machine, card: NetworkCard, group: Ip): void {
    this.#groupsOf(card).add(group);
  }

  left(atMs: number, machine: Machine, card: NetworkCard, group: Ip): void {
    this.#groupsOf(card).delete(group);
    if (machine.isLeaving || !card.isUp) return;
    for (const [ip, speeches] of this.#speeches) {
      if (!speeches.has(machine) || !ip.includes(":") || solicitedNodeGroupOf(ip) !== group) continue;
      const agoMs = atMs - (this.#lastAnswerMs.get(ip)?.get(card) ?? Number.NEGATIVE_INFINITY);
      if (agoMs < LEAVE_AFTER_MS) {
        this.#findings.violated(
          19,
          atMs,
          `${machine.name} leaves ${group} ${agoMs.toFixed(0)} ms after answering for ${ip}`,
        );
      }
      this.#findings.count("19 group left after a second");
    }
  }

  datagram(atMs: number, from: string, _to: unknown, bytes: Uint8Array): void {
    for (const ip of this.#rules.claimsIn(bytes)) this.#claimedMs.set(`${from} ${ip}`, atMs);
  }

  sent(atMs: number, machine: Machine, card: NetworkCard, frame: NeighbourFrame): void {
    if (!isUnsolicited(frame)) return;
    const ip = frame.form === "advertisement" ? frame.targetIp : frame.senderIp;
    const speech = this.#speechOf(machine, ip);
    this.#findings.count("19 announcement");
    if (frame.form === "advertisement" && !this.#groupsOf(card).has(solicitedNodeGroupOf(ip))) {
      this.#findings.violated(19, atMs, `${machine.name} announces ${ip} before it joined its group`);
    }
    if (this.#rules.isPlannedOnly()) this.#judgeClaim(atMs, machine, speech);
    const repeat = `${card.name} ${frame.form}`;
    const lastMs = speech.lastFrameMs.get(repeat);
    const form = `${frame.form} ${ip}`;
    const spoken = this.#spoken.get(form);
    this.#spoken.set(form, machine.name);
    // Who has won it back from another announces anew, be it after a millisecond; an input that changes may call a move off.
    const isWonBack = spoken !== machine.name || atMs - this.#disturbedMs < REPEAT_MS;
    const isRepeat = lastMs !== undefined && atMs - lastMs < REPEAT_MS && !isWonBack;
    if (isRepeat && this.#rules.isPlannedOnly() && atMs - (speech.answersSinceMs ?? atMs) > FIRST_FRAME_MS) {
      this.#findings.violated(
        19,
        atMs,
        `${machine.name} repeats ${frame.form} for ${ip} after ${(atMs - lastMs).toFixed(0)} ms`,
      );
    }
    speech.lastFrameMs.set(repeat, atMs);
    speech.firstFrameMs ??= atMs;
    this.#owed.push({ machine, card, ip, atMs });
  }

  /** Whoever takes an address from one that answers tells it so first. */
  #judgeClaim(atMs: number, machine: Machine, { ip, answersSinceMs, firstFrameMs }: Speech): void {
    const others = [...(this.#answerers.get(ip) ?? [])].flatMap(([name, sinceMs]) =>
      name !== machine.name && atMs - sinceMs >= DELIVERED_MS ? [name] : [],
    );
    if (answersSinceMs !== undefined || firstFrameMs !== undefined || others.length === 0) return;
    // A new process does not know who led before it; its frame tells him, or his question 20 ms later.
    if (atMs - (machine.startedMs ?? atMs) < NEW_PROCESS_MS) return;
    this.#findings.count("19 taken from one that answers");
    const claimedMs = this.#claimedMs.get(`${machine.name} ${ip}`) ?? Number.NEGATIVE_INFINITY;
    if (atMs - claimedMs <= CLAIM_MS) return;
    this.#findings.violated(
      19,
      atMs,
      `${machine.name} announces ${ip}, for which ${others.join(" and ")} answers, and has not claimed it`,
    );
  }

  lifecycle(atMs: number, machine: Machine, what: string): void {
    this.#stoodUntilMs.set(machine, atMs);
    if (what === "frozen") return;
    for (const speeches of this.#speeches.values()) speeches.delete(machine);
    this.#owed = this.#owed.filter((owed) => owed.machine !== machine);
    if (what === "started") for (const card of machine.cards) this.#groupsOf(card).clear();
  }

  answered(atMs: number, ip: Ip, answerers: readonly Answerer[]): void {
    this.#settleDebts(atMs, ip, answerers);
    const before = this.#answerers.get(ip);
    const sinceMs = new Map<string, number>();
    this.#answerers.set(ip, sinceMs);
    const lastAnswerMs = this.#lastAnswersFor(ip);
    for (const { machine, node, card } of answerers) {
      sinceMs.set(node, before?.get(node) ?? atMs);
      lastAnswerMs.set(card, atMs);
      const speech = this.#speechOf(machine, ip);
      const isNew = speech.answersSinceMs === undefined;
      if (isNew) {
        speech.answersSinceMs = atMs;
        speech.isThawed = (this.#stoodUntilMs.get(machine) ?? -1) >= speech.lastAnswerMs;
      }
      speech.lastAnswerMs = atMs;
      this.#judgeFirstFrame(atMs, speech);
    }
    for (const speech of this.#speechesFor(ip).values()) {
      if (sinceMs.has(speech.machine.name)) continue;
      speech.answersSinceMs = undefined;
      speech.firstFrameMs = undefined;
    }
  }

  #judgeFirstFrame(atMs: number, speech: Speech): void {
    const { answersSinceMs, firstFrameMs, machine, ip } = speech;
    if (answersSinceMs === undefined || firstFrameMs !== undefined || speech.isThawed) return;
    if (this.#rules.addresses * 2 > BUCKET_FRAMES || !machine.isAwake) return;
    if (atMs - answersSinceMs > FIRST_FRAME_MS && this.#rules.isPlannedOnly()) {
      this.#findings.violated(
        19,
        atMs,
        `${machine.name} has answered for ${ip} since ${answersSinceMs.toFixed(1)} ms without a frame`,
      );
    }
  }

  #settleDebts(atMs: number, ip: Ip, answerers: readonly Answerer[]): void {
    if (this.#owed.length === 0) return;
    const due = this.#owed.filter((owed) => owed.ip === ip);
    this.#owed = this.#owed.filter((owed) => owed.ip !== ip);
    for (const { machine, card, atMs: sentMs } of due) {
      if (sentMs < atMs || !machine.isAwake || !card.isUp) continue;
      // It may have lost the address again in the same instant: what waited through a standstill is read at once.
      const held = machine.view()?.decisions.find(({ addresses }) => addresses.includes(ip));
      if (held?.leader !== machine.name) continue;
      if (!answerers.some((answerer) => answerer.card === card)) {
        this.#findings.violated(19, atMs, `${machine.name} announces ${ip} on ${card.name} and does not answer there`);
      }
    }
  }

  #speechOf(machine: Machine, ip: Ip): Speech {
    const speeches = this.#speechesFor(ip);
    const known = speeches.get(machine);
    if (known !== undefined) return known;
    const speech: Speech = {
      machine,
      ip,
      lastAnswerMs: Number.NEGATIVE_INFINITY,
      isThawed: false,
      lastFrameMs: new Map(),
    };
    speeches.set(machine, speech);
    return speech;
  }

  #speechesFor(ip: Ip): Map<Machine, Speech> {
    const known = this.#speeches.get(ip) ?? new Map<Machine, Speech>();
    this.#speeches.set(ip, known);
    return known;
  }

  #lastAnswersFor(ip: Ip): Map<NetworkCard, number> {
    const known = this.#lastAnswerMs.get(ip) ?? new Map<NetworkCard, number>();
    this.#lastAnswerMs.set(ip, known);
    return known;
  }

  #groupsOf(card: NetworkCard): Set<Ip> {
    const known = this.#joined.get(card) ?? new Set<Ip>();
    this.#joined.set(card, known);
    return known;
  }
}
