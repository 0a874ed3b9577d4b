/**
 * A process's thread on the virtual clock, turned as libuv turns it: due timers, then input until none is left, then the
 * callbacks of the check phase (`setImmediate`). A loop that stands still keeps what arrives, and reads it in that order.
 */
import type { Clock, Timer, VirtualClock } from "../../src/base/clock.ts";

/** Node makes a millisecond of every shorter delay. */
const LEAST_DELAY_MS = 1;
/** More than two clocks of different rates differ by in rounding: a timer never fires before its time. */
const ROUNDING_MS = 1e-6;

/** At one instant: more is a process that spins. */
const MOST_TURNS = 10_000;

interface LoopTimer {
  readonly atMs: number;
  readonly order: number;
  readonly callback: () => void;
  isCancelled: boolean;
}

export interface Standstill {
  readonly durationMs: number;
  /** What arrived meanwhile is still there afterwards (a stopped process), or not (a stopped machine). */
  readonly keepsQueues: boolean;
  /** CLOCK_BOOTTIME went on meanwhile, or the machine's clock stood too (a paused guest). */
  readonly isGapVisible: boolean;
}

export class ProcessLoop implements Clock {
  readonly #world: VirtualClock;
  readonly #rate: number;
  readonly #bornMs: number;
  /** Time that this machine's clock never saw. */
  #hiddenMs = 0;
  #wallStepMs = 0;
  #timers: LoopTimer[] = [];
  #order = 0;
  #input: { readonly read: () => void; readonly isLossy: boolean }[] = [];
  #checks: (() => void)[] = [];
  #wake: { readonly atMs: number; readonly timer: Timer } | undefined;
  /** Set until the standstill has ended: other events of its last instant must not run before its clock is right again. */
  #standsUntilMs: number | undefined;
  #isTurning = false;
  #isOver = false;
  #turns = 0;

  /** `ratePpm`: how much faster this clock runs than the world's. */
  constructor(world: VirtualClock, ratePpm: number) {
    this.#world = world;
    this.#rate = 1 + ratePpm / 1e6;
    this.#bornMs = world.nowMs();
  }

  get isStanding(): boolean {
    return this.#standsUntilMs !== undefined;
  }

  get isTurning(): boolean {
    return this.#isTurning;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Turns in which anything ran: between two of them nothing of the process has changed. */
  get turns(): number {
    return this.#turns;
  }

  nowMs(): number {
    return (this.#world.nowMs() - this.#bornMs - this.#hiddenMs) * this.#rate + 1_000;
  }

  wallMs(): number {
    return this.#world.wallMs() + this.#wallStepMs;
  }

  stepWall(byMs: number): void {
    this.#wallStepMs += byMs;
  }

  schedule(delayMs: number, callback: () => void): Timer {
    const timer = {
      atMs: this.nowMs() + Math.max(LEAST_DELAY_MS, delayMs),
      order: this.#order++,
      callback,
      isCancelled: false,
    };
    let at = this.#timers.length;
    while (at > 0 && (this.#timers[at - 1]?.atMs ?? 0) > timer.atMs) at--;
    this.#timers.splice(at, 0, timer);
    if (at === 0) this.#rearm();
    return { cancel: () => void (timer.isCancelled = true) };
  }

  /** `setImmediate`. */
  afterPoll(callback: () => void): void {
    this.#checks.push(callback);
    if (!this.#isTurning) this.#world.schedule(0, () => this.turn());
  }

  /** A socket became readable: `read` runs in the poll phase of this or the next turn. */
  post(read: () => void): void {
    this.#post(read, true);
  }

  /** As `post`, for what its sender repeats until it arrives: streams, the API's watch, netlink. */
  postReliably(read: () => void): void {
    this.#post(read, false);
  }

  #post(read: () => void, isLossy: boolean): void {
    if (this.#isOver) return;
    this.#input.push({ read, isLossy });
    this.turn();
  }

  /** One or more turns, until nothing is due. Does nothing while the loop stands or turns already. */
  turn(): void {
    if (this.#isTurning || this.#isOver || this.isStanding) return;
    this.#isTurning = true;
    for (let turns = 0; !this.#isOver && this.#turnOnce(); turns++) {
      if (turns > MOST_TURNS) throw new Error(`a loop that never rests, at ${this.#world.nowMs()} ms`);
    }
    this.#isTurning = false;
    this.#rearm();
  }

  /** `goOn`: the rest of what it was stopped in. */
  stand({ durationMs, keepsQueues, isGapVisible }: Standstill, goOn?: () => void): void {
    const nowMs = this.#world.nowMs();
    const untilMs = Math.max(this.#standsUntilMs ?? 0, nowMs + durationMs);
    this.#standsUntilMs = untilMs;
    this.#world.schedule(untilMs - nowMs, () => {
      if (this.#standsUntilMs !== untilMs || this.#isOver) return;
      if (!keepsQueues) this.#input = this.#input.filter((input) => !input.isLossy);
      if (!isGapVisible) this.#hiddenMs += untilMs - nowMs;
      this.#standsUntilMs = undefined;
      goOn?.();
      this.turn();
    });
  }

  /** The process is gone: nothing runs any more. */
  end(): void {
    this.#isOver = true;
    this.#timers = [];
    this.#input = [];
    this.#checks = [];
    this.#wake?.timer.cancel();
  }

  #turnOnce(): boolean {
    let hasRun = false;
    const nowMs = this.nowMs();
    const timersBefore = this.#order;
    for (let next = this.#nextTimer(); next !== undefined && next.atMs <= nowMs; next = this.#nextTimer()) {
      // As libuv: a timer started in this phase waits for the next turn.
      if (next.order >= timersBefore) break;
      this.#timers.shift();
      next.callback();
      hasRun = true;
    }
    for (let input = this.#input.shift(); input !== undefined; input = this.#input.shift()) {
      input.read();
      hasRun = true;
    }
    if (this.#checks.length > 0) {
      for (const check of this.#checks.splice(0)) check();
      hasRun = true;
    }
    if (hasRun) this.#turns++;
    return hasRun || this.#checks.length > 0;
  }

  #nextTimer(): LoopTimer | undefined {
    while (this.#timers[0]?.isCancelled === true) this.#timers.shift();
    return this.#timers[0];
  }

  /** Keeps one timer of the world at the time of the next of ours. */
  #rearm(): void {
    const next = this.#nextTimer();
    if (next === undefined || this.#isTurning || this.#isOver) return;
    const atMs = this.#world.nowMs() + Math.max(0, (next.atMs - this.nowMs()) / this.#rate) + ROUNDING_MS;
    const pending = this.#wake;
    if (pending !== undefined && Math.abs(pending.atMs - atMs) < 1e-6 && pending.atMs > this.#world.nowMs()) return;
    pending?.timer.cancel();
    this.#wake = { atMs, timer: this.#world.schedule(atMs - this.#world.nowMs(), () => this.turn()) };
  }
}
