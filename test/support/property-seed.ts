/**
 * Properties draw the same values in every run of the whole suite, so that none fails for a change that it has nothing to do with.
 * PROPERTY_SEED=new draws others, and PROPERTY_SEED=N those of seed N (fast-check names it when a property fails).
 */
import { randomInt } from "node:crypto";
import fc from "fast-check";

const FIXED_SEED = 20_260_101;

export const mochaHooks = {
  beforeAll(): void {
    const wanted = process.env["PROPERTY_SEED"];
    const seed = wanted === undefined ? FIXED_SEED : wanted === "new" ? randomInt(2 ** 31) : Number(wanted);
    if (wanted !== undefined) process.stdout.write(`properties: seed ${seed}\n`);
    fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
  },
};
