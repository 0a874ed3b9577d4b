/** What sums of fractions may be wrong by: a token that is there but for this is there. */
const TOLERANCE = 1e-6;

/** A token bucket in virtual time: `capacity` at once, `perSecond` in the long run. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #capacity: number;
  #tokens: number;
  #atMs: number;

  constructor(perSecond: number, capacity: number, nowMs: number) {
    this.#perMs = perSecond / 1_000;
    this.#capacity = capacity;
    this.#tokens = capacity;
    this.#atMs = nowMs;
  }

  /** Takes one token; false when there is none yet. */
  take(nowMs: number): boolean {
    this.#refill(nowMs);
    if (this.#tokens < 1 - TOLERANCE) return false;
    this.#tokens -= 1;
    return true;
  }

  /** When the next token is there, at `atMs` or later. */
  readyMs(atMs: number): number {
    const missing = 1 - this.#tokens;
    return missing <= TOLERANCE ? atMs : Math.max(atMs, this.#atMs + missing / this.#perMs);
  }

  #refill(nowMs: number): void {
    if (nowMs <= this.#atMs) return;
    this.#tokens = Math.min(this.#capacity, this.#tokens + (nowMs - this.#atMs) * this.#perMs);
    this.#atMs = nowMs;
  }
}
