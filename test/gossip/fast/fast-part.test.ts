/** The fast detector inside the swim machine: what leaves, to whom, and what it costs the others. */
import { expect } from "chai";
import type { WatchView } from "../../../src/gossip/fast/fast-event.ts";
import type { Ack } from "../../../src/gossip/message.ts";
import { type Cluster, changeAt, formed, nodeAt, viewOf } from "../cluster.ts";
import { aliveOf, effectsOf, endpointOf, messagesIn, SingleSwim, sentIn } from "../single-swim.ts";

const NAMES = ["n1", "n2", "n3", "n4", "n5"];
const VIEW: WatchView = {
  leaders: [{ node: "n2", seconds: ["n1"] }],
  watchers: ["n1", "n2", "n3"],
  goMembers: [],
  hasLink: true,
};

/** n1, which watches n2. */
function watcher(probeIntervalMs = 1_000): SingleSwim {
  const single = new SingleSwim(1, { probeIntervalMs, gossipIntervalMs: 0, pushPullIntervalMs: 0 }, true).meet(2, 3);
  single.tell({ kind: "watch", view: VIEW });
  return single;
}

function lastSeqNo(single: SingleSwim): number {
  return messagesIn(single.effects, "ping").at(-1)?.message.seqNo ?? 0;
}

function ackOf(seqNo: number): Ack {
  return { kind: "ack", seqNo, payload: new Uint8Array(0) };
}

/** n3 answers every ping of ours, n2 none. */
function runHeardBy3(single: SingleSwim, durationMs: number): void {
  for (let ms = 0; ms < durationMs; ms += 20) {
    single.run(20);
    for (const { to, message } of messagesIn(single.effects, "ping")) {
      if (to.ip === endpointOf(3).ip) single.hear(3, ackOf(message.seqNo));
    }
  }
}

describe("fast detection in swim", () => {
  it("pings carry nothing else, and take nothing from the queue", () => {
    const single = watcher(0);
    single.hear(2, aliveOf(4));
    const effects = single.run(1_000);
    const bare = sentIn(effects).filter(({ messages }) => messages[0]?.kind === "ping" && messages.length === 1);
    expect(bare.length).to.be.at.least(10);
    // What waits is still there for whom the first probe's ack would bring it to.
    const answer = single.hear(3, {
      kind: "ping",
      seqNo: 7,
      node: "n1",
      source: { endpoint: endpointOf(3), node: "n3" },
    });
    expect(sentIn(answer).flatMap(({ messages }) => messages.map(({ kind }) => kind))).to.include("alive");
  });

  it("acks to one who pings ten times a second carry what waits at most twice a second", () => {
    const single = new SingleSwim(1, { probeIntervalMs: 0, gossipIntervalMs: 0, pushPullIntervalMs: 0 }).meet(2, 3);
    single.hear(2, aliveOf(4));
    const carried = Array.from({ length: 10 }, (_, index) => {
      single.run(100);
      const ping = { kind: "ping", seqNo: index, node: "n1", source: { endpoint: endpointOf(3), node: "n3" } } as const;
      return sentIn(single.hear(3, ping)).some(({ messages }) => messages.length > 1);
    });
    expect(carried.filter(Boolean).length).to.equal(2);
  });

  it("asks helpers without a nack, pings them beside it, and dials once for each silent ping", () => {
    const single = watcher();
    const effects = single.run(400);
    const indirect = messagesIn(effects, "indirect-ping");
    expect(indirect.length).to.be.at.least(3);
    expect(
      indirect.every(({ message, to }) => !message.wantsNack && message.node === "n2" && to.ip === endpointOf(3).ip),
    ).to.equal(true);
    const beside = sentIn(effects).filter(({ messages }) => messages[0]?.kind === "indirect-ping");
    expect(beside.map(({ messages }) => messages[1]?.kind)).to.deep.equal(indirect.map(() => "ping"));
    expect(effectsOf(effects, "ask-neighbour").length).to.equal(indirect.length);
  });

  it("an ack that a helper passes on proves the one that was asked for, not the helper's word of itself", () => {
    const single = watcher();
    for (let round = 0; round < 20; round++) {
      single.run(100);
      const seqNo = messagesIn(single.effects, "indirect-ping").at(-1)?.message.seqNo;
      if (seqNo !== undefined) single.hear(3, ackOf(seqNo));
    }
    expect(messagesIn(single.effects, "suspect")).to.deep.equal([]);
  });

  it("accuses directly: the accused, the other watchers and the seconds, five times", () => {
    const single = watcher();
    runHeardBy3(single, 700);
    const suspects = messagesIn(single.effects, "suspect").filter(({ message }) => message.from === "n1");
    for (const number of [2, 3]) {
      expect(suspects.filter(({ to }) => to.ip === endpointOf(number).ip).length).to.be.at.least(5);
    }
  });

  it("two accusers make dead, told to everybody at once, the accused too", () => {
    const single = watcher();
    runHeardBy3(single, 600);
    single.effects = [];
    single.hear(3, { kind: "suspect", node: "n2", incarnation: 1, from: "n3" });
    const dead = messagesIn(single.effects, "dead");
    expect(dead.map(({ to }) => to.ip).toSorted()).to.deep.equal([endpointOf(2).ip, endpointOf(3).ip]);
    expect(effectsOf(single.effects, "member-changed").map(({ change }) => change)).to.include("dead");
  });

  it("one who was dead and is said to live again counts when it has answered us itself", () => {
    const single = watcher();
    single.hear(3, { kind: "dead", node: "n2", incarnation: 1, from: "n3" });
    single.hear(3, aliveOf(2, { incarnation: 2 }));
    expect([...single.swim.unproven]).to.deep.equal(["n2"]);
    single.effects = [];
    single.run(250);
    const pings = messagesIn(single.effects, "ping").filter(({ to }) => to.ip === endpointOf(2).ip);
    expect(pings.length).to.be.at.least(2);
    // A helper's word is not enough.
    single.hear(3, ackOf(pings[0]?.message.seqNo ?? 0));
    expect([...single.swim.unproven]).to.deep.equal(["n2"]);
    const effects = single.hear(2, ackOf(pings[1]?.message.seqNo ?? 0));
    expect(effectsOf(effects, "proved-alive").map(({ name }) => name)).to.deep.equal(["n2"]);
    expect([...single.swim.unproven]).to.deep.equal([]);
  });

  it("off, nothing of it is there", () => {
    const single = new SingleSwim().meet(2, 3);
    single.tell({ kind: "watch", view: VIEW });
    single.hear(3, { kind: "dead", node: "n2", incarnation: 1, from: "n3" });
    single.hear(3, aliveOf(2, { incarnation: 2 }));
    expect(single.swim.fast).to.equal(undefined);
    expect([...single.swim.unproven]).to.deep.equal([]);
    expect(lastSeqNo(single)).to.equal(0);
  });
});

