/** Members that were held dead and are heard again, and a death of its own that this node refuted: a merge of two sides, or a return (DESIGN D3, D6). */

/** A death refuted so soon after a lost member was heard again belongs to a healed partition: only the smaller side settles. */
const MERGE_WINDOW_MS = 2_000;

export class Reunion {
  readonly #rivals = new Set<string>();
  #isDeathRefuted = false;
  #heardAgainMs = Number.NEGATIVE_INFINITY;

  heardAgain(name: string, nowMs: number): void {
    this.#heardAgainMs = nowMs;
    this.#rivals.add(name);
  }

  refutedDeath(): void {
    this.#isDeathRefuted = true;
  }

  isMerging(nowMs: number): boolean {
    return nowMs - this.#heardAgainMs <= MERGE_WINDOW_MS;
  }

  /**
   * True once, when a death verdict was refuted outside a merge: `others` may have led in this node's place, and what it leads all the same
   * is to be claimed from them, and announced.
   */
  takeReplaced(others: Iterable<string>, nowMs: number): boolean {
    const isReplaced = this.#isDeathRefuted && !this.isMerging(nowMs);
    this.#isDeathRefuted = false;
    if (isReplaced) for (const name of others) this.#rivals.add(name);
    return isReplaced;
  }

  /** Each once: what is led here is to be claimed from them. */
  takeRivals(): readonly string[] {
    const rivals = [...this.#rivals];
    this.#rivals.clear();
    return rivals;
  }
}
