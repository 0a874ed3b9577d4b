/** A clock that runs `pace` times as fast as another, so that long waits of one part cost a world less. */
import type { Clock } from "../../src/base/clock.ts";

export function fasterClock(clock: Clock, pace: number): Clock {
  return {
    nowMs: () => clock.nowMs() * pace,
    wallMs: () => clock.wallMs(),
    schedule: (delayMs, callback) => clock.schedule(delayMs / pace, callback),
  };
}
