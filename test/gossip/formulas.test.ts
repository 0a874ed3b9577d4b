/** memberlist's formulas; expected numbers computed with its own Go functions and from their definitions. */
import { expect } from "chai";
import { Awareness } from "../../src/gossip/awareness.ts";
import { transmitLimit } from "../../src/gossip/broadcast-queue.ts";
import { pushPullScale } from "../../src/gossip/push-pull.ts";
import { Suspicion, suspicionLimits, suspicionMs } from "../../src/gossip/suspicion.ts";
import { TIMING_PRESETS } from "../../src/gossip/timing.ts";

const { lan, wan, local } = TIMING_PRESETS;

describe("suspicion", () => {
  for (const { timing, nodes, least, wanted } of [
    { timing: lan, nodes: 1, least: 4_000, wanted: 0 },
    { timing: lan, nodes: 3, least: 4_000, wanted: 0 },
    { timing: lan, nodes: 4, least: 4_000, wanted: 2 },
    { timing: lan, nodes: 10, least: 4_000, wanted: 2 },
    // log10(30) = 1.4771…, cut to thousandths.
    { timing: lan, nodes: 30, least: 5_908, wanted: 2 },
    { timing: lan, nodes: 100, least: 8_000, wanted: 2 },
    { timing: wan, nodes: 5, least: 30_000, wanted: 0 },
    { timing: wan, nodes: 6, least: 30_000, wanted: 4 },
    { timing: local, nodes: 3, least: 3_000, wanted: 1 },
  ]) {
    it(`of ${nodes} nodes lasts at least ${least} ms and wants ${wanted} confirmations`, () => {
      expect(suspicionLimits(timing, nodes)).to.deep.equal({
        confirmationsWanted: wanted,
        leastMs: least,
        greatestMs: 6 * least,
      });
    });
  }

  it("shrinks with each confirmation: 24 s, 11.381 s, 4 s", () => {
    const limits = suspicionLimits(lan, 5);
    expect([0, 1, 2].map((count) => suspicionMs(limits, count))).to.deep.equal([24_000, 11_381, 4_000]);
  });

  it("counts each accuser once, the first one not as its own witness, and no more than it wants", () => {
    const suspicion = new Suspicion(suspicionLimits(lan, 5), "n2", 1_000);
    expect(suspicion.confirm("n2")).to.equal(false);
    expect(suspicion.deadlineMs).to.equal(25_000);
    expect(suspicion.confirm("n3")).to.equal(true);
    expect(suspicion.confirm("n3")).to.equal(false);
    expect(suspicion.deadlineMs).to.equal(12_381);
    expect(suspicion.isUnconfirmed).to.equal(true);
    expect(suspicion.confirm("n4")).to.equal(true);
    expect(suspicion.deadlineMs).to.equal(5_000);
    expect(suspicion.isUnconfirmed).to.equal(false);
    expect(suspicion.confirm("n5")).to.equal(false);
  });

  it("of three nodes lasts 4 s whatever is confirmed", () => {
    const suspicion = new Suspicion(suspicionLimits(lan, 3), "n2", 0);
    expect(suspicion.confirm("n3")).to.equal(false);
    expect(suspicion.deadlineMs).to.equal(4_000);
  });
});

describe("awareness", () => {
  it("stays from 0 to 7 and stretches by one interval a point", () => {
    const awareness = new Awareness(8);
    awareness.change(-1);
    expect(awareness.score).to.equal(0);
    awareness.change(3);
    expect(awareness.scale(1_000)).to.equal(4_000);
    awareness.change(100);
    expect(awareness.score).to.equal(7);
  });
});

describe("transmitLimit", () => {
  for (const [nodes, limit] of [
    [0, 0],
    [1, 4],
    [9, 4],
    [10, 8],
    [99, 8],
    [100, 12],
    [999, 12],
  ] as const) {
    it(`is ${limit} for ${nodes} nodes`, () => expect(transmitLimit(4, nodes)).to.equal(limit));
  }
});

describe("pushPullScale", () => {
  for (const [nodes, scale] of [
    [1, 1],
    [32, 1],
    [33, 2],
    [64, 2],
    [65, 3],
    [128, 3],
    [129, 4],
  ] as const) {
    it(`is ${scale} for ${nodes} nodes`, () => expect(pushPullScale(nodes)).to.equal(scale));
  }
});
