import { expect } from "chai";
import type { SpeakerNote } from "../../speaker/speaker-ports.ts";
import { Takeovers } from "../../speaker/takeovers.ts";
import type { Member } from "../../src/gossip/swim-event.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";

const V4: Ip = parseIp("192.0.2.10") ?? expect.fail();

function member(name: string): Member {
  const versions = {
    protocolMin: 1,
    protocolMax: 5,
    protocolCurrent: 2,
    delegateMin: 0,
    delegateMax: 0,
    delegateCurrent: 0,
  };
  return {
    name,
    endpoint: { ip: V4, port: 7946 },
    state: "dead",
    incarnation: 1,
    meta: new Uint8Array(),
    versions,
    sinceMs: 0,
  };
}

function noted(act: (takeovers: Takeovers) => void): readonly SpeakerNote[] {
  const notes: SpeakerNote[] = [];
  act(new Takeovers("n1", (note) => void notes.push(note)));
  return notes;
}

describe("Takeovers", () => {
  it("measures from the suspicion to the verdict", () => {
    const notes = noted((takeovers) => {
      takeovers.memberSuspected("n2", 1_000);
      takeovers.memberGone(member("n2"), "dead", 5_000);
    });
    expect(notes).to.deep.equal([{ kind: "detected", node: "n2", seconds: 4 }]);
  });

  it("measures from the last sign of life of one that this node watched", () => {
    const notes: SpeakerNote[] = [];
    const takeovers = new Takeovers(
      "n1",
      (note) => void notes.push(note),
      (name) => (name === "n2" ? 700 : undefined),
    );
    takeovers.memberChanged(member("n2"), "suspected", 1_100);
    takeovers.memberChanged(member("n2"), "dead", 1_200);
    takeovers.memberChanged(member("n3"), "dead", 1_200);
    expect(notes).to.deep.equal([{ kind: "detected", node: "n2", seconds: 0.5 }]);
  });

  it("detects nobody who said goodbye or was well again", () => {
    const notes = noted((takeovers) => {
      takeovers.memberSuspected("n2", 1_000);
      takeovers.memberWell("n2");
      takeovers.memberGone(member("n2"), "dead", 5_000);
      takeovers.memberSuspected("n3", 1_000);
      takeovers.memberGone(member("n3"), "left", 5_000);
    });
    expect(notes).to.deep.equal([]);
  });

  it("measures from the lost leader to the own first frame, once", () => {
    const notes = noted((takeovers) => {
      takeovers.begin([{ ip: V4, from: "n2", to: "n1", reason: "lowest-hash" }], 2_000);
      takeovers.firstFrame(V4, 2_050);
      takeovers.firstFrame(V4, 3_150);
    });
    expect(notes).to.deep.equal([{ kind: "took-over", seconds: 0.05 }]);
  });

  it("takes over nothing that nobody led, or that another took", () => {
    const notes = noted((takeovers) => {
      takeovers.begin([{ ip: V4, to: "n1", reason: "lowest-hash" }], 2_000);
      takeovers.firstFrame(V4, 2_050);
      takeovers.begin([{ ip: V4, from: "n1", to: "n3", reason: "lowest-hash" }], 2_100);
      takeovers.firstFrame(V4, 2_200);
    });
    expect(notes).to.deep.equal([]);
  });
});
