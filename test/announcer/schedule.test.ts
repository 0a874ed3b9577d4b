import { expect } from "chai";
import { LinkSchedule } from "../../src/announcer/schedule.ts";
import { TokenBucket } from "../../src/announcer/token-bucket.ts";
import { ip } from "./rig.ts";

const A = ip("192.0.2.1");
const B = ip("192.0.2.2");
const always = (): boolean => true;

/** What leaves when the schedule is asked at its own deadlines, as "time address frame". */
function run(
  schedule: LinkSchedule,
  fromMs: number,
  toMs: number,
  may: (address: typeof A) => boolean = always,
): string[] {
  const lines: string[] = [];
  let nowMs = fromMs;
  for (;;) {
    for (let due = schedule.next(nowMs, may); due !== undefined; due = schedule.next(nowMs, may)) {
      lines.push(`${nowMs} ${due.ip} ${due.frame}`);
    }
    const nextMs = schedule.nextDeadlineMs();
    if (nextMs === undefined || nextMs > toMs) return lines;
    nowMs = nextMs;
  }
}

describe("LinkSchedule", () => {
  it("sends first frames before second ones, whoever came first", () => {
    const schedule = new LinkSchedule(0);
    schedule.start(A, 2, 0);
    schedule.start(B, 2, 0);
    expect(run(schedule, 0, 0)).to.deep.equal(["0 192.0.2.1 0", "0 192.0.2.2 0", "0 192.0.2.1 1", "0 192.0.2.2 1"]);
  });
  it("puts a new address before the later bursts of an old one", () => {
    const schedule = new LinkSchedule(0);
    schedule.start(A, 1, 0);
    run(schedule, 0, 0);
    schedule.start(B, 1, 1_100);
    expect(run(schedule, 1_100, 1_100)).to.deep.equal(["1100 192.0.2.2 0", "1100 192.0.2.1 0"]);
  });
  it("asks again when a frame is about to leave, and drops the series when it may not", () => {
    const schedule = new LinkSchedule(0);
    schedule.start(A, 2, 0);
    schedule.start(B, 2, 0);
    expect(run(schedule, 0, 10_000, (address) => address === B).length).to.equal(10);
    expect(run(schedule, 10_000, 20_000)).to.deep.equal([]);
    expect(schedule.nextDeadlineMs()).to.equal(undefined);
  });
  it("starts a series over at once, without the rest of the old one", () => {
    const schedule = new LinkSchedule(0);
    schedule.start(A, 1, 0);
    run(schedule, 0, 0);
    schedule.start(A, 1, 500);
    expect(run(schedule, 500, 20_000)).to.deep.equal(
      [500, 1_600, 2_700, 3_800, 4_900].map((atMs) => `${atMs} 192.0.2.1 0`),
    );
  });
  it("holds a single burst back until 1.1 s after the last one, and lets others pass meanwhile", () => {
    const schedule = new LinkSchedule(0);
    schedule.once(A, 1, 0);
    run(schedule, 0, 0);
    schedule.once(A, 1, 100);
    schedule.start(B, 1, 200);
    expect(run(schedule, 200, 1_250)).to.deep.equal(["200 192.0.2.2 0", "1100 192.0.2.1 0"]);
  });
  it("keeps 1.1 s between bursts that the bucket has delayed", () => {
    const schedule = new LinkSchedule(0);
    const many = Array.from({ length: 1_000 }, (_, index) => ip(`10.0.${index >> 8}.${index & 255}`));
    for (const address of many) schedule.start(address, 2, 0);
    const burstsOfLast = run(schedule, 0, 60_000)
      .filter((line) => line.endsWith(`${many.at(-1)} 0`))
      .map((line) => Number.parseFloat(line));
    expect(burstsOfLast.length).to.equal(5);
    for (const [index, atMs] of burstsOfLast.entries()) {
      if (index > 0) expect(atMs - (burstsOfLast[index - 1] ?? 0)).to.be.at.least(1_100);
    }
  });
});

describe("TokenBucket", () => {
  it("gives its capacity at once, then its rate, and knows when", () => {
    const bucket = new TokenBucket(500, 3, 0);
    expect([0, 0, 0, 0].map((nowMs) => bucket.take(nowMs))).to.deep.equal([true, true, true, false]);
    expect(bucket.readyMs(0)).to.equal(2);
    expect([1, 2, 3, 4].map((nowMs) => bucket.take(nowMs))).to.deep.equal([false, true, false, true]);
  });
  it("keeps no more than its capacity, and stands when time goes back", () => {
    const bucket = new TokenBucket(500, 2, 0);
    expect([9_000, 9_000, 9_000, 8_000].map((nowMs) => bucket.take(nowMs))).to.deep.equal([true, true, false, false]);
  });
  it("has a token at the moment that it names, whatever fractions have added up", () => {
    const bucket = new TokenBucket(500, 1, 0);
    let nowMs = 0;
    for (let count = 0; count < 10_000; count++) {
      expect(bucket.take(nowMs)).to.equal(true);
      nowMs = bucket.readyMs(nowMs + (count % 7) / 7.3);
    }
  });
});
