/** When silence becomes an accusation: every row of DESIGN D7's rule. */
import { expect } from "chai";
import fc from "fast-check";
import { deadlineMs, type Evidence, judge, type Ladder, stretched } from "../../../src/gossip/fast/judge.ts";

const QUIET: Ladder = {
  silentMs: 0,
  longestMs: 0,
  hostAgeMs: Number.POSITIVE_INFINITY,
  hasAccepted: false,
  refusals: 0,
  isDeaf: false,
  isLone: false,
};

interface Row {
  readonly name: string;
  readonly ladder: Partial<Ladder>;
  readonly evidence: Evidence | undefined;
}

const ROWS: readonly Row[] = [
  { name: "449 ms of silence prove nothing", ladder: { silentMs: 449 }, evidence: undefined },
  { name: "450 ms of silence, host and all", ladder: { silentMs: 450 }, evidence: "silent" },
  { name: "a host that answers buys time", ladder: { silentMs: 999, hostAgeMs: 100 }, evidence: undefined },
  { name: "1,000 ms while the host answers", ladder: { silentMs: 1_000, hostAgeMs: 100 }, evidence: "hung" },
  { name: "a host that has stopped to answer", ladder: { silentMs: 700, hostAgeMs: 301 }, evidence: "silent" },
  { name: "a port that refuses", ladder: { refusals: 1 }, evidence: "refused" },
  { name: "a deaf watcher accuses nobody", ladder: { silentMs: 5_000, isDeaf: true }, evidence: undefined },
  { name: "a refusal was heard, deaf or not", ladder: { refusals: 1, isDeaf: true }, evidence: "refused" },
  { name: "half the longest silence", ladder: { silentMs: 799, longestMs: 400 }, evidence: undefined },
  { name: "twice the longest silence", ladder: { silentMs: 800, longestMs: 400 }, evidence: "silent" },
  { name: "never later than 3 s", ladder: { silentMs: 3_000, longestMs: 2_900 }, evidence: "silent" },
  { name: "alone: one refusal", ladder: { isLone: true, refusals: 1 }, evidence: undefined },
  { name: "alone: two refusals", ladder: { isLone: true, refusals: 2 }, evidence: "refused" },
  { name: "alone: 599 ms", ladder: { isLone: true, silentMs: 599 }, evidence: undefined },
  { name: "alone: 600 ms", ladder: { isLone: true, silentMs: 600 }, evidence: "silent" },
  {
    name: "alone: the host answers, and lets nobody in",
    ladder: { isLone: true, silentMs: 2_900, hostAgeMs: 50 },
    evidence: undefined,
  },
  {
    name: "alone: connected, and no answer for 1,000 ms",
    ladder: { isLone: true, silentMs: 1_000, hostAgeMs: 50, hasAccepted: true },
    evidence: "hung",
  },
];

describe("judge", () => {
  for (const { name, ladder, evidence } of ROWS) {
    it(`${name}: ${evidence ?? "no accusation"}`, () => {
      expect(judge({ ...QUIET, ...ladder })).to.equal(evidence);
    });
  }

  it("more silence never takes an accusation back, and no silence at all accuses nobody whose port is open", () => {
    const ladders = fc.record({
      silentMs: fc.integer({ min: 0, max: 6_000 }),
      longestMs: fc.integer({ min: 0, max: 6_000 }),
      hostAgeMs: fc.integer({ min: 0, max: 6_000 }),
      hasAccepted: fc.boolean(),
      refusals: fc.integer({ min: 0, max: 3 }),
      isDeaf: fc.boolean(),
      isLone: fc.boolean(),
    });
    fc.assert(
      fc.property(ladders, fc.integer({ min: 0, max: 6_000 }), (ladder, furtherMs) => {
        const before = judge(ladder);
        const after = judge({ ...ladder, silentMs: ladder.silentMs + furtherMs });
        expect(before === undefined || after === before).to.equal(true);
        expect(judge({ ...ladder, silentMs: 0, refusals: 0 })).to.equal(undefined);
      }),
    );
  });

  it("accuses exactly when the deadline in force is over, but for what a lone watcher is not let in by", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4_000 }),
        fc.integer({ min: 0, max: 600 }),
        fc.boolean(),
        (silentMs, hostAgeMs, isLone) => {
          const ladder = { ...QUIET, silentMs, hostAgeMs, isLone, hasAccepted: true };
          expect(judge(ladder) !== undefined).to.equal(silentMs >= deadlineMs(ladder));
        },
      ),
    );
  });

  it("stretches between the least and 3 s", () => {
    expect([0, 225, 300, 1_499, 9_000].map((longestMs) => stretched(450, longestMs))).to.deep.equal([
      450, 450, 600, 2_998, 3_000,
    ]);
  });
});
