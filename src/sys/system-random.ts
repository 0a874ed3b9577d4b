/** Randomness of the operating system: also good for nonces. */
import { randomBytes, randomInt } from "node:crypto";
import type { Random } from "../base/random.ts";

/** randomInt takes ranges below 2^48; this many bits fill a fraction well enough. */
const FLOAT_STEPS = 2 ** 47;

export class SystemRandom implements Random {
  float(): number {
    return randomInt(FLOAT_STEPS) / FLOAT_STEPS;
  }

  below(bound: number): number {
    return bound < 1 ? 0 : randomInt(Math.floor(bound));
  }

  bytes(count: number): Uint8Array {
    return randomBytes(count);
  }
}
