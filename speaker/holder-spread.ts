/**
 * How the others hear of what this node holds (DESIGN D4): directly and several times, for datagrams get lost, and once more when one
 * joins. Whoever misses it all finds it in the user state of the next push/pull. Pure, but for its own state.
 */
import type { Ip } from "../src/net/ip.ts";

/** After it was written down, in ms. Later the wire is silent, until something changes. */
export const TOLD_OFFSETS_MS: readonly number[] = [0, 100, 400, 1_600, 4_000];
/** Of one datagram, about. */
const ADDRESSES_AT_ONCE = 150;
/** In one turn: about a millisecond of them. */
const DATAGRAMS_AT_ONCE = 40;

interface Series {
  /** Undefined: everybody who is there when it is said. */
  readonly to: readonly string[] | undefined;
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

  /** `to`: whom it is for; absent: everybody. */
  tell(addresses: readonly Ip[], nowMs: number, to?: readonly string[]): void {
    if (addresses.length > 0) this.#series.push({ to, addresses, startMs: nowMs, said: 0, place: 0 });
  }

  /** As much as one turn allows. */
  due(nowMs: number, everybody: Iterable<string>): readonly Told[] {
    const all = [...everybody];
    const told: Told[] = [];
    let left = DATAGRAMS_AT_ONCE;
    for (const series of this.#series) {
      while (left > 0 && nextMs(series) <= nowMs) {
        const to = series.to ?? all;
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
