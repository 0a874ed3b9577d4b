/** Many seeds on all cores. */
import { runPool, serveJobs } from "./pool.ts";
import { scenarioOf } from "./scenario.ts";
import { simulate } from "./simulate.ts";

export interface Job {
  readonly scenario: string;
  readonly seed: number;
}

/** A result that survives postMessage. */
export interface Outcome extends Job {
  readonly hash: string;
  readonly virtualMs: number;
  readonly counts: readonly (readonly [string, number])[];
  readonly violation?: string;
  readonly tail: readonly string[];
}

export function runJob({ scenario, seed }: Job, print?: (line: string) => void): Outcome {
  const found = scenarioOf(scenario);
  if (found === undefined) throw new Error(`no scenario ${scenario}`);
  const { hash, virtualMs, findings, violation, tail } = simulate(found, seed, print === undefined ? {} : { print });
  const outcome = { scenario, seed, hash, virtualMs, counts: findings.entries() };
  return violation === undefined ? { ...outcome, tail: [] } : { ...outcome, violation: violation.message, tail };
}

export function runBatch(jobs: readonly Job[], done: (outcome: Outcome) => void): Promise<void> {
  return runPool(new URL(import.meta.url), jobs, (outcome) => done(outcome as Outcome));
}

serveJobs((job: Job) => runJob(job));
