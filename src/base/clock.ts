/** Time as a port. Durations are monotonic and count suspended time; wall time is for display only (DESIGN D16). */

/** A timer that its owner must cancel or let fire. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since an arbitrary start, never backwards; CLOCK_BOOTTIME where the system offers it. */
  nowMs(): number;
  /** Milliseconds since 1970, for display. */
  wallMs(): number;
  /** Calls back once, not before `delayMs` have passed. A timer callback only marks; see the driver rule in D16. */
  schedule(delayMs: number, callback: () => void): Timer;
}

const LOOK_MS = 10;

/** Looks every 10 ms; resolves when it holds, or after `limitMs`. */
export async function waitUntil(clock: Clock, holds: () => boolean, limitMs: number): Promise<void> {
  const untilMs = clock.nowMs() + limitMs;
  while (!holds() && clock.nowMs() < untilMs) {
    await new Promise<void>((resolve) => void clock.schedule(LOOK_MS, resolve));
  }
}

interface VirtualTimer {
  readonly atMs: number;
  readonly order: number;
  readonly callback: () => void;
  cancelled: boolean;
}

/** A clock that stands still until told to advance: whole clusters run on one in tests. */
export class VirtualClock implements Clock {
  #nowMs: number;
  #order = 0;
  #timers: VirtualTimer[] = [];
  readonly #wallStartMs: number;

  constructor(startMs = 0, wallStartMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
    this.#wallStartMs = wallStartMs - startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#wallStartMs + this.#nowMs;
  }

  schedule(delayMs: number, callback: () => void): Timer {
    const timer = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, callback, cancelled: false };
    this.#insert(timer);
    return { cancel: () => void (timer.cancelled = true) };
  }

  /** Time of the next timer, or undefined when none is left. */
  nextMs(): number | undefined {
    this.#dropCancelled();
    return this.#timers[0]?.atMs;
  }

  /** Runs the next timer, moving time to it; false when none is left. */
  step(): boolean {
    this.#dropCancelled();
    const timer = this.#timers.shift();
    if (timer === undefined) return false;
    this.#nowMs = Math.max(this.#nowMs, timer.atMs);
    timer.callback();
    return true;
  }

  /** Runs every timer that is due within `durationMs`, in order, then stands at its end. */
  advance(durationMs: number): void {
    const endMs = this.#nowMs + durationMs;
    for (let next = this.nextMs(); next !== undefined && next <= endMs; next = this.nextMs()) this.step();
    this.#nowMs = endMs;
  }

  #dropCancelled(): void {
    while (this.#timers[0]?.cancelled === true) this.#timers.shift();
  }

  /** Keeps the list sorted by time, then by order of scheduling, so that a run is repeatable. */
  #insert(timer: VirtualTimer): void {
    let low = 0;
    let high = this.#timers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#timers[middle];
      if (other !== undefined && other.atMs <= timer.atMs) low = middle + 1;
      else high = middle;
    }
    this.#timers.splice(low, 0, timer);
  }
}
