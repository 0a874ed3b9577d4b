/** The best of many slots by few looks: most decisions name the first sixteen of a hundred, so nothing is sorted. Pure, but for scratch. */
import { CANDIDATES_KEPT } from "./decision.ts";
import { NO_PLACE } from "./eligibility.ts";

/** How many heads there are: a place and a head make one number, which orders by the place first. */
const HEADS = 2 ** 32;
const values = new Float64Array(CANDIDATES_KEPT);

/**
 * Slots by ascending place, then head, into `picked`, which has room for `CANDIDATES_KEPT`; how many they are. What has no place is
 * left out.
 * @param comesFirst of two slots with the same place and head
 */
export function pickBest(
  places: Uint16Array,
  heads: Uint32Array,
  picked: Uint32Array,
  comesFirst: (slot: number, other: number) => boolean,
): number {
  let count = 0;
  let worst = Number.POSITIVE_INFINITY;
  for (let slot = 0; slot < places.length; slot++) {
    const place = places[slot] ?? NO_PLACE;
    const value = place * HEADS + (heads[slot] ?? 0);
    if (value > worst || place === NO_PLACE) continue;
    let at = count;
    for (; at > 0; at--) {
      const other = values[at - 1] ?? 0;
      if (other < value || (other === value && !comesFirst(slot, picked[at - 1] ?? 0))) break;
    }
    if (at === CANDIDATES_KEPT) continue;
    if (count < CANDIDATES_KEPT) count++;
    for (let to = count - 1; to > at; to--) {
      values[to] = values[to - 1] ?? 0;
      picked[to] = picked[to - 1] ?? 0;
    }
    values[at] = value;
    picked[at] = slot;
    if (count === CANDIDATES_KEPT) worst = values[count - 1] ?? 0;
  }
  return count;
}

/** Whether `slot` is no candidate, or surely a worse one than the other. */
export function isBehind(slot: number, other: number, places: Uint16Array, heads: Uint32Array): boolean {
  const place = places[slot] ?? NO_PLACE;
  return place === NO_PLACE || place * HEADS + (heads[slot] ?? 0) > (places[other] ?? 0) * HEADS + (heads[other] ?? 0);
}
