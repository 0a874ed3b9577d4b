import { expect } from "chai";
import { measure, type Observation } from "../../hack/netlab/measure.ts";
import { type FrameRecord, PROBE_INTERVAL_MS, type RequestRecord } from "../../hack/netlab/observations.ts";
import type { Mac } from "../../src/net/mac.ts";

const OLD = "02:00:00:00:00:0b" as Mac;
const NEW = "02:00:00:00:00:0c" as Mac;
const DEED_MS = 1_000;

function answered(startMs: number, node: string): RequestRecord {
  return { startMs, connectedMs: startMs + 1, endMs: startMs + 2, outcome: "answered", node };
}

function probed(probe: number, mac: Mac, delayMs = 1): FrameRecord {
  return { atMs: probe * PROBE_INTERVAL_MS + delayMs, mac, probe };
}

/** The old leader answers until the deed, the new one from 1,500 ms on. */
const FRAMES: readonly FrameRecord[] = [
  probed(180, OLD),
  probed(199, OLD),
  { atMs: 1_500, mac: NEW },
  probed(301, NEW),
  probed(302, NEW),
];

function measured(changes: Partial<Observation>) {
  return measure({ deedMs: DEED_MS, oldNode: "n1", oldMac: OLD, requests: [], frames: FRAMES, ...changes });
}

describe("a drill's figures", () => {
  it("time the first frame and the first reply of another node from the deed", () => {
    const requests = [answered(900, "n1"), answered(1_001, "n1"), answered(1_520, "n2"), answered(1_510, "n2")];
    const { firstFrameMs, firstReplyMs } = measured({ requests });
    expect({ firstFrameMs, firstReplyMs }).to.deep.equal({ firstFrameMs: 500, firstReplyMs: 512 });
  });

  it("say null when no other node was seen", () => {
    const { firstFrameMs, firstReplyMs, moves } = measured({
      requests: [answered(900, "n1")],
      frames: [probed(1, OLD)],
    });
    expect({ firstFrameMs, firstReplyMs, moves }).to.deep.equal({ firstFrameMs: null, firstReplyMs: null, moves: 0 });
  });

  it("count the longest time without an answer, the ends included", () => {
    const silent: RequestRecord = { startMs: 1_700, endMs: 2_700, outcome: "silent" };
    expect(measured({ requests: [answered(900, "n1"), answered(1_500, "n2"), silent] }).longestGapMs).to.equal(600);
  });

  it("count the requests of a drill of minutes", () => {
    const requests = Array.from({ length: 200_000 }, (_, index) => answered(2 * index, "n1"));
    expect(measured({ requests })).to.include({ sent: 200_000, longestGapMs: 2 });
  });

  it("count an unanswered SYN as lost, even if it was open at the flip", () => {
    const silent: RequestRecord = { startMs: 1_400, endMs: 2_400, outcome: "silent" };
    const { sent, lost, resets } = measured({ requests: [silent, answered(1_600, "n2")] });
    expect({ sent, lost, resets }).to.deep.equal({ sent: 2, lost: 1, resets: 0 });
  });

  it("count a connection that broke at the flip as reset, and one that broke at another time as lost", () => {
    const atFlip: RequestRecord = { startMs: 1_499, connectedMs: 1_499.5, endMs: 1_501, outcome: "broken" };
    const notedEarly: RequestRecord = { startMs: 1_460, connectedMs: 1_461, endMs: 1_480, outcome: "broken" };
    const later: RequestRecord = { startMs: 1_701, connectedMs: 1_702, endMs: 1_703, outcome: "broken" };
    const { lost, resets } = measured({ requests: [atFlip, notedEarly, later] });
    expect({ lost, resets }).to.deep.equal({ lost: 1, resets: 2 });
  });

  it("add up the probes that two answered, and take them for no move", () => {
    const frames = [
      probed(1, OLD),
      probed(2, OLD),
      probed(2, NEW, 2),
      probed(3, NEW),
      probed(3, OLD, 2),
      probed(4, NEW),
    ];
    const { bothAnswerMs, moves, macs } = measured({ frames });
    expect({ bothAnswerMs, moves, macs }).to.deep.equal({ bothAnswerMs: 10, moves: 1, macs: [OLD, NEW] });
  });

  it("count what a thawed leader still answers", () => {
    const frames = [...FRAMES, probed(400, OLD)];
    expect(measured({ frames, thawMs: 1_900 }).answersAfterThaw).to.equal(1);
    const elected = [...FRAMES, { atMs: 1_990, mac: OLD }, probed(400, OLD)];
    expect(measured({ frames: elected, thawMs: 1_900 }).answersAfterThaw, "after its own announcement").to.equal(0);
    expect(measured({ frames: FRAMES, thawMs: 1_900 }).answersAfterThaw).to.equal(0);
    expect(measured({ frames })).not.to.have.property("answersAfterThaw");
  });

  it("count who answers while one alone has to, not those before or after, nor who only announces", () => {
    const frames = [probed(1, NEW), probed(200, OLD), { atMs: 1_100, mac: NEW }, probed(300, NEW)];
    const alone = (fromMs: number, untilMs: number) =>
      measured({ frames, alone: { fromMs, untilMs } }).answerersWhenAlone;
    expect([alone(900, 1_200), alone(900, 1_600), alone(100, 200)]).to.deep.equal([1, 2, 0]);
  });
});
