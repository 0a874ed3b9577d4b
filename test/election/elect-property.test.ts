import { expect } from "chai";
import fc from "fast-check";
import type { AddressGroup } from "../../src/desired/group.ts";
import { CANDIDATES_KEPT, type ElectionView } from "../../src/election/decision.ts";
import { decide } from "../../src/election/elect.ts";
import { RankMemory } from "../../src/election/rank-memory.ts";
import type { WordFlag } from "../../src/election/word.ts";
import { groups, members, views } from "./arbitraries.ts";
import { oracle } from "./oracle.ts";
import { group, groupService, ip, member, prefix, word } from "./views.ts";

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
        for (const [index, each] of list.entries()) {
          const expected = oracle(each, view);
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

  it("gives the same Decisions when one of more members than a Decision names has changed", () => {
    const names = Array.from({ length: 40 }, (_, number) => `n${number}`);
    const list = Array.from({ length: 8 }, (_, number) => group(groupService([`192.0.2.${number + 1}`])));
    const states = fc.constantFrom<readonly WordFlag[] | undefined>(
      ["ready"],
      ["ready", "settling"],
      ["ready", "cordoned"],
      ["ready", "excluded"],
      undefined,
    );
    const changes = fc.array(fc.tuple(fc.constantFrom(...names), states), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(changes, (history) => {
        const memory = new RankMemory();
        const flagsOf = new Map<string, readonly WordFlag[] | undefined>(names.map((name) => [name, ["ready"]]));
        for (const [changed, state] of history) {
          flagsOf.set(changed, state);
          const now = [...flagsOf].flatMap(([name, flags]) => (flags === undefined ? [] : [member(name, flags)]));
          const view = { ...viewOfOne, members: now };
          const decisions = decide(list, view, memory);
          expect(decisions).to.deep.equal(decide(list, view, new RankMemory()));
          for (const [index, each] of list.entries()) {
            const named = decisions[index]?.candidates.map(({ node }) => node);
            expect(named).to.deep.equal(oracle(each, view).order.slice(0, CANDIDATES_KEPT));
          }
        }
      }),
      { numRuns: 40 },
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
