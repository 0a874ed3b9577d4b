/** One timer for the earliest of many deadlines. */
import type { Clock, Timer } from "../src/base/clock.ts";

export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #timer: Timer | undefined;
  #atMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Infinite: it is not set. */
  get atMs(): number {
    return this.#atMs;
  }

  /** Rings then, or earlier if that was asked for before. */
  set(atMs: number, nowMs: number): void {
    if (this.#timer !== undefined && this.#atMs <= atMs) return;
    this.cancel();
    this.#atMs = atMs;
    this.#timer = this.#clock.schedule(Math.max(0, atMs - nowMs), () => {
      this.#timer = undefined;
      this.#atMs = Number.POSITIVE_INFINITY;
      this.#ring();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#atMs = Number.POSITIVE_INFINITY;
  }
}
