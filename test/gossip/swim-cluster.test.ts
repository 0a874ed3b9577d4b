/** What a user sees of a gossip cluster, on a virtual clock. */
import { expect } from "chai";
import { TIMING_PRESETS } from "../../src/gossip/timing.ts";
import { aliveNames, allHoldAlive, Cluster, changeAt, formed, ipOfNode, newsOf, nodeAt, viewOf } from "./cluster.ts";

describe("a gossip cluster", () => {
  for (const count of [1, 2, 3, 5, 30]) {
    it(`of ${count} meets when all start together`, () => {
      const cluster = new Cluster();
      const nodes = Array.from({ length: count }, (_, index) => cluster.add(`n${index + 1}`, ipOfNode(index)));
      for (const node of nodes)
        cluster.open(
          node,
          nodes.map(({ endpoint }) => endpoint),
        );
      expect(cluster.runUntil(() => allHoldAlive(nodes), 2_000)).to.be.below(700);
    });
  }

  it("meets when each node knows one other only", () => {
    const cluster = new Cluster();
    const nodes = Array.from({ length: 5 }, (_, index) => cluster.add(`n${index + 1}`, ipOfNode(index)));
    for (const [index, node] of nodes.entries()) cluster.open(node, [nodeAt(cluster, Math.max(0, index - 1)).endpoint]);
    expect(cluster.runUntil(() => allHoldAlive(nodes), 3_000)).to.be.below(2_000);
  });

  it("meets under a key, and keeps a node with another key out", () => {
    const cluster = formed(3, { key: new Uint8Array(32).fill(7) });
    expect(allHoldAlive(cluster.nodes)).to.equal(true);
    const stranger = formed(1, { key: new Uint8Array(32).fill(8) });
    expect(aliveNames(nodeAt(stranger, 0))).to.deep.equal(["n1"]);
  });

  it("meets over a lossy, reordering, duplicating network", () => {
    const quality = { latencyMs: 1, jitterMs: 2, loss: 0.1, duplication: 0.05, reordering: 0.1, reorderingMs: 50 };
    const cluster = formed(5, { quality, seed: 5 });
    cluster.run(10_000);
    expect(allHoldAlive(cluster.nodes)).to.equal(true);
  });

  it("is quiet: no verdict and no suspicion in two minutes", () => {
    const cluster = formed(5, { seed: 9 });
    cluster.run(120_000);
    const changes = cluster.nodes.flatMap((node) => node.told.filter(({ news }) => news.kind === "member-changed"));
    expect(changes).to.have.length(25);
    expect(cluster.nodes.map((node) => node.driver.healthScore())).to.deep.equal([0, 0, 0, 0, 0]);
  });

  for (const count of [3, 5]) {
    it(`of ${count} holds a killed member dead after 5 to 7.5 s, as memberlist was measured to do`, () => {
      const times = Array.from({ length: 10 }, (_, trial) => detectionTimes(count, trial)).flat();
      expect(Math.min(...times)).to.be.within(5_000, 5_600);
      expect(Math.max(...times)).to.be.within(5_600, 7_500);
    });
  }

  it("of 2 holds the other dead when its machine loses power", () => {
    const cluster = formed(2);
    cluster.network.powerOff(ipOfNode(0));
    const tookMs = cluster.runUntil(() => viewOf(nodeAt(cluster, 1), "n1")?.state === "dead", 10_000);
    expect(tookMs).to.be.within(4_900, 7_000);
  });

  it("follows the local preset: a crash is seen after 4 to 5 s", () => {
    const cluster = formed(3, { timing: TIMING_PRESETS.local });
    nodeAt(cluster, 0).host.kill();
    expect(cluster.runUntil(() => changeAt(nodeAt(cluster, 1), "dead", "n1") !== undefined, 8_000)).to.be.within(
      3_900,
      6_000,
    );
  });

  it("sees a leave at once, everywhere, and tells the leaver when it is done", () => {
    const cluster = formed(5);
    const leaver = nodeAt(cluster, 0);
    const startMs = cluster.clock.nowMs();
    leaver.driver.command({ kind: "leave" });
    cluster.run(5);
    for (const node of cluster.nodes.slice(1)) expect(changeAt(node, "left", "n1", startMs)).to.be.below(startMs + 2);
    cluster.run(1_000);
    expect(newsOf(leaver, "left")).to.deep.equal([{ kind: "left", isComplete: true }]);
  });

  it("does not bring a leaver back, and does not hold it dead", () => {
    const cluster = formed(3);
    const leaver = nodeAt(cluster, 0);
    leaver.driver.command({ kind: "leave" });
    cluster.run(1_000);
    leaver.host.kill();
    cluster.run(60_000);
    for (const node of cluster.nodes.slice(1)) {
      expect(aliveNames(node)).to.deep.equal(["n2", "n3"]);
      expect(changeAt(node, "dead", "n1")).to.equal(undefined);
    }
  });

  it("of 2 is done with the leave's four sends within the second that MetalLB gives it", () => {
    const cluster = formed(2);
    const leaver = nodeAt(cluster, 0);
    leaver.driver.command({ kind: "leave" });
    expect(cluster.runUntil(() => newsOf(leaver, "left").length > 0, 2_000)).to.be.within(300, 800);
  });

  it("of 1 leaves at once", () => {
    const cluster = formed(1);
    nodeAt(cluster, 0).driver.command({ kind: "leave" });
    expect(newsOf(nodeAt(cluster, 0), "left")).to.deep.equal([{ kind: "left", isComplete: true }]);
  });

  for (const { name, waitMs } of [
    { name: "before anybody noticed", waitMs: 300 },
    { name: "while it is suspected", waitMs: 3_000 },
    { name: "after it was held dead", waitMs: 12_000 },
    { name: "after it was forgotten", waitMs: 60_000 },
  ]) {
    it(`takes a node that starts again under its name back within 1 s, ${name}`, () => {
      const cluster = formed(3);
      const endpoints = cluster.nodes.map(({ endpoint }) => endpoint);
      nodeAt(cluster, 0).host.kill();
      cluster.run(waitMs);
      const again = cluster.add("n1", ipOfNode(0), Uint8Array.of(1));
      cluster.open(again, endpoints);
      const others = cluster.nodes.slice(1);
      const isBack = (): boolean =>
        allHoldAlive(others) && others.every((node) => viewOf(node, "n1")?.meta.length === 1);
      expect(cluster.runUntil(isBack, 5_000)).to.be.below(1_000);
      cluster.run(30_000);
      expect(allHoldAlive(others)).to.equal(true);
    });
  }

  it("takes a node back that left and starts again", () => {
    const cluster = formed(3);
    const endpoints = cluster.nodes.map(({ endpoint }) => endpoint);
    nodeAt(cluster, 0).driver.command({ kind: "leave" });
    cluster.run(1_000);
    nodeAt(cluster, 0).host.kill();
    const again = cluster.add("n1", ipOfNode(0));
    cluster.open(again, endpoints);
    expect(cluster.runUntil(() => allHoldAlive(cluster.nodes.slice(1)), 5_000)).to.be.below(1_000);
  });
});

/** Kills one of `count` at another phase in each trial; the times from then to the verdict of each survivor. */
function detectionTimes(count: number, trial: number): number[] {
  const cluster = formed(count, { seed: 100 + trial });
  cluster.run(137 * trial);
  const killedMs = cluster.clock.nowMs();
  nodeAt(cluster, 0).host.kill();
  cluster.run(12_000);
  return cluster.nodes.slice(1).map((node) => (changeAt(node, "dead", "n1") ?? Number.NaN) - killedMs);
}
