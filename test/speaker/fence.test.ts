import { expect } from "chai";
import { expire, FENCE_TIMING, type Fence, fenceDeadlineMs, hear, openFence, turn } from "../../speaker/fence.ts";

/** A fence that turned at 1,000 ms and then not again until 2,000 ms. */
function mutedAt2000(): Fence {
  return turn(openFence(1_000), 2_000, FENCE_TIMING).fence;
}

describe("fence", () => {
  it("stays open while turns are at most 250 ms apart", () => {
    let fence = openFence(0);
    for (let nowMs = 250; nowMs <= 2_500; nowMs += 250) {
      const turned = turn(fence, nowMs, FENCE_TIMING);
      expect(turned.hadGap).to.equal(false);
      fence = turned.fence;
    }
    expect(fence.kind).to.equal("open");
  });

  it("closes after a gap of more than 250 ms, until 300 ms after it when nobody answers", () => {
    const fence = turn(openFence(0), 251, FENCE_TIMING).fence;
    expect(fence.kind).to.equal("mute");
    expect(fenceDeadlineMs(fence, FENCE_TIMING)).to.equal(551);
    expect(expire(fence, 550, FENCE_TIMING).kind).to.equal("mute");
    expect(expire(fence, 551, FENCE_TIMING).kind).to.equal("open");
  });

  it("takes other numbers", () => {
    const timing = { gapMs: 400, aloneMs: 100 };
    expect(turn(openFence(0), 400, timing).fence.kind).to.equal("open");
    const { fence } = turn(openFence(0), 401, timing);
    expect(fenceDeadlineMs(fence, timing)).to.equal(501);
    expect(expire(fence, 501, timing).kind).to.equal("open");
  });

  it("opens at once when a member holds us alive, or suspect, at our incarnation", () => {
    expect(hear(mutedAt2000(), { state: "alive", incarnation: 7 }, 7).kind).to.equal("open");
    expect(hear(mutedAt2000(), { state: "suspect", incarnation: 7 }, 7).kind).to.equal("open");
  });

  it("stays mute when a member holds us dead, or alive at an older incarnation", () => {
    expect(hear(mutedAt2000(), { state: "dead", incarnation: 7 }, 7).kind).to.equal("mute");
    expect(hear(mutedAt2000(), { state: "alive", incarnation: 6 }, 7).kind).to.equal("mute");
    expect(hear(mutedAt2000(), { state: "unknown", incarnation: 0 }, 7).kind).to.equal("mute");
  });

  it("starts its wait again when a second gap follows the first", () => {
    const again = turn(mutedAt2000(), 2_260, FENCE_TIMING);
    expect(again.hadGap).to.equal(true);
    expect(fenceDeadlineMs(again.fence, FENCE_TIMING)).to.equal(2_560);
  });
});
