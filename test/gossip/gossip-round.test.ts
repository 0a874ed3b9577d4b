/** Who is told what, and by which way. */
import { expect } from "chai";
import { aliveOf, effectsOf, endpointOf, messagesIn, SingleSwim, sentIn } from "./single-swim.ts";

const QUIET = { probeIntervalMs: 0, pushPullIntervalMs: 0 };
const dead = (number: number, from = "n9") => ({ kind: "dead", node: `n${number}`, incarnation: 1, from }) as const;

describe("gossip", () => {
  it("tells three members a round, every 200 ms, until the limit", () => {
    const single = new SingleSwim(1, QUIET).meet(2, 3, 4, 5, 6);
    single.run(5_000);
    single.hear(2, aliveOf(7));
    const first = sentIn(single.run(0));
    expect(first).to.have.length(3);
    expect(new Set(first.map(({ to }) => to.ip)).size).to.equal(3);
    // Seven nodes: four sends in all.
    expect(sentIn(single.run(199))).to.deep.equal([]);
    expect(sentIn(single.run(1))).to.have.length(1);
    expect(sentIn(single.run(5_000))).to.deep.equal([]);
  });

  it("puts several messages into one datagram of at most 1400 bytes", () => {
    const single = new SingleSwim(1, QUIET).meet(2);
    for (let number = 3; number < 40; number++) single.hear(2, aliveOf(number));
    const sizes = effectsOf(single.run(1_000), "send-datagram").map(({ parts }) =>
      parts.reduce((bytes, part) => bytes + part.length + 2, 2),
    );
    expect(Math.max(...sizes)).to.be.within(1_300, 1_400);
  });

  it("goes to the recently dead, so that a process that stood still can refute, and never to those that left", () => {
    const single = new SingleSwim(1, { ...QUIET, gossipNodes: 9 }).meet(2, 3, 4);
    single.hear(2, dead(3), dead(4, "n4"));
    const told = (durationMs: number) => new Set(messagesIn(single.run(durationMs), "alive").map(({ to }) => to.ip));
    single.run(2_000);
    single.hear(2, aliveOf(5));
    expect([...told(2_000)].toSorted()).to.deep.equal(["192.0.2.2", "192.0.2.3", "192.0.2.5"]);
    single.run(28_000);
    single.hear(2, aliveOf(6));
    expect([...told(2_000)].toSorted()).to.deep.equal(["192.0.2.2", "192.0.2.5", "192.0.2.6"]);
  });

  it("rides on pings and acks", () => {
    const single = new SingleSwim(1, QUIET).meet(2);
    const effects = single.hear(2, aliveOf(3), { kind: "ping", seqNo: 1, node: "n1" });
    expect(sentIn(effects)[0]?.messages.map(({ kind }) => kind)).to.deep.equal(["ack", "alive", "alive", "alive"]);
  });
});

describe("a leave", () => {
  it("goes directly to every member at once, and through the queue besides", () => {
    const single = new SingleSwim(1, QUIET).meet(2, 3, 4, 5, 6);
    single.run(5_000);
    const said = messagesIn(single.tell({ kind: "leave" }), "dead");
    expect(said.map(({ to }) => to)).to.deep.equal([2, 3, 4, 5, 6].map(endpointOf));
    for (const { message } of said) expect(message).to.deep.equal({ ...dead(1, "n1") });
    expect(messagesIn(single.run(1_000), "dead").length).to.be.at.least(4);
  });

  it("keeps the incarnation it has, and is not undone by what is said of us later", () => {
    const single = new SingleSwim(1, QUIET).meet(2);
    single.tell({ kind: "leave" });
    single.hear(2, { ...aliveOf(1), endpoint: single.swim.self.endpoint, incarnation: 9 });
    single.hear(2, { kind: "suspect", node: "n1", incarnation: 9, from: "n2" });
    expect(single.swim.self).to.deep.include({ state: "left", incarnation: 1 });
  });
});
