/** Who watches a leader. Expected orders from `printf %s n2#n1 | sha256sum` and its like. */
import { expect } from "chai";
import fc from "fast-check";
import { WatcherChoice } from "../../../src/gossip/fast/watchers.ts";

const choose = (node: string, seconds: readonly string[], eligible: readonly string[]): readonly string[] =>
  new WatcherChoice().watchersOf({ node, seconds }, eligible);

const ORDER = ["n2", "n5", "n3", "n4"];

describe("watchersOf", () => {
  it("takes the lowest hashes of watcher#leader", () => {
    expect(choose("n1", [], ["n1", "n2", "n3", "n4", "n5"])).to.deep.equal(ORDER.slice(0, 3));
  });

  it("takes seconds before others", () => {
    const last = ORDER.at(-1) ?? "";
    expect(choose("n1", [last], ["n1", "n2", "n3", "n4", "n5"])).to.deep.equal([last, ...ORDER.slice(0, 2)]);
  });

  it("has one watcher of two nodes, two of three, and none of one", () => {
    expect([["n1"], ["n1", "n2"], ["n1", "n2", "n3"]].map((all) => choose("n1", [], all).length)).to.deep.equal([
      0, 1, 2,
    ]);
  });

  it("passes over a second that may not watch", () => {
    expect(choose("n1", ["go1"], ["n1", "n2"])).to.deep.equal(["n2"]);
  });

  it("does not depend on the order in which members are known", () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(names, fc.nat(), (all, turn) => {
        const [leader = "x"] = all;
        const turned = [...all.slice(turn % all.length), ...all.slice(0, turn % all.length)];
        const seconds = all.slice(1, 3);
        expect(choose(leader, seconds, turned)).to.deep.equal(choose(leader, seconds.toReversed(), all));
      }),
    );
  });
});
