/** Long runs: that they see what they count. `hack/simulate --hours 100` is the long form of the first. */
import { expect } from "chai";
import { describeHours, type HoursPlan, type HoursResult, runHours } from "./hours.ts";
import { plansOf } from "./hours-command.ts";
import { LongRun, type LongRunPlan } from "./long-run.ts";
import { SPEAKER_TIMING } from "./other-timing.ts";
import { PRICED, runPrices } from "./prices.ts";
import { PRICED_IN_TROUBLE, runTroublePrices } from "./trouble-prices.ts";

const PLAN: LongRunPlan = { nodes: 3, hours: 0.2, seed: 1, loss: 0.1, stallMs: 300, strikes: false, timing: {} };
const HURRIED: LongRunPlan["timing"] = { accuseMs: 120, hungMs: 150, hostFreshMs: 0, stretchFactor: 0 };
const OPTIONS = { hours: "1", loss: "10", "stall-ms": "300", nodes: "3,5", strikes: "300", set: [] };

async function resultOf(plan: HoursPlan): Promise<HoursResult> {
  const results: HoursResult[] = [];
  await runHours([plan], (result) => results.push(result));
  const [result] = results;
  if (result === undefined) throw new Error("no result");
  return result;
}

describe("simulation: hours of loss and stalls", () => {
  it("nobody who lives is declared dead, and nothing moves, at 10 % loss with stalls of 300 ms", () => {
    const { falseVerdicts, moves, leaderHours, datagrams } = new LongRun(PLAN).run();
    expect({ falseVerdicts, moves }).to.deep.equal({ falseVerdicts: [], moves: 0 });
    for (const hours of leaderHours.values()) expect(hours).to.be.closeTo(PLAN.hours, 1e-9);
    // Ten pings a second from each of two watchers to a leader, and its answers.
    const leaders = leaderHours.size;
    expect(leaders).to.be.greaterThan(0);
    expect(datagrams / PLAN.hours / 3_600 / leaders).to.be.within(36, 60);
  }).timeout(60_000);

  it("a seed gives the same figures every time", () => {
    const plan = { ...PLAN, hours: 0.1, strikes: true };
    expect(new LongRun(plan).run()).to.deep.equal(new LongRun(plan).run());
  }).timeout(60_000);

  it("a leader that is struck down is noticed, and another takes over, every time", async () => {
    const plan = { ...PLAN, hours: 0.01, strikes: 18 };
    const result = await resultOf(plan);
    expect(result.missed).to.deep.equal([]);
    expect(new Set(result.takeovers.map(({ fault }) => fault)).size).to.equal(3);
    const unstalled = await resultOf({ ...plan, stallMs: 0 });
    expect(unstalled.missed).to.deep.equal([]);
    for (const { noticedMs, takenMs } of unstalled.takeovers) expect(takenMs - noticedMs).to.be.within(0, 100);
    // Whoever takes over may stand still just then itself.
    for (const { noticedMs, takenMs } of result.takeovers) {
      expect(takenMs - noticedMs).to.be.within(0, plan.stallMs + 10);
    }
    expect(describeHours(plan, result)).to.match(/noticed p50 +\d+ +\d+ +\d+\n/);
  }).timeout(60_000);

  it("sees the verdicts of a detector in too great a hurry, and says of each leader how often it was declared dead", async () => {
    const plan = { ...PLAN, strikes: 0, timing: HURRIED };
    const result = await resultOf(plan);
    expect(result.moves).to.be.greaterThan(0);
    const about = result.leaders.reduce((sum, { falseVerdicts }) => sum + falseVerdicts, 0);
    expect(about).to.equal(result.falseVerdicts.length).and.to.be.greaterThan(0);
    for (const { name, hours, falseVerdicts } of result.leaders) {
      expect(describeHours(plan, result)).to.include(
        `${name}  ${falseVerdicts} in ${hours.toFixed(1)} hours as a leader`,
      );
    }
  }).timeout(60_000);

  it("the fence's numbers can be set: nodes are mute more seldom with a longer gap, and for longer with a longer time alone", () => {
    // So much is lost that often nobody answers.
    const plan = { ...PLAN, hours: 0.1, loss: 0.4 };
    const muteMs = (timing: LongRunPlan["timing"]): number => new LongRun({ ...plan, timing }).run().muteMs;
    const usualMs = muteMs({});
    expect(muteMs({ gapMs: 400 })).to.be.lessThan(usualMs);
    expect(muteMs({ aloneMs: 3_000 })).to.be.greaterThan(usualMs);
  }).timeout(60_000);

  it("the table of prices has a line for what is and for each other value, and tells them apart", async () => {
    const lines: string[] = [];
    const priced: Parameters<typeof runPrices>[2] = [{ name: "accuseMs", values: [350, 900] }];
    const plan: HoursPlan = { ...PLAN, hours: 0.01, loss: 0, stallMs: 0, strikes: 9 };
    await runPrices([plan, { ...plan, stallMs: 300 }], (line) => lines.push(line), priced);
    const rows = lines.slice(2).map((line) => line.split("|").map((cell) => cell.trim()));
    expect(rows.map((cells) => cells[2])).to.deep.equal([
      "as they are",
      "`accuseMs` 350, not 450",
      "`accuseMs` 900, not 450",
    ]);
    const [asTheyAre = 0, sooner = 0, later = 0] = rows.map((cells) => Number.parseInt(cells[7] ?? "", 10));
    expect(sooner).to.be.lessThan(asTheyAre);
    expect(asTheyAre).to.be.lessThan(later);
  }).timeout(60_000);

  it("the table of troubles says how much later an address is back when a node settles for longer", async () => {
    const lines: string[] = [];
    const priced: Parameters<typeof runTroublePrices>[3] = [
      { name: "settleMs", values: [3_000, 20_000], troubles: ["diesAgain"] },
    ];
    await runTroublePrices(1, 1, (line) => lines.push(line), priced);
    const rows = lines.slice(2).map((line) => line.split("|").map((cell) => cell.trim()));
    expect(rows.map((cells) => cells[2])).to.deep.equal([
      "as they are",
      "`settleMs` 3000, not 10000",
      "`settleMs` 20000, not 10000",
    ]);
    const backSeconds = rows.map((cells) => Number.parseFloat(cells[6] ?? ""));
    expect(backSeconds[0]).to.be.closeTo(10, 1.5);
    expect(backSeconds[1]).to.be.closeTo(3, 1.5);
    expect(backSeconds[2]).to.be.closeTo(20, 1.5);
  }).timeout(120_000);

  it("every number has a price", () => {
    const all = [...PRICED, ...PRICED_IN_TROUBLE];
    const priced = new Set<string>(all.map(({ name }) => name));
    expect(Object.keys(SPEAKER_TIMING).filter((name) => !priced.has(name))).to.deep.equal([]);
    for (const { name, values } of all) {
      expect(values, name).to.not.include(SPEAKER_TIMING[name]);
      expect(values[0], name).to.be.lessThan(values[1]);
    }
  });

  it("takes other numbers for those of the detector, and refuses what is none of them", () => {
    const plans = plansOf({ ...OPTIONS, set: ["accuseMs=300", "deafMs=100"] });
    expect(plans[0]).to.deep.include({ nodes: 3, loss: 0.1, stallMs: 300, timing: { accuseMs: 300, deafMs: 100 } });
    expect(plansOf({ ...OPTIONS, "stall-ms": "300,800" })).to.have.lengthOf(4);
    expect(plansOf({ ...OPTIONS, set: ["accuse=300"] })).to.be.a("string");
    expect(plansOf({ ...OPTIONS, loss: "much" })).to.be.a("string");
  });
});
