import { expect } from "chai";
import { decodeHeldAs, encodeHeldAs } from "../../src/gossip/ack-payload.ts";
import type { Ack, Ping } from "../../src/gossip/message.ts";
import type { HeldAs } from "../../src/gossip/swim-event.ts";
import {
  aliveOf,
  effectsOf,
  endpointOf,
  ME,
  messagesIn,
  pushPullOf,
  recordOf,
  SingleSwim,
  sentIn,
} from "./single-swim.ts";

const NO_BYTES = new Uint8Array(0);

function pingFrom(number: number, change: Partial<Ping> = {}): Ping {
  return {
    kind: "ping",
    seqNo: 77,
    node: "n1",
    source: { endpoint: endpointOf(number), node: `n${number}` },
    ...change,
  };
}

const opened = (...peers: readonly number[]): SingleSwim => {
  const single = new SingleSwim();
  single.tell({ kind: "known-peers", endpoints: [ME, ...peers.map(endpointOf)] });
  single.tell({ kind: "open" });
  return single;
};

const contacts = (single: SingleSwim) => effectsOf(single.effects, "first-contact").map(({ how }) => how);

const dials = (single: SingleSwim) => effectsOf(single.effects, "dial").map(({ dial }) => dial);

/** Pinged n2 on command, and a way to write its ack. */
function asked(): { readonly single: SingleSwim; readonly ack: (held?: HeldAs) => Ack } {
  const single = new SingleSwim().meet(2, 3);
  const pings = messagesIn(single.tell({ kind: "ping-members", names: ["n2", "n1", "nobody"] }), "ping");
  expect(pings.map(({ to }) => to)).to.deep.equal([endpointOf(2)]);
  const seqNo = pings[0]?.message.seqNo ?? 0;
  return {
    single,
    ack: (held) => ({ kind: "ack", seqNo, payload: held === undefined ? NO_BYTES : encodeHeldAs(held) }),
  };
}

const meta = (mark: number) => Uint8Array.of(mark);

const ownAlives = (effects: ReturnType<SingleSwim["run"]>) =>
  messagesIn(effects, "alive").filter(({ message }) => message.node === "n1");

describe("a machine that is not open yet", () => {
  it("answers nothing, announces nothing and dials nobody", () => {
    const single = new SingleSwim();
    single.tell({ kind: "known-peers", endpoints: [endpointOf(2)] });
    single.tell({ kind: "set-meta", meta: Uint8Array.of(1), isUrgent: true });
    single.hear(2, pingFrom(2), aliveOf(2));
    single.tell({ kind: "join", endpoints: [endpointOf(2)] });
    single.run(60_000);
    expect(single.effects).to.deep.equal([]);
    expect(single.swim.nextDeadlineMs()).to.equal(undefined);
  });

  it("closes a peer's push/pull without a word", () => {
    const single = new SingleSwim();
    const effects = single.tell({ kind: "request", connection: 4, from: endpointOf(2), message: pushPullOf() });
    expect(effects).to.deep.equal([{ kind: "close", connection: 4 }]);
  });

  it("says with its first announcement what it was told before, under incarnation 1", () => {
    const single = new SingleSwim();
    single.tell({ kind: "set-meta", meta: Uint8Array.of(1), isUrgent: false });
    single.tell({ kind: "open" });
    single.hear(2, aliveOf(2));
    const [own] = messagesIn(single.run(300), "alive").filter(({ message }) => message.node === "n1");
    expect(own?.message).to.deep.include({ incarnation: 1, meta: Uint8Array.of(1), endpoint: ME });
  });
});

describe("first contact", () => {
  it("is settled at once for a node that knows nobody but itself", () => {
    expect(contacts(opened())).to.deep.equal(["no-peers"]);
  });

  it("is made with the first push/pull that a peer answers", () => {
    const single = opened(2, 3);
    const [first = 0] = dials(single);
    expect(contacts(single)).to.deep.equal([]);
    single.tell({ kind: "response", dial: first, message: pushPullOf(recordOf(2)) });
    expect(contacts(single)).to.deep.equal(["merged"]);
    single.run(5_000);
    expect(contacts(single)).to.have.length(1);
  });

  it("is made by a peer that dials us", () => {
    const single = opened(2);
    single.tell({ kind: "request", connection: 1, from: endpointOf(2), message: pushPullOf(recordOf(2)) });
    expect(contacts(single)).to.deep.equal(["merged"]);
  });

  it("is over when every peer refused", () => {
    const single = opened(2, 3);
    const [first = 0, second = 0] = dials(single);
    single.tell({ kind: "dial-failed", dial: first, failure: "refused" });
    expect(contacts(single)).to.deep.equal([]);
    single.tell({ kind: "response", dial: second, message: { kind: "error", text: "no" } });
    expect(contacts(single)).to.deep.equal(["all-refused"]);
  });

  it("is over after 500 ms of silence", () => {
    const single = opened(2, 3);
    single.run(499);
    expect(contacts(single)).to.deep.equal([]);
    single.run(1);
    expect(contacts(single)).to.deep.equal(["silent"]);
  });

  it("is not made by a peer whose versions exclude ours", () => {
    const single = opened(2);
    const [first = 0] = dials(single);
    const versions = { ...recordOf(2).versions, protocolCurrent: 9 };
    single.tell({ kind: "response", dial: first, message: pushPullOf(recordOf(2, { versions: versions as never })) });
    expect(effectsOf(single.effects, "push-pull-done").map(({ outcome }) => outcome)).to.deep.equal(["incompatible"]);
    expect(contacts(single)).to.deep.equal(["all-refused"]);
    expect(single.swim.members().map(({ name }) => name)).to.deep.equal(["n1"]);
  });
});

