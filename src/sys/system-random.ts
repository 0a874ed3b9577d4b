/** Randomness of the operating system: also good for nonces. */
import { randomFillSync, randomInt } from "node:crypto";
import type { Random } from "../base/random.ts";

/** randomInt takes ranges below 2^48; this many bits fill a fraction well enough. */
const FLOAT_STEPS = 2 ** 47;
/** Drawn at once: a call to the system costs ten times what the 12 bytes of a nonce do. */
const POOL_BYTES = 4_096;

export class SystemRandom implements Random {
  readonly #pool = new Uint8Array(POOL_BYTES);
  /** Bytes of the pool that were given away. */
  #used = POOL_BYTES;

  float(): number {
    return randomInt(FLOAT_STEPS) / FLOAT_STEPS;
  }

  below(bound: number): number {
    return bound < 1 ? 0 : randomInt(Math.floor(bound));
  }

  bytes(count: number): Uint8Array {
    if (count > POOL_BYTES) return randomFillSync(new Uint8Array(count));
    if (this.#used + count > POOL_BYTES) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    const bytes = this.#pool.slice(this.#used, this.#used + count);
    this.#used += count;
    return bytes;
  }
}
