/** Randomness as a port, so that a seed replays a run. */

export interface Random {
  /** Uniform in [0, 1). */
  float(): number;
  /** Uniform in [0, bound), an integer; 0 for a bound below 1. */
  below(bound: number): number;
  /** `count` bytes; a cryptographic source where they become a nonce. */
  bytes(count: number): Uint8Array;
}

/** A seeded generator (mulberry32): small, fast, good enough for schedules, never for keys. */
export class SeededRandom implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  float(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  below(bound: number): number {
    return Math.floor(this.float() * Math.max(0, bound));
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256));
  }
}

/** Shuffles a copy (Fisher-Yates). */
export function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const copy = [...items];
  for (let last = copy.length - 1; last > 0; last--) {
    const other = random.below(last + 1);
    const a = copy[last];
    const b = copy[other];
    if (a === undefined || b === undefined) continue;
    copy[last] = b;
    copy[other] = a;
  }
  return copy;
}
