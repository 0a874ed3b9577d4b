/**
 * Addresses of one family that are taken, as intervals: sorted, apart, and as long as they can be, so that the next free address after
 * any other is found by one binary search, whatever the size of the prefix it lies in.
 */

interface Interval {
  readonly first: bigint;
  readonly last: bigint;
}

export class IntervalSet {
  readonly #intervals: Interval[] = [];

  /** Fast when the values come in ascending order. */
  constructor(values: Iterable<bigint> = []) {
    for (const value of values) this.add(value);
  }

  has(value: bigint): boolean {
    const interval = this.#intervals[this.#lastNotAfter(value)];
    return interval !== undefined && interval.last >= value;
  }

  /** The value itself, or the first after it, that is not in the set. */
  firstFree(value: bigint): bigint {
    const interval = this.#intervals[this.#lastNotAfter(value)];
    return interval === undefined || interval.last < value ? value : interval.last + 1n;
  }

  add(value: bigint): void {
    const index = this.#lastNotAfter(value);
    const before = this.#intervals[index];
    if (before !== undefined && before.last >= value) return;
    const after = this.#intervals[index + 1];
    const touchesBefore = before !== undefined && before.last + 1n === value;
    const touchesAfter = after !== undefined && after.first === value + 1n;
    const joined = { first: touchesBefore ? before.first : value, last: touchesAfter ? after.last : value };
    const from = touchesBefore ? index : index + 1;
    this.#intervals.splice(from, Number(touchesBefore) + Number(touchesAfter), joined);
  }

  delete(value: bigint): void {
    const index = this.#lastNotAfter(value);
    const interval = this.#intervals[index];
    if (interval === undefined || interval.last < value) return;
    const parts: Interval[] = [];
    if (interval.first < value) parts.push({ first: interval.first, last: value - 1n });
    if (interval.last > value) parts.push({ first: value + 1n, last: interval.last });
    this.#intervals.splice(index, 1, ...parts);
  }

  /** The intervals, cut to what lies in first to last, ascending. */
  *within(first: bigint, last: bigint): Generator<Interval> {
    for (let index = Math.max(0, this.#lastNotAfter(first)); index < this.#intervals.length; index++) {
      const interval = this.#intervals[index];
      if (interval === undefined || interval.first > last) return;
      if (interval.last < first) continue;
      yield {
        first: interval.first < first ? first : interval.first,
        last: interval.last > last ? last : interval.last,
      };
    }
  }

  /** Index of the last interval that begins at or before the value; -1 when none does. */
  #lastNotAfter(value: bigint): number {
    const end = this.#intervals.length;
    // What is added in ascending order needs no search.
    if (end > 0 && (this.#intervals[end - 1]?.first ?? value) <= value) return end - 1;
    let low = 0;
    let high = end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#intervals[middle]?.first ?? value) <= value) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
