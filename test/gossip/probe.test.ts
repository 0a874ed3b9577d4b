/** The probe's ladder (memberlist state.go:305-521), as a member and its helpers see it. */
import { expect } from "chai";
import type { SwimEffect } from "../../src/gossip/swim-event.ts";
import { aliveOf, effectsOf, endpointOf, messagesIn, SingleSwim, sentIn } from "./single-swim.ts";

const NO_BYTES = new Uint8Array(0);

interface Probed {
  readonly single: SingleSwim;
  readonly target: number;
  readonly seqNo: number;
  readonly effects: readonly SwimEffect[];
}

/** Runs until the first probe's ping leaves. Broadcasts have died down before. */
function probed(numbers: readonly number[], single = new SingleSwim(3)): Probed {
  single.meet(...numbers);
  for (let steps = 0; steps < 5_000; steps++) {
    const effects = single.run(1);
    const [ping] = messagesIn(effects, "ping");
    if (ping === undefined) continue;
    return { single, effects, seqNo: ping.message.seqNo, target: Number(ping.message.node.slice(1)) };
  }
  throw new Error("nobody was pinged");
}

const stateOf = (single: SingleSwim, number: number) =>
  single.swim.members().find(({ name }) => name === `n${number}`)?.state;

describe("a probe", () => {
  it("starts within the first interval and carries broadcasts behind the ping", () => {
    const { single, effects, target } = probed([2]);
    expect(single.nowMs).to.be.within(10_000, 11_000);
    const [ping] = sentIn(effects).filter(({ messages }) => messages[0]?.kind === "ping");
    expect(ping?.to).to.deep.equal(endpointOf(target));
  });

  it("ends with the ack, and the next follows an interval after its start", () => {
    const { single, target, seqNo } = probed([2]);
    single.hear(target, { kind: "ack", seqNo, payload: NO_BYTES });
    expect(messagesIn(single.run(998), "ping")).to.deep.equal([]);
    expect(messagesIn(single.run(3), "ping")).to.have.length(1);
    expect(single.swim.counters()).to.deep.include({ probes: 2, probesFailed: 0 });
  });

  it("asks three others and TCP after 500 ms without an ack", () => {
    const { single, target, seqNo } = probed([2, 3, 4, 5, 6]);
    expect(messagesIn(single.run(498), "indirect-ping")).to.deep.equal([]);
    const effects = single.run(2);
    const asked = messagesIn(effects, "indirect-ping");
    expect(new Set(asked.map(({ to }) => to.ip)).size).to.equal(3);
    for (const { to, message } of asked) {
      expect(to).to.not.deep.equal(endpointOf(target));
      expect(message).to.deep.include({ seqNo, node: `n${target}`, wantsNack: true, target: endpointOf(target) });
    }
    const [dial] = effectsOf(effects, "dial");
    expect(dial).to.deep.include({ to: endpointOf(target) });
    expect(dial?.timeoutMs).to.be.within(498, 500);
    expect(dial?.request).to.deep.include({ kind: "ping", seqNo, node: `n${target}` });
  });

  it("asks nobody for a nack who does not know it, and dials nobody who does not answer on TCP", () => {
    const single = new SingleSwim(3);
    const old = { ...aliveOf(2).versions, protocolMax: 2 } as never;
    const { target } = probed([], meetOld(single, old));
    const effects = single.run(502);
    expect(messagesIn(effects, "indirect-ping").map(({ message }) => message.wantsNack)).to.deep.equal([false]);
    expect(effectsOf(effects, "dial")).to.deep.equal([]);
    expect(target).to.be.within(2, 3);
  });

  it("believes an ack that a helper brings", () => {
    const { single, target, seqNo } = probed([2, 3, 4]);
    single.run(600);
    single.hear(3, { kind: "ack", seqNo, payload: NO_BYTES });
    single.run(450);
    expect(stateOf(single, target)).to.equal("alive");
    expect(single.swim.healthScore()).to.equal(0);
  });

  it("believes an ack over TCP, at the end of the interval", () => {
    const { single, target, seqNo } = probed([2]);
    const [dial] = effectsOf(single.run(502), "dial");
    single.tell({ kind: "response", dial: dial?.dial ?? 0, message: { kind: "ack", seqNo, payload: NO_BYTES } });
    single.run(500);
    expect(stateOf(single, target)).to.equal("alive");
    expect(single.swim.counters().probesFailed).to.equal(0);
  });

  it("does not believe an ack over TCP that answers something else", () => {
    const { single, target, seqNo } = probed([2]);
    const [dial] = effectsOf(single.run(502), "dial");
    const message = { kind: "ack", seqNo: seqNo + 1, payload: NO_BYTES } as const;
    single.tell({ kind: "response", dial: dial?.dial ?? 0, message });
    single.run(500);
    expect(stateOf(single, target)).to.equal("suspect");
  });

  it("without any answer suspects after one interval, and its own health is in doubt", () => {
    const { single, target } = probed([2]);
    single.run(998);
    expect(stateOf(single, target)).to.equal("alive");
    single.run(2);
    expect(stateOf(single, target)).to.equal("suspect");
    expect(single.swim.healthScore()).to.equal(1);
  });

  for (const { nacks, score } of [
    { nacks: 0, score: 3 },
    { nacks: 2, score: 1 },
    { nacks: 3, score: 0 },
  ]) {
    it(`that brought ${nacks} of 3 nacks raises the score by ${score}`, () => {
      const { single, seqNo } = probed([2, 3, 4, 5, 6]);
      single.run(700);
      for (let nack = 0; nack < nacks; nack++) single.hear(3, { kind: "nack", seqNo });
      single.run(310);
      expect(single.swim.healthScore()).to.equal(score);
    });
  }

  it("lasts longer when our own health is in doubt, but asks others no later", () => {
    const single = new SingleSwim(3);
    single.tell({ kind: "open" });
    single.hear(2, aliveOf(2), { kind: "suspect", node: "n1", incarnation: 1, from: "n2" });
    expect(single.swim.healthScore()).to.equal(1);
    const { target } = probed([2], single);
    expect(effectsOf(single.run(502), "dial")[0]?.timeoutMs).to.be.within(1_497, 1_500);
    single.run(1_400);
    expect(stateOf(single, target)).to.equal("alive");
    expect(single.swim.counters().probesDegraded).to.equal(1);
    single.run(100);
    expect(stateOf(single, target)).to.equal("suspect");
  });

  it("asks others at once when the system says that the target cannot be reached", () => {
    const { single, target } = probed([2, 3, 4]);
    const effects = single.tell({ kind: "send-failed", to: endpointOf(target) });
    expect(messagesIn(effects, "indirect-ping")).to.have.length(2);
    expect(messagesIn(single.run(600), "indirect-ping")).to.deep.equal([]);
  });

  it("of a suspect carries the accusation and nothing else", () => {
    const { single, target } = probed([2]);
    const pings = sentIn(single.run(2_500)).filter(({ messages }) => messages[0]?.kind === "ping");
    expect(pings[0]?.messages.map(({ kind }) => kind)).to.deep.equal(["ping", "suspect"]);
    expect(pings[0]?.messages[1]).to.deep.include({ node: `n${target}`, from: "n1" });
    expect(pings[0]?.withCrc).to.equal(true);
  });

  it("is not judged when the tick comes so late that we must have stood still", () => {
    const { single, target } = probed([2]);
    single.run(600);
    single.nowMs += 5_000;
    single.tell({ kind: "tick" });
    expect(stateOf(single, target)).to.equal("alive");
    expect(single.swim.healthScore()).to.equal(0);
  });

  it("takes an ack that was read late, but before the tick", () => {
    const { single, target, seqNo } = probed([2]);
    single.run(998);
    single.nowMs += 40;
    single.hear(target, { kind: "ack", seqNo, payload: NO_BYTES });
    single.tell({ kind: "tick" });
    expect(stateOf(single, target)).to.equal("alive");
  });

  it("goes round: every member is pinged once before any is pinged twice", () => {
    const single = new SingleSwim(5);
    single.meet(2, 3, 4, 5);
    const order: string[] = [];
    for (let step = 0; order.length < 8; step++) {
      for (const { message } of messagesIn(single.run(1), "ping")) {
        order.push(message.node);
        single.hear(Number(message.node.slice(1)), { kind: "ack", seqNo: message.seqNo, payload: NO_BYTES });
      }
    }
    expect(new Set(order.slice(0, 4)).size).to.equal(4);
    expect(new Set(order.slice(4)).size).to.equal(4);
  });
});

/** Two members that speak protocol version 2 at most. */
function meetOld(single: SingleSwim, versions: never): SingleSwim {
  single.tell({ kind: "open" });
  single.hear(2, aliveOf(2, { versions }), aliveOf(3, { versions }));
  return single;
}
