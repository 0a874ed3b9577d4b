import { expect } from "chai";
import type { NodeFacts } from "../../src/desired/snapshot.ts";
import { decide } from "../../src/election/elect.ts";
import { nodesAsMembers } from "../../src/election/nodes-as-members.ts";
import { RankMemory } from "../../src/election/rank-memory.ts";
import type { Rule } from "../../src/election/word.ts";
import { node } from "../desired/facts.ts";
import { group, groupService, view } from "./views.ts";

const OPTIONS = { ignoresCordon: false, ignoresExcludeLabel: false };
const NODES = ["node-a", "node-b", "node-c"];

/** By hash node-b leads, then node-a, then node-c. */
function leaderWith(facts: Partial<NodeFacts>, rule: Rule = "arpeggio-1", options = OPTIONS) {
  const nodes = NODES.map((name) => node(name, name === "node-b" ? facts : {}));
  const members = nodesAsMembers(nodes, options, rule);
  const electors = view(members, { rule, nodes: new Map(nodes.map((one) => [one.name, one])) });
  const [decision] = decide([group(groupService(["10.0.0.1"]))], electors, new RankMemory());
  return decision?.leader;
}

describe("nodesAsMembers: gossip off", () => {
  for (const { name, facts, leader } of [
    { name: "nothing", facts: {}, leader: "node-b" },
    { name: "Ready False or Unknown, at once,", facts: { isNotReady: true }, leader: "node-a" },
    { name: "a cordon", facts: { isUnschedulable: true }, leader: "node-a" },
    {
      name: "a cordon that it says to ignore",
      facts: { isUnschedulable: true, ignoresCordon: true },
      leader: "node-b",
    },
    { name: "a request to step down", facts: { wantsStepDown: true }, leader: "node-a" },
    { name: "NetworkUnavailable", facts: { isNetworkUnavailable: true }, leader: "node-a" },
    { name: "out-of-service", facts: { taintKeys: ["node.kubernetes.io/out-of-service"] }, leader: "node-a" },
    {
      name: "the exclude label",
      facts: { labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "false" } },
      leader: "node-a",
    },
  ] as const) {
    it(`${name} on the best node's object makes ${leader} lead`, () => expect(leaderWith(facts)).to.equal(leader));
  }

  it("leaves out what the options say", () => {
    const facts = {
      isUnschedulable: true,
      labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "" },
    };
    const options = { ignoresCordon: true, ignoresExcludeLabel: true };
    const [member] = nodesAsMembers([node("n1", facts)], options, "arpeggio-1");
    expect(member?.word?.flags).to.deep.equal(["ready"]);
  });

  it("MetalLB's rule does not look at Ready, as its speakers do not", () => {
    expect(leaderWith({ isNotReady: true }, "metallb-1")).to.equal("node-b");
  });
});
