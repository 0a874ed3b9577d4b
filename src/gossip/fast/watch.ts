/** One leader as its watcher sees it: the ladder of questions (DESIGN D7), and what came back. */
import type { FastEffect, ProofOfLife } from "./fast-event.ts";
import type { FastTiming } from "./fast-timing.ts";
import { deadlineMs, type Evidence, judge, type Ladder } from "./judge.ts";
import { type LongestSilence, Silence } from "./silence.ts";

/** Until its port has accepted once in this incarnation, a refusal of it proves nothing; so it is tried now and then. */
const ACQUAINTANCE_MS = 5_000;
/** What changes from view to view. */
export interface WatchContext {
  readonly isLone: boolean;
  /** Some other member could answer us. */
  readonly hasHelpers: boolean;
}

interface Accusation {
  said: number;
  nextMs: number;
}

export class Watch {
  readonly node: string;
  incarnation: number;
  readonly #timing: FastTiming;
  readonly #history: LongestSilence;
  readonly #silence: Silence;
  #lastProof: ProofOfLife = "datagram";
  #nextPingMs: number;
  #escalateMs = Number.POSITIVE_INFINITY;
  #acceptedIncarnation: number | undefined;
  #acquaintMs: number;
  #hostMs = Number.NEGATIVE_INFINITY;
  #hasAccepted = false;
  #refusals = 0;
  #refusedMs = Number.NEGATIVE_INFINITY;
  #redialMs = Number.POSITIVE_INFINITY;
  #askedOthersMs: number | undefined;
  #accusation: Accusation | undefined;
  /** Who accuses the present incarnation, and since when. */
  readonly #accusers = new Map<string, number>();
  isSentenced = false;

  constructor(
    node: string,
    incarnation: number,
    history: LongestSilence,
    timing: FastTiming,
    nowMs: number,
    firstPingMs: number,
  ) {
    this.node = node;
    this.#timing = timing;
    this.incarnation = incarnation;
    this.#history = history;
    this.#silence = new Silence(nowMs);
    this.#nextPingMs = firstPingMs;
    this.#acquaintMs = nowMs;
  }

  get isAccused(): boolean {
    return this.#accusation !== undefined;
  }

  get lastProof(): ProofOfLife {
    return this.#lastProof;
  }

  get lastProofMs(): number {
    return this.#silence.provedMs;
  }

  /** Another incarnation: what was said of the one before is void. True when that ended an accusation of ours. */
  reincarnate(incarnation: number, nowMs: number): boolean {
    if (incarnation <= this.incarnation) return false;
    this.incarnation = incarnation;
    this.#accusers.clear();
    this.#acquaintMs = nowMs;
    this.#refusals = 0;
    this.isSentenced = false;
    return this.#endAccusation();
  }

  /** True when it ended an accusation of ours. */
  prove(by: ProofOfLife, nowMs: number): boolean {
    if (!this.isSentenced) this.#history.add(this.#silence.end(nowMs), nowMs);
    else this.#silence.end(nowMs);
    this.#lastProof = by;
    this.#escalateMs = Number.POSITIVE_INFINITY;
    this.#redialMs = Number.POSITIVE_INFINITY;
    this.#hostMs = Number.NEGATIVE_INFINITY;
    this.#hasAccepted = false;
    this.#refusals = 0;
    this.#askedOthersMs = undefined;
    return this.#endAccusation();
  }

