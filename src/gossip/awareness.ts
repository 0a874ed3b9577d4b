/** Lifeguard's local health: 0 is healthy, each point stretches our own probe interval by one (awareness.go). */
export class Awareness {
  readonly #bound: number;
  #score = 0;

  /** The score stays below `maxMultiplier`. */
  constructor(maxMultiplier: number) {
    this.#bound = Math.max(0, maxMultiplier - 1);
  }

  get score(): number {
    return this.#score;
  }

  change(by: number): void {
    this.#score = Math.min(this.#bound, Math.max(0, this.#score + by));
  }

  scale(durationMs: number): number {
    return durationMs * (this.#score + 1);
  }
}
