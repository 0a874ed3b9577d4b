import { expect } from "chai";
import { decide } from "../../src/election/elect.ts";
import { RankMemory } from "../../src/election/rank-memory.ts";
import { group, groupService, member, view } from "./views.ts";

const members = [member("iris1"), member("iris2")];

describe("metallb-1: Services that share an address", () => {
  it("elects each Service by itself under MetalLB's rule, and gives every address to one election", () => {
    const one = groupService(["10.20.30.1", "10.20.30.9"], { name: "one" });
    const two = groupService(["10.20.30.2", "10.20.30.9"], { name: "two" });
    const decisions = decide([group(one, two)], view(members, { rule: "metallb-1" }), new RankMemory());
    expect(decisions.map((decision) => [decision.leader, decision.group.key, decision.group.addresses])).to.deep.equal([
      ["iris2", "10.20.30.1", ["10.20.30.1", "10.20.30.9"]],
      ["iris1", "10.20.30.2", ["10.20.30.2"]],
    ]);
    // Whoever answers for an address does so for every Service that has it.
    expect(decisions.map((decision) => decision.group.services.map(({ name }) => name))).to.deep.equal([
      ["one", "two"],
      ["two"],
    ]);
  });

  it("leaves an address to the sharer that is served under MetalLB's rule", () => {
    const idle = groupService(["10.20.30.1"], { name: "idle", hasServingEndpoint: false });
    const busy = groupService(["10.20.30.1"], { name: "busy" });
    const decisions = decide([group(idle, busy)], view(members, { rule: "metallb-1" }), new RankMemory());
    expect(decisions.map((decision) => [decision.leader, decision.group.addresses])).to.deep.equal([
      ["iris2", ["10.20.30.1"]],
    ]);
  });
});
