/**
 * Which object is written next, and when: names only, so that what is written is always the newest state. A machine without
 * I/O; times are milliseconds of one monotonic clock. A name is taken, and then settled by exactly one of `idle`, `progressed`,
 * `failed` and `postponed`.
 */
import type { Random } from "../../base/random.ts";

export interface WriteLimits {
  readonly perSecond: number;
  readonly burst: number;
  /** Requests under way at one time. */
  readonly atOnce: number;
}

/** Full jitter over 0.25 s doubling to 30 s: the whole cluster comes back to an API server that was away. */
const PAUSE_MS = { first: 250, most: 30_000 };
/** Of one object alone; the first failure is tried again at once, because the object was only read too early. */
const FAILURE_MS = { first: 250, most: 300_000 };
/** A clock of this grain for what waits: thousands of names that wait cost one walk each time. */
const GRAIN_MS = 100;

interface Failure {
  readonly count: number;
  readonly untilMs: number;
}

export class WriteQueue {
  readonly #limits: WriteLimits;
  readonly #random: Random;
  /** Names that were written and go on: one object is brought to its end before the next. */
  readonly #first = new Set<string>();
  readonly #ready = new Set<string>();
  readonly #waiting = new Map<string, number>();
  readonly #taken = new Set<string>();
  readonly #failures = new Map<string, Failure>();
  /** The earliest of `#waiting`, or earlier. */
  #wakeMs = Number.POSITIVE_INFINITY;
  #tokens: number;
  #refilledMs = 0;
  #pauses = 0;
  #pausedUntilMs = 0;

  constructor(limits: WriteLimits, random: Random) {
    this.#limits = limits;
    this.#random = random;
    this.#tokens = limits.burst;
  }

  /** Names that something may have to be written for. */
  get size(): number {
    return this.#first.size + this.#ready.size + this.#waiting.size + this.#taken.size;
  }

  /** Nothing is under way, and nothing is due. */
  get isAtRest(): boolean {
    return this.#first.size + this.#ready.size + this.#taken.size === 0;
  }

  /** Whether something may have to be written; looked at once `atMs` has come, or earlier when it was marked so before. */
  mark(name: string, nowMs: number, atMs = nowMs): void {
    if (this.#taken.has(name) || this.#first.has(name) || this.#ready.has(name)) return;
    const dueMs = Math.max(atMs, this.#failures.get(name)?.untilMs ?? 0);
    if (dueMs <= nowMs) {
      this.#waiting.delete(name);
      this.#ready.add(name);
      return;
    }
    const wakeMs = Math.min(
      Math.ceil(dueMs / GRAIN_MS) * GRAIN_MS,
      this.#waiting.get(name) ?? Number.POSITIVE_INFINITY,
    );
    this.#waiting.set(name, wakeMs);
    this.#wakeMs = Math.min(this.#wakeMs, wakeMs);
  }

  /** The name to write now, if there is one, and the limits allow it. */
  take(nowMs: number): string | undefined {
    this.#promote(nowMs);
    this.#refill(nowMs);
    if (nowMs < this.#pausedUntilMs || this.#isFull() || this.#tokens < 1) return undefined;
    const [name] = this.#first.size > 0 ? this.#first : this.#ready;
    if (name === undefined) return undefined;
    this.#first.delete(name);
    this.#ready.delete(name);
    this.#taken.add(name);
    this.#tokens--;
    return name;
  }

  /** Nothing was to be written. */
  idle(name: string, nowMs: number, againAtMs?: number): void {
    this.#taken.delete(name);
    this.#failures.delete(name);
    this.#tokens = Math.min(this.#limits.burst, this.#tokens + 1);
    if (againAtMs !== undefined) this.mark(name, nowMs, againAtMs);
  }

  /** Read or written; the same name is looked at again before any other. `isWrite`: its failures are forgotten. */
  progressed(name: string, isWrite: boolean): void {
    this.#taken.delete(name);
    if (isWrite) this.#failures.delete(name);
    this.#resume();
    this.#first.add(name);
  }

  /** The server answered, but not as wished for; others go on. */
  failed(name: string, nowMs: number, leastMs = 0): void {
    this.#taken.delete(name);
    this.#resume();
    const count = (this.#failures.get(name)?.count ?? 0) + 1;
    const doubledMs = count === 1 ? 0 : Math.min(FAILURE_MS.first * 2 ** (count - 2), FAILURE_MS.most);
    this.#failures.set(name, { count, untilMs: nowMs + Math.max(leastMs, doubledMs) });
    this.mark(name, nowMs);
  }

  /** No answer, or a request to come later: everything waits, and one name alone tries again. */
  postponed(name: string, nowMs: number, retryAfterMs?: number): void {
    this.#taken.delete(name);
    this.#first.add(name);
    if (nowMs < this.#pausedUntilMs) return; // sent before the pause began
    const mostMs = Math.min(PAUSE_MS.first * 2 ** Math.min(this.#pauses, 16), PAUSE_MS.most);
    this.#pauses++;
    this.#pausedUntilMs = nowMs + (retryAfterMs ?? 1 + this.#random.float() * mostMs);
  }

  /** When `take` is worth a try; undefined: only after another call. */
  nextMs(nowMs: number): number | undefined {
    const isReady = this.#first.size + this.#ready.size > 0;
    if (this.#isFull() || (!isReady && this.#waiting.size === 0)) return undefined;
    const tokenMs = this.#tokens >= 1 ? 0 : this.#refilledMs + ((1 - this.#tokens) * 1_000) / this.#limits.perSecond;
    return Math.max(isReady ? nowMs : this.#wakeMs, this.#pausedUntilMs, Math.ceil(tokenMs));
  }

  #isFull(): boolean {
    return this.#taken.size >= (this.#pauses > 0 ? 1 : this.#limits.atOnce);
  }

  #resume(): void {
    this.#pauses = 0;
    this.#pausedUntilMs = 0;
  }

  #refill(nowMs: number): void {
    const earned = ((nowMs - this.#refilledMs) * this.#limits.perSecond) / 1_000;
    this.#tokens = Math.min(this.#limits.burst, this.#tokens + earned);
    this.#refilledMs = nowMs;
  }

  #promote(nowMs: number): void {
    if (nowMs < this.#wakeMs) return;
    this.#wakeMs = Number.POSITIVE_INFINITY;
    for (const [name, wakeMs] of this.#waiting) {
      if (wakeMs > nowMs) {
        this.#wakeMs = Math.min(this.#wakeMs, wakeMs);
        continue;
      }
      this.#waiting.delete(name);
      this.#ready.add(name);
    }
  }
}
