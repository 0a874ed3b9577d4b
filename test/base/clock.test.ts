import { expect } from "chai";
import { VirtualClock } from "../../src/base/clock.ts";

describe("VirtualClock", () => {
  it("fires timers in order of time, then of scheduling, at their own time", () => {
    const clock = new VirtualClock(1_000);
    const fired: string[] = [];
    const note = (name: string) => () => void fired.push(`${name}@${clock.nowMs()}`);
    clock.schedule(20, note("late"));
    clock.schedule(10, note("first"));
    clock.schedule(10, note("second"));
    clock.schedule(15, note("cancelled")).cancel();
    clock.advance(100);
    expect(fired).to.deep.equal(["first@1010", "second@1010", "late@1020"]);
    expect(clock.nowMs()).to.equal(1_100);
  });

  it("runs what a timer schedules within the same advance", () => {
    const clock = new VirtualClock();
    let count = 0;
    const again = (): void => {
      count++;
      clock.schedule(10, again);
    };
    clock.schedule(10, again);
    clock.advance(55);
    expect(count).to.equal(5);
  });
});