describe("a ping", () => {
  it("is answered where its source says, with how we hold the asker", () => {
    const single = new SingleSwim().meet(2);
    const [ack] = messagesIn(single.hear(9, pingFrom(2)), "ack");
    expect(ack?.to).to.deep.equal(endpointOf(2));
    expect(ack?.message.seqNo).to.equal(77);
    expect(decodeHeldAs(ack?.message.payload ?? NO_BYTES)).to.deep.equal({ state: "alive", incarnation: 1 });
  });

  it("without a source is answered where it came from", () => {
    const single = new SingleSwim().meet(2);
    const { source: _source, ...bare } = pingFrom(2);
    const [ack] = messagesIn(single.hear(2, bare), "ack");
    expect(ack?.to).to.deep.equal(endpointOf(2));
  });

  it("from a node that we never heard of is answered: unknown", () => {
    const single = new SingleSwim().meet();
    const [ack] = messagesIn(single.hear(5, pingFrom(5)), "ack");
    expect(decodeHeldAs(ack?.message.payload ?? NO_BYTES)).to.deep.equal({ state: "unknown", incarnation: 0 });
  });

  it("for another node is not answered", () => {
    const single = new SingleSwim().meet(2);
    expect(single.hear(2, pingFrom(2, { node: "n7" }))).to.deep.equal([]);
  });

  it("for nobody by name is answered", () => {
    const single = new SingleSwim().meet(2);
    expect(messagesIn(single.hear(2, pingFrom(2, { node: "" })), "ack")).to.have.length(1);
  });

  it("is answered after we left", () => {
    const single = new SingleSwim().meet(2);
    single.tell({ kind: "leave" });
    expect(messagesIn(single.hear(2, pingFrom(2)), "ack")).to.have.length(1);
  });

  it("on a stream is answered there, and only for our name", () => {
    const single = new SingleSwim().meet(2);
    const ask = (node: string) =>
      single.tell({ kind: "request", connection: 3, from: endpointOf(2), message: pingFrom(2, { node }) });
    expect(ask("n1")).to.deep.equal([
      { kind: "answer", connection: 3, message: { kind: "ack", seqNo: 77, payload: NO_BYTES } },
    ]);
    expect(ask("n7")).to.deep.equal([{ kind: "close", connection: 3 }]);
  });
});

describe("ping-members", () => {
  it("tells how the member holds us", () => {
    const { single, ack } = asked();
    const held = { state: "alive", incarnation: 1 } as const;
    expect(single.hear(2, ack(held))).to.deep.equal([{ kind: "ack-view", from: "n2", held }]);
    expect(single.hear(2, ack(held))).to.deep.equal([]);
  });

  it("tells contact only of a Go member", () => {
    const { single, ack } = asked();
    expect(single.hear(2, ack())).to.deep.equal([{ kind: "ack-view", from: "n2" }]);
  });

  for (const state of ["suspect", "dead", "left"] as const) {
    it(`refutes at once when the member holds us ${state}`, () => {
      const { single, ack } = asked();
      const effects = single.hear(2, ack({ state, incarnation: 4 }));
      expect(effectsOf(effects, "refuted").map(({ incarnation }) => incarnation)).to.deep.equal([5]);
      const alives = messagesIn(effects, "alive");
      expect(alives.map(({ to }) => to)).to.deep.equal([endpointOf(2), endpointOf(3)]);
      expect(alives.every(({ message }) => message.node === "n1" && message.incarnation === 5)).to.equal(true);
    });
  }

  it("refutes when the member holds an incarnation of ours that we never had: a former process's word", () => {
    const { single, ack } = asked();
    const effects = single.hear(2, ack({ state: "alive", incarnation: 6 }));
    expect(effectsOf(effects, "refuted")).to.deep.equal([
      { kind: "refuted", verdict: "stale-alive", incarnation: 7, from: "n2" },
    ]);
  });

  for (const state of ["alive", "dead"] as const) {
    it(`tells a member that holds a former incarnation ${state} our latest word, and refutes nothing`, () => {
      const { single, ack } = asked();
      single.hear(3, { kind: "suspect", node: "n1", incarnation: 1, from: "n3" });
      const effects = single.hear(2, ack({ state, incarnation: 1 }));
      expect(effectsOf(effects, "refuted")).to.deep.equal([]);
      expect(messagesIn(effects, "alive").map(({ to, message }) => [to, message.incarnation])).to.deep.equal([
        [endpointOf(2), 2],
      ]);
    });
  }

  it("introduces itself to a member that does not know us any more", () => {
    const { single, ack } = asked();
    const [dial] = effectsOf(single.hear(2, ack({ state: "unknown", incarnation: 0 })), "dial");
    expect(dial?.to).to.deep.equal(endpointOf(2));
  });
});

