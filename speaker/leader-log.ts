/** One line for each address this node takes over; above 20 a second one summary line (issue: silent otherwise). */
import type { Clock } from "../src/base/clock.ts";
import type { Log } from "../src/base/log.ts";
import type { LeaderChange } from "./leadership.ts";

/** Single lines allowed in one second; further changes of that second are summed up in one line at its end. */
export const LINES_PER_SECOND = 20;

export class LeaderLog {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #nodeName: string;
  #windowEndsMs = Number.NEGATIVE_INFINITY;
  #lines = 0;
  #summed = 0;

  constructor(log: Log, clock: Clock, nodeName: string) {
    this.#log = log;
    this.#clock = clock;
    this.#nodeName = nodeName;
  }

  /** Only the new leader speaks; what others took is their line to write. */
  report(changes: readonly LeaderChange[]): void {
    for (const change of changes) if (change.to === this.#nodeName) this.#reportOne(change);
  }

  #reportOne(change: LeaderChange): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs >= this.#windowEndsMs) {
      this.#windowEndsMs = nowMs + 1_000;
      this.#lines = 0;
    }
    if (this.#lines < LINES_PER_SECOND) {
      this.#lines++;
      this.#log.info("leader changed", {
        address: change.ip,
        leader: this.#nodeName,
        previousLeader: change.from ?? "nobody",
        reason: change.reason,
      });
      return;
    }
    if (this.#summed === 0) this.#clock.schedule(this.#windowEndsMs - nowMs, () => this.#summarize());
    this.#summed++;
  }

  #summarize(): void {
    this.#log.info("leaders changed", { leader: this.#nodeName, addresses: this.#summed });
    this.#summed = 0;
  }
}
