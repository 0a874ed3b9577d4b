/** Many seeds on all cores: each worker takes the next seed when it is done with one. */
import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
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

/** `done` is called as outcomes come in, in no order. */
export async function runBatch(jobs: readonly Job[], done: (outcome: Outcome) => void): Promise<void> {
  const waiting = [...jobs];
  const workers = Math.min(jobs.length, availableParallelism());
  await Promise.all(Array.from({ length: workers }, () => runWorker(() => waiting.shift(), done)));
}

function runWorker(next: () => Job | undefined, done: (outcome: Outcome) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url));
    const offer = (): void => worker.postMessage(next());
    worker.on("message", (outcome: Outcome) => {
      done(outcome);
      offer();
    });
    worker.once("error", reject);
    worker.once("exit", () => resolve());
    offer();
  });
}

if (!isMainThread) {
  parentPort?.on("message", (job: Job | undefined) => {
    if (job === undefined) parentPort?.close();
    else parentPort?.postMessage(runJob(job));
  });
}
