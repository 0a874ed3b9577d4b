import { expect } from "chai";
import { FenceGate } from "../../speaker/fence-gate.ts";

/** `isDraining`: what was missed is not heard to its end yet, so that nobody is asked. */
function gate(isDraining = false): { readonly fence: FenceGate; readonly deeds: string[] } {
  const deeds: string[] = [];
  const fence = new FenceGate(0, undefined, {
    mute: (nowMs) => deeds.push(`mute ${nowMs}`),
    unmute: (nowMs) => deeds.push(`unmute ${nowMs}`),
    ask: (asked) => {
      deeds.push("ask");
      if (!isDraining) asked();
    },
  });
  return { fence, deeds };
}

describe("FenceGate", () => {
  it("mutes before it asks, once a gap, and counts it", () => {
    const { fence, deeds } = gate();
    expect([fence.turn(250), deeds]).to.deep.equal([false, []]);
    expect(fence.turn(501)).to.equal(true);
    expect(deeds).to.deep.equal(["mute 501", "ask"]);
    expect([fence.isMute, fence.turn(600), deeds.length]).to.deep.equal([true, false, 2]);
    expect(fence.entries()).to.deep.equal({ gap: 1, unwatched: 0 });
  });

  it("unmutes once, at the first answer that holds this node alive", () => {
    const { fence, deeds } = gate();
    fence.turn(1_000);
    fence.hear({ state: "dead", incarnation: 3 }, 3, 1_010);
    expect(fence.isMute).to.equal(true);
    fence.hear({ state: "alive", incarnation: 3 }, 3, 1_020);
    fence.hear({ state: "alive", incarnation: 3 }, 3, 1_021);
    expect(deeds).to.deep.equal(["mute 1000", "ask", "unmute 1020"]);
  });

  it("stays mute on an answer to what it asked before it stood still", () => {
    const { fence, deeds } = gate(true);
    fence.turn(1_000);
    fence.hear({ state: "alive", incarnation: 3 }, 3, 1_010);
    expect([fence.isMute, deeds]).to.deep.equal([true, ["mute 1000", "ask"]]);
  });

  it("unmutes at its deadline when nobody answers", () => {
    const { fence, deeds } = gate();
    fence.turn(1_000);
    expect(fence.deadlineMs).to.equal(1_300);
    fence.expire(1_299);
    expect(fence.isMute).to.equal(true);
    fence.expire(1_300);
    expect([fence.isMute, fence.deadlineMs, deeds.at(-1)]).to.deep.equal([false, undefined, "unmute 1300"]);
  });

  it("lets frames leave until a gap has gone by since the last turn, whether it is open or not", () => {
    const { fence } = gate();
    expect(fence.framesUntilMs).to.equal(250);
    fence.turn(100);
    expect(fence.framesUntilMs).to.equal(350);
    fence.turn(2_000);
    expect([fence.isMute, fence.framesUntilMs]).to.deep.equal([true, 2_250]);
  });

  it("closes when no watcher is heard, but not again while it is closed", () => {
    const { fence, deeds } = gate();
    fence.unwatched(100);
    fence.unwatched(200);
    expect([deeds, fence.deadlineMs]).to.deep.equal([["mute 100", "ask"], 400]);
    expect(fence.entries()).to.deep.equal({ gap: 0, unwatched: 1 });
  });

  it("asks anew when a second gap comes while it is closed", () => {
    const { fence, deeds } = gate();
    fence.turn(1_000);
    fence.turn(1_251);
    expect(deeds).to.deep.equal(["mute 1000", "ask", "mute 1251", "ask"]);
    expect(fence.entries().gap).to.equal(2);
  });
});
