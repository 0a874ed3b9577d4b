/** CLOCK_MONOTONIC in ms: the same clock for every process of the lab, in whatever namespace it runs. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
