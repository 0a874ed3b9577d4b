/** Work that is done again and again: one run after the other, at a time that the work itself names, or at once when it is asked for. */
import type { Clock, Timer } from "../../base/clock.ts";

export interface ChoreOptions {
  readonly clock: Clock;
  /** Resolves to the delay before the next run, in ms. */
  readonly work: () => Promise<number>;
  /** Of a fault of ours: the work is expected to deal with everything else. */
  readonly fail: (error: unknown) => void;
}

export class Chore {
  readonly #options: ChoreOptions;
  #timer: Timer | undefined;
  #isRunning = false;
  /** Something changed while it ran. */
  #isStale = false;
  #isClosed = false;

  constructor(options: ChoreOptions) {
    this.#options = options;
  }

  /** Also the first time. A run under way may not have seen what changed, so another follows it. */
  now(): void {
    if (this.#isClosed) return;
    this.#timer?.cancel();
    if (this.#isRunning) this.#isStale = true;
    else void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  async #run(): Promise<void> {
    const { clock, work, fail } = this.#options;
    this.#isRunning = true;
    try {
      const delayMs = await work();
      if (this.#isClosed) return;
      this.#timer = clock.schedule(this.#isStale ? 0 : delayMs, () => void this.#run());
    } catch (error) {
      fail(error);
    } finally {
      this.#isRunning = false;
      this.#isStale = false;
    }
  }
}
