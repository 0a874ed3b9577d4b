/** Times at which something falls due, in ms of one monotonic clock; undefined: never. Pure. */

export function earliest(deadlines: readonly (number | undefined)[]): number | undefined {
  const known = deadlines.filter((deadline) => deadline !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

export function isDue(deadlineMs: number | undefined, nowMs: number): boolean {
  return deadlineMs !== undefined && deadlineMs <= nowMs;
}
