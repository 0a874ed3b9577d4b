/** Times at which something falls due, in ms of one monotonic clock; undefined: never. Pure. */

export function earliest(deadlines: readonly (number | undefined)[]): number | undefined {
  let first: number | undefined;
  for (const deadline of deadlines) {
    if (deadline !== undefined && (first === undefined || deadline < first)) first = deadline;
  }
  return first;
}

export function isDue(deadlineMs: number | undefined, nowMs: number): boolean {
  return deadlineMs !== undefined && deadlineMs <= nowMs;
}
