/** Processor time of the calling thread. */

/**
 * Milliseconds so far, exact: the kernel brings a thread's own time up to date only at its ticks, of some milliseconds, or when it is asked
 * for that of the whole process. (300 turns of 1.5 ms: off by -1.5 to 4.3 ms without the first line, by 0.3 with it.)
 */
export function threadMs(): number {
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * The longest step, in ms, that the calling thread's processor time makes in a loop that only reads it, for so long: the machine's share of
 * every figure by `threadMs`. Interrupts, and what a hypervisor takes away unsaid, count as the thread's own.
 */
export function longestStepOfNothingMs(durationMs: number): number {
  const endMs = performance.now() + durationMs;
  let longestMs = 0;
  for (let beforeMs = threadMs(); performance.now() < endMs; ) {
    const nowMs = threadMs();
    longestMs = Math.max(longestMs, nowMs - beforeMs);
    beforeMs = nowMs;
  }
  return longestMs;
}
