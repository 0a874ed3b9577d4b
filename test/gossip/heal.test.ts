/** What a machine does about a member that it holds dead, and about addresses that ought to be members. */
import { expect } from "chai";
import { encodeHeldAs } from "../../src/gossip/ack-payload.ts";
import { aliveOf, effectsOf, endpointOf, messagesIn, pushPullOf, recordOf, SingleSwim } from "./single-swim.ts";

const dead = (number: number) => ({ kind: "dead", node: `n${number}`, incarnation: 1, from: "n9" }) as const;
const left = (number: number) => ({ ...dead(number), from: `n${number}` });
/** Without probes, whose pings would be in the way. */
const QUIET = { probeIntervalMs: 0, pushPullIntervalMs: 0 };

const dialled = (single: SingleSwim, durationMs: number) =>
  effectsOf(single.run(durationMs), "dial").map(({ to }) => to.ip);

describe("heal", () => {
  it("pings one dead member each 100 ms, in turn", () => {
    const single = new SingleSwim(1, QUIET).meet(2, 3, 4);
    single.hear(4, dead(2), dead(3));
    const pings = messagesIn(single.run(1_000), "ping");
    expect(pings.map(({ message }) => message.node)).to.deep.equal([
      "n2",
      "n3",
      "n2",
      "n3",
      "n2",
      "n3",
      "n2",
      "n3",
      "n2",
      "n3",
    ]);
    expect(pings.map(({ to }) => to).slice(0, 2)).to.deep.equal([endpointOf(2), endpointOf(3)]);
  });

  it("ends after ten minutes", () => {
    const single = new SingleSwim(1, QUIET).meet(2);
    single.hear(4, dead(2));
    expect(messagesIn(single.run(600_100), "ping")).to.have.length(6_000);
    expect(messagesIn(single.run(10_000), "ping")).to.deep.equal([]);
  });

  it("does not ask for one that left", () => {
    const single = new SingleSwim(1, QUIET).meet(2);
    single.hear(4, left(2));
    expect(messagesIn(single.run(1_000), "ping")).to.deep.equal([]);
  });

  it("starts a push/pull when the dead member answers", () => {
    const single = new SingleSwim(1, QUIET).meet(2);
    single.hear(4, dead(2));
    const [ping] = messagesIn(single.run(100), "ping");
    const ack = { kind: "ack", seqNo: ping?.message.seqNo ?? 0, payload: new Uint8Array(0) } as const;
    expect(effectsOf(single.hear(8, ack), "dial").map(({ to }) => to)).to.deep.equal([endpointOf(2)]);
  });

  it("starts a push/pull at any message from the dead member's address", () => {
    const single = new SingleSwim(1, QUIET).meet(2, 3);
    single.hear(4, dead(2));
    expect(effectsOf(single.hear(2, aliveOf(3)), "dial").map(({ to }) => to)).to.deep.equal([endpointOf(2)]);
  });

  it("starts a push/pull at a ping that names the dead member as its source", () => {
    const single = new SingleSwim(1, QUIET).meet(2, 3);
    single.hear(4, dead(2));
    const ping = { kind: "ping", seqNo: 1, node: "n1", source: { endpoint: endpointOf(2), node: "n2" } } as const;
    expect(effectsOf(single.hear(8, ping), "dial").map(({ to }) => to)).to.deep.equal([endpointOf(2)]);
  });

  it("does not dial at every message", () => {
    const single = new SingleSwim(1, QUIET).meet(2, 3);
    single.hear(4, dead(2));
    const [dial] = effectsOf(single.hear(2, aliveOf(3)), "dial");
    single.tell({ kind: "dial-failed", dial: dial?.dial ?? 0, failure: "refused" });
    expect(effectsOf(single.hear(2, aliveOf(3)), "dial")).to.deep.equal([]);
    single.nowMs += 1_000;
    expect(effectsOf(single.hear(2, aliveOf(3)), "dial")).to.have.length(1);
  });

  it("refutes when the dead member's ack says that it holds us dead", () => {
    const single = new SingleSwim(1, QUIET).meet(2);
    single.hear(4, dead(2));
    const [ping] = messagesIn(single.run(100), "ping");
    const payload = encodeHeldAs({ state: "dead", incarnation: 3 });
    const effects = single.hear(2, { kind: "ack", seqNo: ping?.message.seqNo ?? 0, payload });
    expect(effectsOf(effects, "refuted").map(({ incarnation }) => incarnation)).to.deep.equal([4]);
    // The one that we hold dead is told as well: it must hear of it before we hear of its own refutation.
    expect(messagesIn(effects, "alive").map(({ to }) => to)).to.deep.equal([endpointOf(2)]);
  });

  it("tells that it was heard again when it is a member again", () => {
    const single = new SingleSwim(1, QUIET).meet(2);
    single.hear(4, dead(2));
    const effects = single.hear(2, aliveOf(2, { incarnation: 2 }));
    expect(effects.map(({ kind }) => kind)).to.include.members(["member-changed", "heard-again"]);
    expect(messagesIn(single.run(1_000), "ping")).to.deep.equal([]);
  });
});

describe("rejoin", () => {
  it("dials configured peers that are no members, every 8 to 10 s", () => {
    const single = new SingleSwim(1, QUIET);
    single.tell({ kind: "known-peers", endpoints: [endpointOf(2), endpointOf(3), endpointOf(1)] });
    single.tell({ kind: "open" });
    single.hear(2, aliveOf(2));
    for (const { dial } of effectsOf(single.effects, "dial"))
      single.tell({ kind: "dial-failed", dial, failure: "refused" });
    expect(dialled(single, 7_999)).to.deep.equal([]);
    expect(dialled(single, 2_001)).to.deep.equal(["192.0.2.3"]);
  });

  it("dials new peers at once", () => {
    const single = new SingleSwim(1, QUIET).meet(2);
    const effects = single.tell({ kind: "known-peers", endpoints: [endpointOf(2), endpointOf(3)] });
    expect(effectsOf(effects, "dial").map(({ to }) => to)).to.deep.equal([endpointOf(3)]);
    expect(single.tell({ kind: "known-peers", endpoints: [endpointOf(2), endpointOf(3)] })).to.deep.equal([]);
  });

  it("dials the addresses of lost members for a day", () => {
    const single = new SingleSwim(1, QUIET).meet(2);
    single.hear(4, dead(2));
    for (let round = 0; round < 3; round++) {
      const [dial] = effectsOf(single.run(10_000), "dial");
      expect(dial?.to).to.deep.equal(endpointOf(2));
      single.tell({ kind: "dial-failed", dial: dial?.dial ?? 0, failure: "refused" });
    }
    single.nowMs += 24 * 3_600_000;
    expect(effectsOf(single.tell({ kind: "tick" }), "dial")).to.deep.equal([]);
    expect(dialled(single, 20_000)).to.deep.equal([]);
  });

  it("stops when we leave", () => {
    const single = new SingleSwim(1, QUIET).meet(2);
    single.tell({ kind: "request", connection: 1, from: endpointOf(2), message: pushPullOf(recordOf(3)) });
    single.hear(2, dead(3));
    single.tell({ kind: "leave" });
    expect(dialled(single, 60_000)).to.deep.equal([]);
  });
});
