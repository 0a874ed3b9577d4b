/** A process of the memory network whose turns are timed, in processor time of this thread. */
import type { Timer, VirtualClock } from "../../src/base/clock.ts";
import { MemoryHost } from "../../src/gossip/memory-host.ts";
import { threadMs } from "../speaker/thread-time.ts";

export interface Turns {
  readonly longestMs: number;
  readonly totalMs: number;
  readonly turns: number;
  /** How many took longer than the budget. */
  readonly long: number;
}

const NONE: Turns = { longestMs: 0, totalMs: 0, turns: 0, long: 0 };

export class TimedHost extends MemoryHost {
  readonly #budgetMs: number;
  #found = NONE;
  #isInTurn = false;

  constructor(clock: VirtualClock, budgetMs: number) {
    super(clock);
    this.#budgetMs = budgetMs;
  }

  override schedule(delayMs: number, callback: () => void): Timer {
    return super.schedule(delayMs, () => this.turn(callback));
  }

  override afterReads(callback: () => void): void {
    super.afterReads(() => this.turn(callback));
  }

  override deliver(read: () => void): void {
    super.deliver(() => this.turn(read));
  }

  turn(run: () => void): void {
    if (this.#isInTurn) return run();
    this.#isInTurn = true;
    const beforeMs = threadMs();
    try {
      run();
    } finally {
      this.#isInTurn = false;
      this.#note(threadMs() - beforeMs);
    }
  }

  /** What was found since the last call. */
  take(): Turns {
    const found = this.#found;
    this.#found = NONE;
    return found;
  }

  #note(tookMs: number): void {
    const { longestMs, totalMs, turns, long } = this.#found;
    this.#found = {
      longestMs: Math.max(longestMs, tookMs),
      totalMs: totalMs + tookMs,
      turns: turns + 1,
      long: long + (tookMs > this.#budgetMs ? 1 : 0),
    };
  }
}
