/** How long to wait after failures in a row: doubling, with full jitter, so that a server that returns is not met by all at once. Pure. */
import type { Random } from "../../base/random.ts";

const FIRST_MS = 250;
const LONGEST_MS = 30_000;

/** Uniform between nothing and the step that `failures` (from 1) stands for. */
export function backOffMs(failures: number, random: Random): number {
  return random.float() * Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
}
