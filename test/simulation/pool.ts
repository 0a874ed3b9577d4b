/** Jobs on all cores: each worker takes the next one when it is done with one. */
import { type ChildProcess, fork } from "node:child_process";
import { availableParallelism } from "node:os";

/**
 * Most of what a run makes is used once: a larger nursery is cleared less often. All cores are busy: threads that help to collect
 * garbage would only take turns with those whose garbage it is.
 */
const V8_OPTIONS = ["--max-semi-space-size=64", "--single-threaded-gc", "--enable-source-maps"];
/** Small buffers are cut out of larger ones: the larger these are, the fewer are made. */
const BUFFER_POOL_BYTES = 1 << 18;
const SERVES_JOBS = "serve-jobs";

/** `worker`: a module that calls `serveJobs`. `done` is called as results come in, in no order. */
export async function runPool(worker: URL, jobs: readonly unknown[], done: (result: unknown) => void): Promise<void> {
  const waiting = [...jobs];
  const workers = Math.min(jobs.length, availableParallelism());
  await Promise.all(Array.from({ length: workers }, () => runWorker(worker, () => waiting.shift(), done)));
}

function runWorker(url: URL, next: () => unknown, done: (result: unknown) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = fork(url, [SERVES_JOBS], { execArgv: V8_OPTIONS, serialization: "advanced" });
    worker.on("message", (result: unknown) => {
      done(result);
      offer(worker, next());
    });
    worker.once("error", reject);
    worker.once("exit", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`a worker ended by ${signal ?? `exit code ${code}`}`));
    });
    offer(worker, next());
  });
}

function offer(worker: ChildProcess, job: unknown): void {
  if (job === undefined) worker.disconnect();
  else worker.send(job as object);
}

/** In a worker: does what comes, until nothing comes any more. In the process that asks: nothing. */
export function serveJobs(run: (job: never) => unknown): void {
  if (process.argv[2] !== SERVES_JOBS) return;
  Buffer.poolSize = BUFFER_POOL_BYTES;
  process.on("message", (job: unknown) => process.send?.(run(job as never)));
}
