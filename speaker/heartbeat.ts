/** The counters by which each thread shows the other that it still turns (DESIGN D16). */

export const HEARTBEAT_INTERVAL_MS = 100;
/** A counter that stands this long means a thread that hangs: /healthz then fails. */
export const HEARTBEAT_LOST_MS = 2_000;

/** Index of each thread's counter in the shared array. */
const SLOTS = { main: 0, wire: 1 } as const;
export type ThreadName = keyof typeof SLOTS;

export function createHeartbeats(): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
}

export function beat(beats: Int32Array<SharedArrayBuffer>, thread: ThreadName): void {
  Atomics.add(beats, SLOTS[thread], 1);
}

/** Watches another thread's counter; `ageMs` is how long it has stood. */
export class HeartbeatWatch {
  readonly #beats: Int32Array<SharedArrayBuffer>;
  readonly #slot: number;
  #last: number;
  #changedAtMs: number;

  constructor(beats: Int32Array<SharedArrayBuffer>, thread: ThreadName, nowMs: number) {
    this.#beats = beats;
    this.#slot = SLOTS[thread];
    this.#last = Atomics.load(beats, this.#slot);
    this.#changedAtMs = nowMs;
  }

  ageMs(nowMs: number): number {
    const current = Atomics.load(this.#beats, this.#slot);
    if (current !== this.#last) {
      this.#last = current;
      this.#changedAtMs = nowMs;
    }
    return nowMs - this.#changedAtMs;
  }
}