/** `count` nodes of which n1 leads, and everybody knows that. */
function led(count: number, detectsFast = true): Cluster {
  const cluster = formed(count, { detectsFast });
  const watchers = NAMES.slice(0, count);
  const view = { leaders: [{ node: "n1", seconds: ["n2"] }], watchers, goMembers: [], hasLink: true };
  for (const node of cluster.nodes) node.driver.command({ kind: "watch", view });
  cluster.run(1_000);
  return cluster;
}

describe("a cluster that watches its leader", () => {
  for (const count of [2, 3, 5]) {
    it(`of ${count} holds it dead within half a second after its process is killed, where it took seconds`, () => {
      const cluster = led(count);
      const killedMs = cluster.clock.nowMs();
      nodeAt(cluster, 0).host.kill();
      expect(
        cluster.runUntil(() => cluster.nodes.slice(1).every((node) => viewOf(node, "n1")?.state === "dead"), 2_000),
      ).to.be.at.most(300);
      expect(changeAt(nodeAt(cluster, 1), "dead", "n1", killedMs)).to.not.equal(undefined);
    });
  }

  it("says nothing to anybody while all is well, for two minutes", () => {
    const cluster = led(5);
    cluster.run(120_000);
    for (const node of cluster.nodes) {
      expect(
        node.told.filter(({ news }) => news.kind === "member-changed" && news.change === "suspected"),
      ).to.deep.equal([]);
      expect(node.driver.fast?.counters().verdicts).to.equal(0);
    }
  }).timeout(60_000);

  it("needs seconds with it off", () => {
    const cluster = led(3, false);
    nodeAt(cluster, 0).host.kill();
    expect(cluster.runUntil(() => viewOf(nodeAt(cluster, 1), "n1")?.state === "dead", 20_000)).to.be.at.least(4_000);
  });
});
