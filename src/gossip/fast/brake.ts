/** How many fast verdicts one node may give (DESIGN D7): whoever finds a third of the cluster dead at once should doubt itself. */

import { FAST_TIMING } from "./fast-timing.ts";

export class Brake {
  readonly #windowMs: number;
  #givenMs: number[] = [];

  constructor({ brakeMs } = FAST_TIMING) {
    this.#windowMs = brakeMs;
  }

  /** `members`: alive and suspect ones, ourselves among them. */
  allows(members: number, nowMs: number): boolean {
    this.#givenMs = this.#givenMs.filter((atMs) => nowMs - atMs < this.#windowMs);
    return this.#givenMs.length < Math.max(1, Math.floor((members - 1) / 3));
  }

  given(nowMs: number): void {
    this.#givenMs.push(nowMs);
  }

  /** When the next verdict may be allowed, if it is not now. */
  nextMs(): number {
    return (this.#givenMs[0] ?? Number.NEGATIVE_INFINITY) + this.#windowMs;
  }
}