describe("an indirect ping", () => {
  const request = { kind: "indirect-ping", seqNo: 5, target: endpointOf(3), node: "n3", wantsNack: true } as const;

  it("is passed on under a number of our own, and its ack back under the asker's", () => {
    const single = new SingleSwim().meet(2, 3);
    const [ping] = messagesIn(single.hear(2, request), "ping");
    expect(ping?.to).to.deep.equal(endpointOf(3));
    expect(ping?.message.node).to.equal("n3");
    const [ack] = messagesIn(
      single.hear(3, { kind: "ack", seqNo: ping?.message.seqNo ?? 0, payload: NO_BYTES }),
      "ack",
    );
    expect(ack).to.deep.equal({ to: endpointOf(2), message: { kind: "ack", seqNo: 5, payload: NO_BYTES } });
    expect(messagesIn(single.run(600), "nack")).to.deep.equal([]);
  });

  it("brings a nack after 500 ms of silence, if one is wanted", () => {
    const single = new SingleSwim(1, { probeIntervalMs: 0 }).meet(2, 3);
    single.hear(2, request);
    expect(messagesIn(single.run(499), "nack")).to.deep.equal([]);
    expect(messagesIn(single.run(1), "nack")).to.deep.equal([
      { to: endpointOf(2), message: { kind: "nack", seqNo: 5 } },
    ]);
    single.hear(2, { ...request, wantsNack: false });
    expect(messagesIn(single.run(600), "nack")).to.deep.equal([]);
  });

  it("to port 0 goes to our own port", () => {
    const single = new SingleSwim().meet(2, 3);
    const [ping] = messagesIn(single.hear(2, { ...request, target: { ...endpointOf(3), port: 0 } }), "ping");
    expect(ping?.to).to.deep.equal(endpointOf(3));
  });
});

describe("metadata", () => {
  it("that is urgent goes directly to every member at once", () => {
    const single = new SingleSwim().meet(2, 3, 4);
    const sent = ownAlives(single.tell({ kind: "set-meta", meta: meta(1), isUrgent: true }));
    expect(sent.map(({ to }) => to)).to.deep.equal([2, 3, 4].map(endpointOf));
    expect(sent.every(({ message }) => message.incarnation === 2 && message.meta[0] === 1)).to.equal(true);
  });

  it("that is not urgent changes at most once a second, and the last value wins", () => {
    const single = new SingleSwim().meet(2);
    single.tell({ kind: "set-meta", meta: meta(1), isUrgent: false });
    for (const mark of [2, 3, 4]) single.tell({ kind: "set-meta", meta: meta(mark), isUrgent: false });
    single.run(999);
    expect(single.swim.self).to.deep.include({ incarnation: 2, meta: meta(1) });
    single.run(1);
    expect(single.swim.self).to.deep.include({ incarnation: 3, meta: meta(4) });
  });

  it("that is what it was, or is again, is not news", () => {
    const single = new SingleSwim().meet(2);
    single.tell({ kind: "set-meta", meta: meta(1), isUrgent: true });
    expect(single.tell({ kind: "set-meta", meta: meta(1), isUrgent: true })).to.deep.equal([]);
    single.tell({ kind: "set-meta", meta: meta(2), isUrgent: false });
    single.tell({ kind: "set-meta", meta: meta(1), isUrgent: false });
    single.run(3_000);
    expect(single.swim.self.incarnation).to.equal(2);
  });

  it("over 512 bytes is our own mistake", () => {
    const single = new SingleSwim();
    expect(() => single.tell({ kind: "set-meta", meta: new Uint8Array(513), isUrgent: true })).to.throw(/512/);
  });
});

