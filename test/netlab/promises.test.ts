import { expect } from "chai";
import type { DrillName } from "../../hack/netlab/drills.ts";
import type { Figures } from "../../hack/netlab/measure.ts";
import { type DrillResult, judge } from "../../hack/netlab/promises.ts";

const QUIET: Figures = {
  firstFrameMs: 100,
  firstReplyMs: 100,
  longestGapMs: 100,
  sent: 1_000,
  lost: 0,
  resets: 0,
  moves: 0,
  macs: [],
  bothAnswerMs: 0,
};

function ran(figures: Partial<Figures>, extra: DrillResult["extra"] = {}): DrillResult {
  return { figures: { ...QUIET, ...figures }, extra };
}

function kept(drill: DrillName, results: readonly DrillResult[]): readonly boolean[] {
  return judge(drill, results).map(({ isKept }) => isKept);
}

function differing(answerersWhenAlone: number): readonly boolean[] {
  return kept("views-differ", [ran({ answerersWhenAlone }, { nodesThatSayWhichView: 2 })]);
}

describe("what is promised of a drill", () => {
  it("is kept by a median within 200 ms and a slowest run within 500 ms of a killed process", () => {
    expect(
      kept(
        "kill",
        [100, 200, 500].map((firstReplyMs) => ran({ firstReplyMs })),
      ),
    ).to.deep.equal([true, true]);
  });

  it("is broken by each of the two alone", () => {
    expect(
      kept(
        "kill",
        [100, 201, 500].map((firstReplyMs) => ran({ firstReplyMs })),
      ),
    ).to.deep.equal([false, true]);
    expect(
      kept(
        "kill",
        [100, 200, 501].map((firstReplyMs) => ran({ firstReplyMs })),
      ),
    ).to.deep.equal([true, false]);
  });

  it("is broken when nobody else answered in a single run, or when nothing ran", () => {
    expect(kept("kill", [ran({}), ran({ firstReplyMs: null })])).to.deep.equal([false, false]);
    expect(kept("kill", [])).to.deep.equal([false, false]);
  });

  it("of a healed partition: less than 500 ms of two answers, merged within 12 s, then one", () => {
    const healed = { bothAnswerMs: 495, answerersWhenAlone: 1 };
    expect(kept("heal", [ran(healed, { mergedMs: 12_000 })])).to.deep.equal([true, true, true]);
    expect(kept("heal", [ran({ ...healed, bothAnswerMs: 500 }, { mergedMs: 12_001 })])).to.deep.equal([
      false,
      false,
      true,
    ]);
  });

  it("of differing views: exactly one answers", () => {
    expect([0, 1, 2].map(differing)).to.deep.equal([
      [false, true],
      [true, true],
      [false, true],
    ]);
  });

  it("is printed with the figure, the runs and the bound", () => {
    expect(judge("asymmetric-cut", [ran({ moves: 1 }), ran({ moves: 4 })])).to.deep.equal([
      { what: "moves, in 2 runs", found: "4, promised at most 3", isKept: false },
    ]);
  });

  it("says nothing of drills that promise nothing", () => {
    expect(judge("loss", [ran({})])).to.deep.equal([]);
  });
});
