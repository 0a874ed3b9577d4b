/** Values by key, each of which falls due at some time, in ms of one monotonic clock. Pure, but for its own state. */

export class DueMap<Key, Value> {
  readonly #dueMsOf: (value: Value) => number;
  readonly #values = new Map<Key, Value>();
  /** Nothing falls due earlier: thousands are not walked at every event. Early, after the first one has gone. */
  #quietUntilMs = Number.POSITIVE_INFINITY;

  /** `dueMsOf`: minus infinity is at once, infinity never. What it says of a value changes by `set` alone. */
  constructor(dueMsOf: (value: Value) => number) {
    this.#dueMsOf = dueMsOf;
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key);
  }

  has(key: Key): boolean {
    return this.#values.has(key);
  }

  set(key: Key, value: Value): void {
    this.#values.set(key, value);
    this.#wake(this.#dueMsOf(value));
  }

  delete(key: Key): void {
    this.#values.delete(key);
  }

  /** Gives every value that is due to `next`, in the order of their keys' coming; what that returns stands afterwards, undefined: nothing. */
  advance(nowMs: number, next: (value: Value, key: Key) => Value | undefined): void {
    if (nowMs < this.#quietUntilMs) return;
    this.#quietUntilMs = Number.POSITIVE_INFINITY;
    for (const [key, value] of this.#values) {
      const dueMs = this.#dueMsOf(value);
      const after = dueMs > nowMs ? value : next(value, key);
      if (after === value) this.#wake(dueMs);
      else if (after === undefined) this.#values.delete(key);
      else this.set(key, after);
    }
  }

  /** It may come too early, and then nothing is due; undefined: never. */
  nextDeadlineMs(): number | undefined {
    const isIdle = this.#values.size === 0 || this.#quietUntilMs === Number.POSITIVE_INFINITY;
    return isIdle ? undefined : this.#quietUntilMs;
  }

  #wake(atMs: number): void {
    if (atMs < this.#quietUntilMs) this.#quietUntilMs = atMs;
  }
}
