import { expect } from "chai";
import type { NodeFacts } from "../../src/desired/snapshot.ts";
import type { MemberView } from "../../src/election/decision.ts";
import {
  CONTRADICTION_MS,
  NO_OBSERVED_NODES,
  type ObservedNodes,
  observedNodesDeadlineMs,
  observeNodes,
} from "../../src/election/observed-nodes.ts";
import { node } from "../desired/facts.ts";
import { goMember, member } from "./views.ts";

const EXCLUDED = node("n1", { labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "" } });
const OUT = node("n1", { taintKeys: ["node.kubernetes.io/out-of-service"] });

function after(steps: readonly (readonly [number, readonly NodeFacts[], readonly MemberView[]])[]): ObservedNodes {
  return steps.reduce(
    (state, [atMs, nodes, members]) =>
      observeNodes(state, "kubernetes", new Map(nodes.map((facts) => [facts.name, facts])), members, atMs),
    NO_OBSERVED_NODES,
  );
}

describe("observeNodes", () => {
  for (const { facts, what } of [
    { facts: [EXCLUDED], what: "excluded" },
    { facts: [OUT], what: "out-of-service" },
    { facts: [], what: "no-node-object" },
  ] as const) {
    it(`lets ${what} count after it contradicted the word for 10 s`, () => {
      const one = [member("n1")];
      const began = after([[0, facts, one]]);
      expect([...(began.notYetCounted.get("n1") ?? [])]).to.deep.equal([what]);
      expect(observedNodesDeadlineMs(began, 0)).to.equal(CONTRADICTION_MS);
      const ended = after([
        [0, facts, one],
        [CONTRADICTION_MS, facts, one],
      ]);
      expect(ended.notYetCounted.size).to.equal(0);
      expect(observedNodesDeadlineMs(ended, CONTRADICTION_MS)).to.equal(undefined);
    });
  }

  it("begins anew when the contradiction was gone in between", () => {
    const one = [member("n1")];
    const state = after([
      [0, [EXCLUDED], one],
      [5_000, [node("n1")], one],
      [6_000, [EXCLUDED], one],
      [12_000, [EXCLUDED], one],
    ]);
    expect([...(state.notYetCounted.get("n1") ?? [])]).to.deep.equal(["excluded"]);
  });

  it("keeps the facts of a Node just deleted for 10 s, for its labels", () => {
    const one = [member("n1")];
    const known = node("n1", { labels: { zone: "a" } });
    const steps = [
      [0, [known], one],
      [1_000, [], one],
      [2_000, [], one],
    ] as const;
    expect(after(steps).nodes.get("n1")).to.deep.equal(known);
    expect(after([...steps, [11_000, [], one]]).nodes.has("n1")).to.equal(false);
  });

  it("has nothing to wait for when the word agrees, or there is none", () => {
    expect(after([[0, [EXCLUDED], [member("n1", ["ready", "excluded"])]]]).notYetCounted.size).to.equal(0);
    expect(after([[0, [EXCLUDED], [goMember("n1")]]]).notYetCounted.size).to.equal(0);
  });

  it("does nothing with the files source", () => {
    const nodes = new Map([["n1", EXCLUDED]]);
    const state = observeNodes(NO_OBSERVED_NODES, "files", nodes, [member("n1")], 0);
    expect([state.nodes, state.notYetCounted.size]).to.deep.equal([nodes, 0]);
  });
});
