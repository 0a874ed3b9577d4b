/** A leader listens for its watchers (DESIGN D7, the fence): whoever is not pinged any more may have been replaced. */
import { FAST_TIMING } from "./fast-timing.ts";

export class OwnWatchers {
  /** So long without a ping, though there were some. */
  readonly #unwatchedMs: number;
  /** Before that it asks them itself: a watcher that only sees things otherwise silences nobody. */
  readonly #asksAfterMs: number;
  #watchers: readonly string[] = [];
  /** Last contact with a watcher; undefined until one has pinged, and after the loss was told. */
  #heardMs: number | undefined;
  #hasAsked = false;

  constructor({ unwatchedMs, unwatchedAskMs } = FAST_TIMING) {
    this.#unwatchedMs = unwatchedMs;
    this.#asksAfterMs = unwatchedAskMs;
  }

  /** Who watches from now on; whoever is new gets time to begin. */
  set(watchers: readonly string[], nowMs: number): void {
    const hasNew = watchers.some((name) => !this.#watchers.includes(name));
    this.#watchers = watchers;
    if (watchers.length === 0) this.#heardMs = undefined;
    else if (hasNew && this.#heardMs !== undefined) this.#hear(nowMs);
  }

  pinged(by: string, nowMs: number): void {
    if (this.#watchers.includes(by)) this.#hear(nowMs);
  }

  /** It answered us: it would have said, too, that it holds us dead. */
  heard(from: string, nowMs: number): void {
    if (this.#heardMs !== undefined && this.#watchers.includes(from)) this.#hear(nowMs);
  }

  discount(byMs: number): void {
    if (this.#heardMs !== undefined) this.#heardMs += byMs;
  }

  /** Once, whom to ask because none has pinged for a while. */
  overdue(nowMs: number): readonly string[] {
    if (this.#heardMs === undefined || this.#hasAsked || nowMs - this.#heardMs < this.#asksAfterMs) return [];
    this.#hasAsked = true;
    return this.#watchers;
  }

  /** True once, when the time is over. */
  isLost(nowMs: number): boolean {
    if (this.#heardMs === undefined || nowMs - this.#heardMs < this.#unwatchedMs) return false;
    this.#heardMs = undefined;
    return true;
  }

  nextDeadlineMs(): number {
    if (this.#heardMs === undefined) return Number.POSITIVE_INFINITY;
    return this.#heardMs + (this.#hasAsked ? this.#unwatchedMs : this.#asksAfterMs);
  }

  #hear(nowMs: number): void {
    this.#heardMs = nowMs;
    this.#hasAsked = false;
  }
}
