import { expect } from "chai";
import fc from "fast-check";
import type { AddressGroup } from "../../src/desired/group.ts";
import { CANDIDATES_KEPT, type ElectionView } from "../../src/election/decision.ts";
import { decide } from "../../src/election/elect.ts";
import { RankMemory } from "../../src/election/rank-memory.ts";
import { groups, members, views } from "./arbitraries.ts";
import { oracle } from "./oracle.ts";
import { groupService, ip, prefix, word } from "./views.ts";

/** One Service a group, as MetalLB elects. */
function single(list: readonly AddressGroup[]): AddressGroup[] {
  return list.map(({ key, services: [first] }) => ({
    key,
    addresses: first?.addresses ?? [],
    services: first ? [first] : [],
  }));
}

const viewOfOne: Omit<ElectionView, "members"> = {
  rule: "arpeggio-1",
  source: "files",
  nodes: new Map(),
  ignoresExcludeLabel: false,
};

describe("decide, against the oracle", () => {
  it("agrees on order, leader and reason", () => {
    const reached = new Set<string>();
    fc.assert(
      fc.property(groups, views, (all, view) => {
        const list = view.rule === "metallb-1" ? single(all) : all;
        const decisions = decide(list, view, new RankMemory());
        for (const [index, group] of list.entries()) {
          const expected = oracle(group, view);
          const decision = decisions[index];
          expect(decision?.candidates.map((candidate) => candidate.node)).to.deep.equal(
            expected.order.slice(0, CANDIDATES_KEPT),
          );
          expect(decision?.leader).to.equal(expected.leader);
          expect(decision?.second).to.equal(expected.order[1]);
          if (expected.reason !== undefined) expect(decision?.reason).to.equal(expected.reason);
          reached.add(decision?.reason ?? "");
        }
      }),
      { numRuns: 300 },
    );
    for (const reason of [
      "best-tier",
      "sticky",
      "preferred-node",
      "ready-endpoint",
      "lowest-hash",
      "not-common-to-group",
    ]) {
      expect([...reached], "a run that never reached a reason proves nothing about it").to.include(reason);
    }
  });

  it("gives the same Decisions whatever the order of arrival", () => {
    const shuffled = members.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length })),
    );
    fc.assert(
      fc.property(groups, views, shuffled, (list, view, [one, other]) => {
        const first = decide(list, { ...view, members: one }, new RankMemory());
        const nodesReversed = new Map([...view.nodes].toReversed());
        const second = decide(list, { ...view, members: other, nodes: nodesReversed }, new RankMemory());
        expect(second).to.deep.equal(first);
      }),
    );
  });

  it("gives the same Decisions with a memory of other times", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(groups, views), { minLength: 2, maxLength: 5 }), (history) => {
        const memory = new RankMemory();
        for (const [list, view] of history) {
          expect(decide(list, view, memory)).to.deep.equal(decide(list, view, new RankMemory()));
        }
      }),
    );
  });

  it("sees that a link has got another prefix, with a memory of the old", () => {
    const none = [{ linkIndex: 2, prefix: prefix("10.0.0.0/8") }];
    const near = [{ linkIndex: 2, prefix: prefix("192.0.2.0/24") }];
    const far = [{ linkIndex: 2, prefix: prefix("198.51.100.0/24") }];
    const [one, two] = [groupService(["192.0.2.1"]), groupService(["198.51.100.1"])];
    const list = [one, two].map((service): AddressGroup => {
      return { key: service.addresses[0] ?? ip("192.0.2.1"), addresses: service.addresses, services: [service] };
    });
    const memory = new RankMemory();
    const tiers = [none, near, far, [...near, ...far]].map((prefixes) => {
      const view = { ...viewOfOne, members: [{ name: "n1", word: word(["ready"], { prefixes }) }] };
      return decide(list, view, memory).map(({ candidates }) => candidates[0]?.tier);
    });
    expect(tiers).to.deep.equal([
      [4, 4],
      [1, 4],
      [4, 1],
      [1, 1],
    ]);
  });
});
