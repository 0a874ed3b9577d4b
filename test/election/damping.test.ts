import { expect } from "chai";
import * as fc from "fast-check";
import { addTrouble, dampedUntilMs, type Trouble } from "../../src/election/damping.ts";
import { RETURN_TIMING } from "../../src/election/return-timing.ts";

const MINUTE_MS = 60_000;

function troublesAt(...minutes: readonly number[]): readonly Trouble[] {
  return minutes.reduce<readonly Trouble[]>(
    (before, minute) => addTrouble(before, { kind: "restart", atMs: minute * MINUTE_MS }),
    [],
  );
}

describe("damping", () => {
  for (const { title, minutes, until } of [
    { title: "nothing happened", minutes: [], until: undefined },
    { title: "twice is tolerated", minutes: [0, 1], until: undefined },
    { title: "the third in ten minutes costs one minute", minutes: [0, 4, 9], until: 10 },
    { title: "the fourth two", minutes: [0, 1, 2, 3], until: 5 },
    { title: "the fifth four", minutes: [0, 1, 2, 3, 4], until: 8 },
    { title: "the sixth eight", minutes: [0, 1, 2, 3, 4, 5], until: 13 },
    { title: "the seventh ten, and no more", minutes: [0, 1, 2, 3, 4, 5, 6], until: 16 },
    { title: "the eighth ten as well", minutes: [0, 1, 2, 3, 4, 5, 6, 7], until: 17 },
    { title: "ten minutes later it is forgotten", minutes: [0, 5, 10], until: undefined },
    { title: "a long damping outlives its window", minutes: [0, 1, 2, 3, 4, 5, 6, 15.9], until: 16 },
    { title: "what happened before this process began counts", minutes: [-8, -4, 0], until: 1 },
  ]) {
    it(title, () => expect(dampedUntilMs(troublesAt(...minutes))).to.equal(until && until * MINUTE_MS));
  }

  it("counts in the same way with other numbers", () => {
    const timing = { ...RETURN_TIMING, dampingTroubles: 2, dampingWindowMs: MINUTE_MS, shortestDampingMs: 30_000 };
    expect(dampedUntilMs(troublesAt(0, 1), timing)).to.equal(undefined);
    expect(dampedUntilMs(troublesAt(0, 0.5), timing)).to.equal(MINUTE_MS);
    expect(dampedUntilMs(troublesAt(0, 0.2, 0.5), { ...timing, longestDampingMs: 45_000 })).to.equal(75_000);
  });

  it("never lasts longer than ten minutes after the latest trouble, and forgets nothing that still counts", () =>
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 40 * MINUTE_MS }), { maxLength: 60 }), (times) => {
        const sorted = times.toSorted((a, b) => a - b);
        const all = sorted.map((atMs): Trouble => ({ kind: "refuted-death", atMs }));
        const kept = all.reduce(addTrouble, [] as readonly Trouble[]);
        expect(kept.length).to.be.at.most(16);
        const latestMs = sorted.at(-1) ?? 0;
        const until = dampedUntilMs(kept) ?? latestMs;
        expect(until).to.be.at.most(latestMs + 10 * MINUTE_MS);
        // What was left out would change nothing from now on.
        expect(Math.max(until, latestMs)).to.equal(Math.max(dampedUntilMs(all) ?? latestMs, latestMs));
      }),
    ));
});
