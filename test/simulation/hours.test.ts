/** Long runs: that they see what they count. `hack/simulate --hours 100` is the long form of the first. */
import { expect } from "chai";
import { describeHours, runHours } from "./hours.ts";
import { plansOf } from "./hours-command.ts";
import { LongRun, type LongRunPlan } from "./long-run.ts";

const PLAN: LongRunPlan = { nodes: 3, hours: 0.2, seed: 1, loss: 0.1, stallMs: 300, strikes: false, timing: {} };
const OPTIONS = { hours: "1", loss: "10", "stall-ms": "300", nodes: "3,5", strikes: "300", set: [] };

describe("simulation: hours of loss and stalls", () => {
  it("nobody who lives is declared dead, and nothing moves, at 10 % loss with stalls of 300 ms", () => {
    const { falseVerdicts, moves, leaderHours } = new LongRun(PLAN).run();
    expect({ falseVerdicts, moves }).to.deep.equal({ falseVerdicts: [], moves: 0 });
    expect(leaderHours).to.be.greaterThanOrEqual(PLAN.hours);
  }).timeout(60_000);

  it("sees the verdicts of a detector in too great a hurry", () => {
    const timing = { accuseMs: 120, hungMs: 150, hostFreshMs: 0, stretchFactor: 0 };
    const { falseVerdicts, moves } = new LongRun({ ...PLAN, timing }).run();
    expect(falseVerdicts.length).to.be.greaterThan(0);
    expect(moves).to.be.greaterThan(0);
  }).timeout(60_000);

  it("a seed gives the same figures every time", () => {
    const plan = { ...PLAN, hours: 0.1, strikes: true };
    expect(new LongRun(plan).run()).to.deep.equal(new LongRun(plan).run());
  }).timeout(60_000);

  it("a leader that is struck down is noticed, and another takes over, every time", async () => {
    const plan = { ...PLAN, hours: 0.01, strikes: 18 };
    const result = await runHours(plan);
    expect(result.missed).to.deep.equal([]);
    expect(new Set(result.takeovers.map(({ fault }) => fault)).size).to.equal(3);
    for (const { noticedMs, takenMs } of result.takeovers) expect(takenMs - noticedMs).to.be.within(0, 100);
    expect(describeHours(plan, result)).to.match(/noticed p50 +\d+ +\d+ +\d+\n/);
  }).timeout(60_000);

  it("takes other numbers for those of the detector, and refuses what is none of them", () => {
    const plans = plansOf({ ...OPTIONS, set: ["accuseMs=300", "deafMs=100"] });
    expect(plans[0]).to.deep.include({ nodes: 3, loss: 0.1, timing: { accuseMs: 300, deafMs: 100 } });
    expect(plansOf({ ...OPTIONS, set: ["accuse=300"] })).to.be.a("string");
    expect(plansOf({ ...OPTIONS, loss: "much" })).to.be.a("string");
  });
});