  /** Somebody else answered us: time in which nobody did, though asked, does not count. */
  othersAnswered(nowMs: number): void {
    if (this.#askedOthersMs === undefined) return;
    const unheardMs = nowMs - this.#askedOthersMs;
    if (unheardMs > this.#timing.deafMs) this.#silence.discount(unheardMs);
    this.#askedOthersMs = undefined;
  }

  /** Our own loop stood for so long. */
  discount(byMs: number): void {
    this.#silence.discount(byMs);
    // What we asked could not be answered meanwhile, or not be heard.
    if (this.#askedOthersMs !== undefined) this.#askedOthersMs += byMs;
  }

  /** What was silent until now says nothing: we had no link. */
  restart(nowMs: number): void {
    this.#silence.end(nowMs);
    this.#askedOthersMs = undefined;
    this.#refusals = 0;
  }

  hostAnswered(nowMs: number): void {
    this.#hostMs = nowMs;
  }

  accepted(incarnation: number, nowMs: number): void {
    if (incarnation !== this.incarnation) return;
    this.#acceptedIncarnation = incarnation;
    this.#hasAccepted = true;
    this.#hostMs = nowMs;
  }

  refused(incarnation: number, nowMs: number): void {
    if (incarnation !== this.incarnation || this.#acceptedIncarnation !== incarnation) return;
    if (nowMs - this.#refusedMs < this.#timing.refusalIntervalMs && this.#refusals > 0) return;
    this.#refusals++;
    this.#refusedMs = nowMs;
    this.#redialMs = nowMs + this.#timing.refusalIntervalMs;
  }

  unreachable(nowMs: number): void {
    if (Number.isFinite(this.#escalateMs)) this.#escalateMs = nowMs;
  }

  accusedBy(name: string, incarnation: number, nowMs: number): void {
    if (incarnation === this.incarnation) this.#accusers.set(name, nowMs);
  }

  /** Whoever accused it before we heard it ourselves was wrong by then. */
  accusers(nowMs: number): readonly string[] {
    const { provedMs } = this.#silence;
    return [...this.#accusers].flatMap(([name, atMs]) =>
      atMs >= provedMs && nowMs - atMs <= this.#timing.accusedForMs ? [name] : [],
    );
  }

  /** Questions that are due. */
  ask(nowMs: number, context: WatchContext, emit: (effect: FastEffect) => void): void {
    const { node } = this;
    const { pingIntervalMs, escalationMs } = this.#timing;
    if (nowMs >= this.#nextPingMs) {
      // What was missed is not made up for.
      this.#nextPingMs += pingIntervalMs * (1 + Math.floor((nowMs - this.#nextPingMs) / pingIntervalMs));
      if (!Number.isFinite(this.#escalateMs)) this.#escalateMs = nowMs + escalationMs;
      emit({ kind: "ping", node });
    }
    if (nowMs >= this.#escalateMs) {
      this.#escalateMs = Number.POSITIVE_INFINITY;
      if (context.hasHelpers) {
        this.#askedOthersMs ??= nowMs;
        emit({ kind: "ask-helpers", node });
      }
      emit({ kind: "ask-neighbour", node });
      emit({ kind: "tcp-ping", node });
    } else if (nowMs >= this.#redialMs) emit({ kind: "tcp-ping", node });
    if (nowMs >= this.#redialMs) this.#redialMs = Number.POSITIVE_INFINITY;
    if (this.#acceptedIncarnation !== this.incarnation && nowMs >= this.#acquaintMs) {
      this.#acquaintMs = nowMs + ACQUAINTANCE_MS;
      emit({ kind: "tcp-ping", node });
    }
  }

  ladder(nowMs: number, { isLone, hasHelpers }: WatchContext): Ladder {
    const asked = hasHelpers ? this.#askedOthersMs : undefined;
    return {
      silentMs: this.#silence.countedMs(nowMs),
      longestMs: this.#history.ms(nowMs),
      hostAgeMs: nowMs - this.#hostMs,
      hasAccepted: this.#hasAccepted,
      refusals: this.#refusals,
      isDeaf: asked !== undefined && nowMs - asked > this.#timing.deafMs,
      isLone,
    };
  }

  deadlineMs(nowMs: number, context: WatchContext): number {
    return deadlineMs(this.ladder(nowMs, context), this.#timing);
  }

  /** Begins an accusation when there is a reason for one, and there is none yet. */
  findReason(nowMs: number, context: WatchContext): Evidence | undefined {
    if (this.#accusation !== undefined || this.isSentenced) return undefined;
    const evidence = judge(this.ladder(nowMs, context), this.#timing);
    if (evidence !== undefined) this.#accusation = { said: 0, nextMs: nowMs };
    return evidence;
  }

  /** Whether the accusation is to be said now. */
  isToBeSaid(nowMs: number): boolean {
    const accusation = this.#accusation;
    if (accusation === undefined || accusation.said >= this.#timing.accusationSayings || nowMs < accusation.nextMs)
      return false;
    accusation.said++;
    accusation.nextMs = nowMs + this.#timing.accusationIntervalMs;
    return true;
  }

  /** The next question. */
  nextQuestionMs(): number {
    const acquaintMs = this.#acceptedIncarnation === this.incarnation ? Number.POSITIVE_INFINITY : this.#acquaintMs;
    return Math.min(this.#nextPingMs, this.#escalateMs, this.#redialMs, acquaintMs);
  }

  /** The next judgement, unless something is heard before. */
  nextJudgementMs(nowMs: number, context: WatchContext): number {
    const accusation = this.#accusation;
    if (accusation !== undefined) {
      return accusation.said < this.#timing.accusationSayings ? accusation.nextMs : Number.POSITIVE_INFINITY;
    }
    const leftMs = this.deadlineMs(nowMs, context) - this.#silence.countedMs(nowMs);
    // What is overdue waits for news: the next question is due within 100 ms.
    return leftMs > 0 && !this.isSentenced ? nowMs + leftMs : Number.POSITIVE_INFINITY;
  }

  #endAccusation(): boolean {
    const wasAccused = this.#accusation !== undefined;
    this.#accusation = undefined;
    return wasAccused;
  }
}
