/** Jobs on all cores: each worker takes the next one when it is done with one. */
import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

/** Most of what a run makes is used once: a larger nursery is cleared less often. */
const YOUNG_MEGABYTES = 64;

/** `worker`: a module that calls `serveJobs`. `done` is called as results come in, in no order. */
export async function runPool(worker: URL, jobs: readonly unknown[], done: (result: unknown) => void): Promise<void> {
  const waiting = [...jobs];
  const workers = Math.min(jobs.length, availableParallelism());
  await Promise.all(Array.from({ length: workers }, () => runWorker(worker, () => waiting.shift(), done)));
}

function runWorker(url: URL, next: () => unknown, done: (result: unknown) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(url, { resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES } });
    const offer = (): void => worker.postMessage(next());
    worker.on("message", (result: unknown) => {
      done(result);
      offer();
    });
    worker.once("error", reject);
    worker.once("exit", () => resolve());
    offer();
  });
}

/** In a worker: does what comes, until nothing comes any more. In the main thread: nothing. */
export function serveJobs(run: (job: never) => unknown): void {
  if (isMainThread) return;
  parentPort?.on("message", (job: unknown) => {
    if (job === undefined) parentPort?.close();
    else parentPort?.postMessage(run(job as never));
  });
}
