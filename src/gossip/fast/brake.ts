/** How many fast verdicts one node may give (DESIGN D7): whoever finds a third of the cluster dead at once should doubt itself. */

const WINDOW_MS = 2_000;

export class Brake {
  #givenMs: number[] = [];

  /** `members`: alive and suspect ones, ourselves among them. */
  allows(members: number, nowMs: number): boolean {
    this.#givenMs = this.#givenMs.filter((atMs) => nowMs - atMs < WINDOW_MS);
    return this.#givenMs.length < Math.max(1, Math.floor((members - 1) / 3));
  }

  given(nowMs: number): void {
    this.#givenMs.push(nowMs);
  }

  /** When the next verdict may be allowed, if it is not now. */
  nextMs(): number {
    return (this.#givenMs[0] ?? Number.NEGATIVE_INFINITY) + WINDOW_MS;
  }
}
