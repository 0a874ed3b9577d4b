/**
 * How the others hear of what this node holds (DESIGN D4): directly and several times, for datagrams get lost. Whoever misses it all finds it in the user state of the next push/pull. Pure, but for its own state.
 */
import type { Ip } from "../src/net/ip.ts";

/** After it was written down, in ms. Later the wire is silent, until something changes. */
export const TOLD_OFFSETS_MS: readonly number[] = [0, 100, 400, 1_600, 4_000];
/** Of one datagram, about. */
const ADDRESSES_AT_ONCE = 150;
/** In one turn: about a millisecond of them. */
const DATAGRAMS_AT_ONCE = 40;

interface Series {
  readonly addresses: readonly Ip[];
  readonly startMs: number;
  /** How often it was said, and how far it is said once more. */
  said: number;
  place: number;
}

export interface Told {
  readonly to: readonly string[];
  readonly addresses: readonly Ip[];
}

export class HolderSpread {
  #series: Series[] = [];

  tell(addresses: readonly Ip[], nowMs: number): void {
    if (addresses.length > 0) this.#series.push({ addresses, startMs: nowMs, said: 0, place: 0 });
  }

  /** As much as one turn allows; each to everybody who is there now. */
  due(nowMs: number, everybody: Iterable<string>): readonly Told[] {
    const to = [...everybody];
    const told: Told[] = [];
    let left = DATAGRAMS_AT_ONCE;
    for (const series of this.#series) {
      while (left > 0 && nextMs(series) <= nowMs) {
        const addresses = series.addresses.slice(series.place, series.place + ADDRESSES_AT_ONCE);
        told.push({ to, addresses });
        left -= Math.max(1, to.length);
        series.place += ADDRESSES_AT_ONCE;
        if (series.place < series.addresses.length) continue;
        series.place = 0;
        series.said++;
      }
    }
    this.#series = this.#series.filter((series) => nextMs(series) < Number.POSITIVE_INFINITY);
    return told;
  }

  get deadlineMs(): number | undefined {
    return this.#series.length === 0 ? undefined : Math.min(...this.#series.map(nextMs));
  }
}

function nextMs({ startMs, said }: Series): number {
  return startMs + (TOLD_OFFSETS_MS[said] ?? Number.POSITIVE_INFINITY);
}
