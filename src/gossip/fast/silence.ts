/** How long a member was silent, as far as the silence says something about it, and how long it usually is (DESIGN D7). */

/** Silences are remembered for so long. */
const REMEMBERED_MS = 600_000;
const SLICES = 10;
const SLICE_MS = REMEMBERED_MS / SLICES;

/** The longest silence of the last ten minutes that ended well, in slices of a minute: forgotten within eleven. */
export class LongestSilence {
  #slices: { readonly slice: number; longestMs: number }[] = [];

  add(silentMs: number, nowMs: number): void {
    const slice = Math.floor(nowMs / SLICE_MS);
    const last = this.#slices.at(-1);
    if (last?.slice === slice) last.longestMs = Math.max(last.longestMs, silentMs);
    else
      this.#slices = [...this.#slices.filter((known) => known.slice > slice - SLICES), { slice, longestMs: silentMs }];
  }

  ms(nowMs: number): number {
    const oldest = Math.floor(nowMs / SLICE_MS) - SLICES;
    return this.#slices.reduce((most, { slice, longestMs }) => (slice > oldest ? Math.max(most, longestMs) : most), 0);
  }
}

/** The silence that lasts. */
export class Silence {
  #provedMs: number;
  #uncountedMs = 0;

  constructor(nowMs: number) {
    this.#provedMs = nowMs;
  }

  get provedMs(): number {
    return this.#provedMs;
  }

  /** Time of the silence that counts. */
  countedMs(nowMs: number): number {
    return Math.max(0, nowMs - this.#provedMs - this.#uncountedMs);
  }

  /** Takes out time in which nothing could have been heard. */
  discount(byMs: number): void {
    this.#uncountedMs += Math.max(0, byMs);
  }

  /** A sign of life ends it; how long it counted. */
  end(nowMs: number): number {
    const silentMs = this.countedMs(nowMs);
    this.#provedMs = nowMs;
    this.#uncountedMs = 0;
    return silentMs;
  }
}