describe("user messages", () => {
  it("go directly to the members named, or to all", () => {
    const single = new SingleSwim().meet(2, 3);
    const to = (names: readonly string[] | "all") =>
      messagesIn(single.tell({ kind: "send-user", to: names, payload: Uint8Array.of(9) }), "user").map(
        (sent) => sent.to,
      );
    expect(to("all")).to.deep.equal([endpointOf(2), endpointOf(3)]);
    expect(to(["n3", "n1", "nobody"])).to.deep.equal([endpointOf(3)]);
  });

  it("come with the name of the member at their source", () => {
    const single = new SingleSwim().meet(2);
    const user = { kind: "user", payload: Uint8Array.of(9) } as const;
    expect(single.hear(2, user)).to.deep.equal([{ kind: "user-message", payload: user.payload, from: "n2" }]);
    expect(single.hear(8, user)).to.deep.equal([{ kind: "user-message", payload: user.payload }]);
  });

  it("come over streams, too, which are closed without an answer", () => {
    const single = new SingleSwim().meet(2);
    const payload = Uint8Array.of(9);
    const effects = single.tell({
      kind: "request",
      connection: 1,
      from: endpointOf(2),
      message: { kind: "user", payload },
    });
    expect(effects).to.deep.equal([
      { kind: "user-message", payload },
      { kind: "close", connection: 1 },
    ]);
  });
});

describe("a push/pull", () => {
  it("is answered with what was known before it, its flag repeated, and then merged", () => {
    const single = new SingleSwim().meet(2);
    single.tell({ kind: "set-user-state", bytes: Uint8Array.of(5) });
    const theirs = { ...pushPullOf(recordOf(3)), isJoin: false, userState: Uint8Array.of(6) };
    const effects = single.tell({ kind: "request", connection: 1, from: endpointOf(3), message: theirs });
    const [answer] = effectsOf(effects, "answer");
    expect(answer?.message).to.deep.include({ kind: "push-pull", isJoin: false, userState: Uint8Array.of(5) });
    const names = answer?.message.kind === "push-pull" ? answer.message.nodes.map(({ name }) => name) : [];
    expect(names).to.deep.equal(["n1", "n2"]);
    expect(effectsOf(effects, "user-state")).to.deep.equal([
      { kind: "user-state", from: endpointOf(3), bytes: Uint8Array.of(6) },
    ]);
    expect(single.swim.members().map(({ name }) => name)).to.deep.equal(["n1", "n2", "n3"]);
  });

  for (const { state, becomes } of [
    { state: "suspect", becomes: "suspect" },
    { state: "dead", becomes: "suspect" },
    { state: "left", becomes: "left" },
  ] as const) {
    it(`that holds a member ${state} makes it ${becomes} here`, () => {
      const single = new SingleSwim().meet(2);
      const message = pushPullOf(recordOf(2, { state }));
      single.tell({ kind: "request", connection: 1, from: endpointOf(3), message });
      expect(single.swim.members().find(({ name }) => name === "n2")?.state).to.equal(becomes);
    });

    it(`that holds us ${state} is refuted`, () => {
      const single = new SingleSwim().meet(2);
      const message = pushPullOf(recordOf(1, { state, incarnation: 7 }));
      const effects = single.tell({ kind: "request", connection: 1, from: endpointOf(2), message });
      expect(effectsOf(effects, "refuted").map(({ incarnation }) => incarnation)).to.deep.equal([8]);
    });
  }

  it("that never ends is told as silent, and the next may start", () => {
    const single = new SingleSwim().meet(2);
    const join = () => effectsOf(single.tell({ kind: "join", endpoints: [endpointOf(5)] }), "dial");
    const [dial] = join();
    expect(dial?.timeoutMs).to.equal(10_000);
    expect(join()).to.deep.equal([]);
    const effects = single.tell({ kind: "dial-failed", dial: dial?.dial ?? 0, failure: "silent" });
    expect(effects).to.deep.equal([{ kind: "push-pull-done", endpoint: endpointOf(5), outcome: "silent" }]);
    expect(join()).to.have.length(1);
  });
});

describe("checksums", () => {
  it("go with gossip to those who understand them, not with pings and acks", () => {
    const old = { ...aliveOf(3).versions, protocolMax: 4 } as never;
    const single = new SingleSwim().meet(2);
    single.hear(3, aliveOf(3, { versions: old }));
    const sent = sentIn(single.run(3_000));
    const gossip = sent.filter(({ messages }) => messages.every(({ kind }) => kind === "alive"));
    expect(gossip).to.not.have.length(0);
    for (const { to, withCrc } of gossip) expect(withCrc).to.equal(to.ip === "192.0.2.2");
    const pings = sent.filter(({ messages }) => messages[0]?.kind === "ping" && messages[1]?.kind !== "suspect");
    expect(pings.every(({ withCrc }) => !withCrc)).to.equal(true);
  });
});
