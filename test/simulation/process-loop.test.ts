import { expect } from "chai";
import { VirtualClock } from "../../src/base/clock.ts";
import { ProcessLoop } from "./process-loop.ts";

describe("simulation: the process loop", () => {
  it("turns as libuv does: due timers, then readable sockets, then the check phase", () => {
    const world = new VirtualClock();
    const loop = new ProcessLoop(world, 0);
    const order: string[] = [];
    loop.schedule(10, () => {
      order.push("timer");
      loop.afterPoll(() => order.push("check"));
    });
    world.advance(5);
    loop.stand({ durationMs: 20, keepsQueues: true, isGapVisible: true });
    world.advance(10);
    loop.post(() => order.push("read"));
    world.advance(30);
    expect(order).to.deep.equal(["timer", "read", "check"]);
  });

  it("runs a timer at its own time, and one started late in a later turn", () => {
    const world = new VirtualClock();
    const loop = new ProcessLoop(world, 0);
    const at: number[] = [];
    loop.schedule(10, () => {
      at.push(world.nowMs());
      loop.schedule(5, () => at.push(world.nowMs()));
    });
    loop.schedule(3, () => at.push(world.nowMs()));
    loop.schedule(4, () => at.push(-1)).cancel();
    world.advance(100);
    expect(at.map(Math.round)).to.deep.equal([3, 10, 15]);
  });

  it("a visible gap is seen by the clock, a hidden one is not", () => {
    for (const isGapVisible of [true, false]) {
      const world = new VirtualClock();
      const loop = new ProcessLoop(world, 0);
      const before = loop.nowMs();
      loop.stand({ durationMs: 5_000, keepsQueues: true, isGapVisible });
      world.advance(6_000);
      expect(Math.round(loop.nowMs() - before)).to.equal(isGapVisible ? 6_000 : 1_000);
    }
  });

  it("loses what arrived while the machine was paused, and keeps what arrived while it was stopped", () => {
    for (const keepsQueues of [true, false]) {
      const world = new VirtualClock();
      const loop = new ProcessLoop(world, 0);
      let reads = 0;
      loop.stand({ durationMs: 100, keepsQueues, isGapVisible: true });
      loop.post(() => reads++);
      world.advance(200);
      expect(reads).to.equal(keepsQueues ? 1 : 0);
    }
  });

  it("a clock that is 200 ppm fast is 12 ms ahead after a minute, and its timers come as much sooner", () => {
    const world = new VirtualClock();
    const loop = new ProcessLoop(world, 200);
    const before = loop.nowMs();
    let firedMs = 0;
    loop.schedule(60_000, () => (firedMs = world.nowMs()));
    world.advance(60_000);
    expect(Math.round(loop.nowMs() - before)).to.equal(60_012);
    expect(firedMs).to.be.within(59_987, 59_989);
  });

  it("runs nothing after its end", () => {
    const world = new VirtualClock();
    const loop = new ProcessLoop(world, 0);
    let runs = 0;
    loop.schedule(10, () => runs++);
    loop.end();
    loop.post(() => runs++);
    world.advance(100);
    expect(runs).to.equal(0);
  });
});
