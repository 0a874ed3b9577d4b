import { expect } from "chai";
import { SystemClock } from "../../src/sys/system-clock.ts";
import { SystemRandom } from "../../src/sys/system-random.ts";

describe("SystemClock", () => {
  it("calls back not before the delay has passed, by its own reckoning", async () => {
    const clock = new SystemClock();
    const early = await Promise.all(
      [0, 0.3, 1, 2.5, 7].map((delayMs) => {
        const atMs = clock.nowMs() + delayMs;
        return new Promise<boolean>((resolve) => {
          clock.schedule(delayMs, () => resolve(clock.nowMs() < atMs));
        });
      }),
    );
    expect(early).to.deep.equal([false, false, false, false, false]);
  });

  it("never calls back after cancel", async () => {
    const clock = new SystemClock();
    let calls = 0;
    const timer = clock.schedule(1, () => calls++);
    timer.cancel();
    timer.cancel();
    await new Promise<void>((resolve) => {
      clock.schedule(5, resolve);
    });
    expect(calls).to.equal(0);
  });

  it("takes a delay that setTimeout cannot hold for long, not for none", async () => {
    const clock = new SystemClock();
    let calls = 0;
    const timer = clock.schedule(2 ** 40, () => calls++);
    await new Promise<void>((resolve) => {
      clock.schedule(5, resolve);
    });
    timer.cancel();
    expect(calls).to.equal(0);
  });
});

describe("SystemRandom", () => {
  const random = new SystemRandom();

  it("stays inside its bounds", () => {
    for (let round = 0; round < 200; round++) {
      expect(random.float()).to.be.within(0, 1).and.not.equal(1);
      expect(random.below(3)).to.be.oneOf([0, 1, 2]);
    }
    expect(random.below(0)).to.equal(0);
    expect(random.below(0.5)).to.equal(0);
    expect(random.bytes(12)).to.have.length(12);
  });
});
