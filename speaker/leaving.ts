/** The departure of one speaker as it goes on; its rules are in `departure.ts`. */
import type { Rule } from "../src/election/word.ts";
import { beginGoodbye, type Departure, departureDeadlineMs, isGone, isOver, startDeparture } from "./departure.ts";

export class Leaving {
  #departure: Departure | undefined;

  get hasBegun(): boolean {
    return this.#departure !== undefined;
  }

  /** It is no candidate any more. */
  get isGone(): boolean {
    return this.#departure !== undefined && isGone(this.#departure);
  }

  get hasBegunGoodbye(): boolean {
    return this.#departure?.goodbyeMs !== undefined;
  }

  get deadlineMs(): number | undefined {
    return this.#departure === undefined ? undefined : departureDeadlineMs(this.#departure);
  }

  begin(nowMs: number): void {
    this.#departure ??= startDeparture(nowMs);
  }

  /** The cluster was told. */
  goodbyeSaid(): void {
    if (this.#departure !== undefined) this.#departure = { ...this.#departure, hasSaidGoodbye: true };
  }

  /** True when it is time to say goodbye: once. */
  saysGoodbye(rule: Rule, handsOver: boolean, nowMs: number): boolean {
    if (this.#departure === undefined) return false;
    const before = this.#departure;
    this.#departure = beginGoodbye(before, rule, handsOver, nowMs);
    return this.#departure !== before;
  }

  /** True when it has come to its end: once. */
  ends(handsOver: boolean, nowMs: number): boolean {
    if (this.#departure === undefined || this.#departure.isReported) return false;
    if (!isOver(this.#departure, handsOver, nowMs)) return false;
    this.#departure = { ...this.#departure, isReported: true };
    return true;
  }
}
