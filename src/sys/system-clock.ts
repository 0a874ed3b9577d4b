/** The machine's clock: CLOCK_BOOTTIME, so that a suspended machine knows how long it was away. */
import type { Clock, Timer } from "../base/clock.ts";
import { addon } from "./addon.ts";

/** setTimeout takes at most 2^31 - 1 ms; a longer wait is taken in steps. */
const MAX_TIMEOUT_MS = 0x7fffffff;

export class SystemClock implements Clock {
  nowMs(): number {
    return addon.boottimeMs();
  }

  wallMs(): number {
    return Date.now();
  }

  schedule(delayMs: number, callback: () => void): Timer {
    const atMs = this.nowMs() + Math.max(0, delayMs);
    let timeout: NodeJS.Timeout;
    // Node's timers count from the loop's cached time, rounded down, so one may fire up to a millisecond early.
    const wait = (): void => {
      const leftMs = atMs - this.nowMs();
      if (leftMs <= 0) callback();
      else timeout = setTimeout(wait, Math.min(Math.ceil(leftMs), MAX_TIMEOUT_MS));
    };
    timeout = setTimeout(wait, Math.min(Math.ceil(Math.max(0, delayMs)), MAX_TIMEOUT_MS));
    return { cancel: () => clearTimeout(timeout) };
  }
}
