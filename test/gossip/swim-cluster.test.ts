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
    it(`of ${count} holds a killed member dead after 5 to 8.6 s, as memberlist does`, () => {
      const times = Array.from({ length: 10 }, (_, trial) => {
        const cluster = formed(count, { seed: 100 + trial });
        cluster.run(137 * trial);
        const victim = nodeAt(cluster, 0);
        victim.host.kill();
        const killedMs = cluster.clock.nowMs();
        const survivors = cluster.nodes.slice(1);
        cluster.run(12_000);
        return survivors.map((node) => (changeAt(node, "dead", "n1") ?? Number.NaN) - killedMs);
      });
      console.log(times.map((t) => t.map(Math.round).join("/")).join("  "));
    });
  }
});
