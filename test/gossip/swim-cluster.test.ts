import { expect } from "chai";
import { allHoldAlive, changeAt, formed, nodeAt } from "./cluster.ts";

describe("a gossip cluster", () => {
  for (const count of [1, 2, 3, 5, 30]) {
    it(`of ${count} meets when all start together`, () => {
      const cluster = formed(count);
      expect(allHoldAlive(cluster.nodes)).to.equal(true);
    });
  }

  for (const count of [3, 5]) {
    it(`of ${count} holds a killed member dead after 5 to 7.5 s, as memberlist was measured to do`, () => {
      const times = Array.from({ length: 10 }, (_, trial) => detectionTimes(count, trial)).flat();
      expect(Math.min(...times)).to.be.within(5_000, 5_600);
      expect(Math.max(...times)).to.be.within(5_600, 7_500);
    });
  }
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
