/**
 * The fast detector (DESIGN D7): pings every leader that this node watches, judges silences, accuses, and declares dead whom two
 * accuse. Beside that it tells a leader whose watchers fell silent. Without I/O: observations and the time in, effects out.
 */
import { Brake } from "./brake.ts";
import type { FastCounters, FastEffect, FastObservation, WatchedMember, WatchView } from "./fast-event.ts";
import { FAST_TIMING, type FastTiming } from "./fast-timing.ts";
import { OwnWatchers } from "./own-watchers.ts";
import { LongestSilence } from "./silence.ts";
import { Watch, type WatchContext } from "./watch.ts";
import { type LeaderNode, WatcherChoice } from "./watchers.ts";

/** A member that returns so soon after our verdict, of a later incarnation, was not dead. */
const OVERRULED_MS = 10_000;
/** Members whose silences are remembered while this node does not watch them. */
const MAX_HISTORIES = 1_024;

export interface FastDetectorOptions {
  readonly self: string;
  /** From 0 to 1: where in the interval the first ping goes, so that watchers do not ping in step. */
  readonly phase: () => number;
  readonly timing?: FastTiming | undefined;
}

const NOTHING_WATCHED: WatchView = { leaders: [], watchers: [], goMembers: [], hasLink: true };

export class FastDetector {
  readonly #options: FastDetectorOptions;
  readonly #timing: FastTiming;
  readonly #choice: WatcherChoice;
  readonly #watches = new Map<string, Watch>();
  readonly #histories = new Map<string, LongestSilence>();
  readonly #brake: Brake;
  readonly #own: OwnWatchers;
  /** Of members that died while they were watched. */
  readonly #lastProofMs = new Map<string, number>();
  readonly #sentencedMs = new Map<string, number>();
  readonly #counters = {
    accusations: { silent: 0, hung: 0, refused: 0 },
    verdicts: 0,
    accusationsOverruled: 0,
    verdictsOverruled: 0,
    verdictsBraked: 0,
  };
  #view = NOTHING_WATCHED;
  #leaders = new Map<string, LeaderNode>();
  #watchersOf = new Map<string, readonly string[]>();
  #members = 1;
  /** By node: they stand as long as the view does. */
  readonly #contexts = new Map<string, WatchContext>();
  #effects: FastEffect[] = [];
  /** When the last observation came. */
  #turnedMs = Number.NEGATIVE_INFINITY;
  /** Worked out when it is asked for: several observations come with one datagram. */
  #due: { readonly ms: number | undefined } | undefined;
  #brakedUntilMs = Number.POSITIVE_INFINITY;

  constructor(options: FastDetectorOptions) {
    this.#options = options;
    this.#timing = options.timing ?? FAST_TIMING;
    this.#choice = new WatcherChoice(this.#timing);
    this.#brake = new Brake(this.#timing);
    this.#own = new OwnWatchers(this.#timing);
  }

  handle(observation: FastObservation, nowMs: number): FastEffect[] {
    this.#noteLateness(nowMs);
    this.#take(observation, nowMs);
    if (observation.kind === "tick") for (const watch of this.#watches.values()) this.#ask(watch, nowMs);
    for (const watch of this.#watches.values()) this.#judge(watch, nowMs);
    for (const node of this.#own.overdue(nowMs)) this.#effects.push({ kind: "ping", node });
    if (this.#own.isLost(nowMs)) this.#effects.push({ kind: "unwatched" });
    this.#turnedMs = nowMs;
    this.#due = undefined;
    return this.#effects.splice(0);
  }

  nextDeadlineMs(): number | undefined {
    this.#due ??= { ms: this.#nextDeadlineMs(this.#turnedMs) };
    return this.#due.ms;
  }

  /** Who watches `node`, and how it fares where this node does; undefined for one that leads nothing. */
  watched(node: string, nowMs: number): WatchedMember | undefined {
    const by = this.#watchersOf.get(node);
    if (by === undefined) return undefined;
    const watch = this.#watches.get(node);
    if (watch === undefined) return { by };
    return {
      by,
      own: {
        longestSilenceMs: this.#historyOf(node).ms(nowMs),
        deadlineMs: watch.deadlineMs(nowMs, this.#contextOf(watch)),
        lastProof: watch.lastProof,
        lastProofMs: watch.lastProofMs,
        isAccused: watch.isAccused,
      },
    };
  }

  lastProofMs(node: string): number | undefined {
    return this.#watches.get(node)?.lastProofMs ?? this.#lastProofMs.get(node);
  }

  watchedHere(): readonly string[] {
    return [...this.#watches.keys()];
  }

  /** Whom the fence asks (DESIGN D7). */
  ownWatchers(): readonly string[] {
    return this.#watchersOf.get(this.#options.self) ?? [];
  }

  counters(): FastCounters {
    return { ...this.#counters, accusations: { ...this.#counters.accusations } };
  }

  /** What was not heard while our own loop stood proves nothing. */
  #noteLateness(nowMs: number): void {
    // Time since a turn is no more than the lateness: the deadline need not be known.
    if (nowMs - this.#turnedMs <= this.#timing.lateMs) return;
    const dueMs = this.nextDeadlineMs();
    if (dueMs === undefined) return;
    // A deadline that was over before counts from the turn that noted it, so that no lateness is noted twice.
    const lateMs = nowMs - Math.max(dueMs, this.#turnedMs);
    if (lateMs <= this.#timing.lateMs) return;
    for (const watch of this.#watches.values()) watch.discount(lateMs);
    this.#own.discount(lateMs);
  }

  #take(observation: FastObservation, nowMs: number): void {
    switch (observation.kind) {
      case "view":
        return this.#takeView(observation.view, observation.members, nowMs);
      case "member":
        return this.#takeMember(observation.node, observation.incarnation, observation.isPresent, nowMs);
      case "proof":
        if (this.#watches.get(observation.node)?.prove(observation.by, nowMs) === true) {
          this.#counters.accusationsOverruled++;
        }
        return;
      case "answered":
        this.#own.heard(observation.node, nowMs);
        for (const watch of this.#watches.values()) {
          if (watch.node !== observation.node) watch.othersAnswered(nowMs);
        }
        return;
      case "accepted":
        return this.#watches.get(observation.node)?.accepted(observation.incarnation, nowMs);
      case "refused":
        return this.#watches.get(observation.node)?.refused(observation.incarnation, nowMs);
      case "host-answered":
        return this.#watches.get(observation.node)?.hostAnswered(nowMs);
      case "unreachable":
        return this.#watches.get(observation.node)?.unreachable(nowMs);
      case "accused":
        // Our own voice counts by what we see ourselves, not by what others repeat of it.
        if (observation.by === this.#options.self) return;
        return this.#watches.get(observation.node)?.accusedBy(observation.by, observation.incarnation, nowMs);
      case "pinged":
        return this.#own.pinged(observation.by, nowMs);
      case "tick":
        return;
    }
  }

  #takeView(view: WatchView, members: ReadonlyMap<string, number>, nowMs: number): void {
    const { self } = this.#options;
    if (view.hasLink !== this.#view.hasLink) for (const watch of this.#watches.values()) watch.restart(nowMs);
    this.#view = view;
    this.#members = members.size;
    this.#contexts.clear();
    this.#leaders = new Map(view.leaders.map((leader) => [leader.node, leader]));
    this.#watchersOf = new Map(
      view.leaders.map((leader) => [leader.node, this.#choice.watchersOf(leader, view.watchers)]),
    );
    for (const [node, watchers] of this.#watchersOf) {
      const incarnation = members.get(node);
      if (node === self || incarnation === undefined || !watchers.includes(self)) continue;
      const known = this.#watches.get(node);
      if (known === undefined) this.#begin(node, incarnation, nowMs);
      else this.#reincarnate(known, incarnation, nowMs);
    }
    for (const node of this.#watches.keys()) {
      const isMine = members.has(node) && this.#watchersOf.get(node)?.includes(self) === true;
      if (!isMine) this.#watches.delete(node);
    }
    this.#own.set(this.ownWatchers(), nowMs);
  }

  #begin(node: string, incarnation: number, nowMs: number): void {
    const firstPingMs = nowMs + this.#options.phase() * this.#timing.pingIntervalMs;
    this.#watches.set(node, new Watch(node, incarnation, this.#historyOf(node), this.#timing, nowMs, firstPingMs));
  }

  #historyOf(node: string): LongestSilence {
    const known = this.#histories.get(node);
    if (known !== undefined) return known;
    if (this.#histories.size >= MAX_HISTORIES) this.#histories.clear();
    const history = new LongestSilence();
    this.#histories.set(node, history);
    return history;
  }

  #takeMember(node: string, incarnation: number, isPresent: boolean, nowMs: number): void {
    const watch = this.#watches.get(node);
    if (!isPresent) {
      if (watch !== undefined) this.#lastProofMs.set(node, watch.lastProofMs);
      this.#watches.delete(node);
      return;
    }
    if (watch !== undefined) this.#reincarnate(watch, incarnation, nowMs);
    this.#lastProofMs.delete(node);
    const sentencedMs = this.#sentencedMs.get(node);
    if (sentencedMs === undefined) return;
    this.#sentencedMs.delete(node);
    if (nowMs - sentencedMs < OVERRULED_MS) this.#counters.verdictsOverruled++;
  }

  #reincarnate(watch: Watch, incarnation: number, nowMs: number): void {
    if (watch.reincarnate(incarnation, nowMs)) this.#counters.accusationsOverruled++;
  }

  #ask(watch: Watch, nowMs: number): void {
    if (watch.isSentenced) return;
    watch.ask(nowMs, this.#contextOf(watch), (effect) => this.#effects.push(effect));
  }

  #judge(watch: Watch, nowMs: number): void {
    if (!this.#view.hasLink) return;
    const context = this.#contextOf(watch);
    const { node, incarnation } = watch;
    const evidence = watch.findReason(nowMs, context);
    if (evidence !== undefined) {
      this.#counters.accusations[evidence]++;
      this.#effects.push({ kind: "suspect", node, incarnation });
    }
    if (watch.isToBeSaid(nowMs)) {
      this.#effects.push({ kind: "tell-suspect", node, incarnation, to: this.#audienceOf(node) });
    }
    if (watch.isAccused && !watch.isSentenced) this.#sentence(watch, context, nowMs);
  }

  /** Two accusers of one incarnation, of whom we are one; or we alone, when nobody else could be the second. */
  #sentence(watch: Watch, { isLone }: WatchContext, nowMs: number): void {
    const supporters = watch.accusers(nowMs).filter((name) => name !== watch.node);
    if (!isLone && supporters.length === 0) return;
    if (!this.#brake.allows(this.#members, nowMs)) {
      if (this.#brakedUntilMs === Number.POSITIVE_INFINITY) this.#counters.verdictsBraked++;
      this.#brakedUntilMs = this.#brake.nextMs();
      return;
    }
    this.#brake.given(nowMs);
    this.#brakedUntilMs = Number.POSITIVE_INFINITY;
    this.#counters.verdicts++;
    this.#sentencedMs.set(watch.node, nowMs);
    watch.isSentenced = true;
    this.#effects.push({ kind: "dead", node: watch.node, incarnation: watch.incarnation });
  }

  /** The accused, the other watchers, and the seconds. */
  #audienceOf(node: string): readonly string[] {
    const names = [node, ...(this.#watchersOf.get(node) ?? []), ...(this.#leaders.get(node)?.seconds ?? [])];
    return [...new Set(names)].filter((name) => name !== this.#options.self);
  }

  #contextOf({ node }: Watch): WatchContext {
    const known = this.#contexts.get(node);
    if (known !== undefined) return known;
    const { self } = this.#options;
    const otherWatchers = (this.#watchersOf.get(node) ?? []).filter((name) => name !== self);
    const goAccusers = this.#view.goMembers.filter((name) => name !== node);
    const context = { isLone: otherWatchers.length + goAccusers.length === 0, hasHelpers: this.#members > 2 };
    this.#contexts.set(node, context);
    return context;
  }

  #nextDeadlineMs(nowMs: number): number | undefined {
    let nextMs = this.#own.nextDeadlineMs();
    for (const watch of this.#watches.values()) {
      if (watch.isSentenced) continue;
      nextMs = Math.min(nextMs, watch.nextQuestionMs());
      if (this.#view.hasLink) nextMs = Math.min(nextMs, watch.nextJudgementMs(nowMs, this.#contextOf(watch)));
    }
    if (this.#brakedUntilMs > nowMs) nextMs = Math.min(nextMs, this.#brakedUntilMs);
    return Number.isFinite(nextMs) ? nextMs : undefined;
  }
}
