import { expect } from "chai";
import fc from "fast-check";
import type { AddressGroup, GroupService } from "../../src/desired/group.ts";
import { CANDIDATES_KEPT, type ElectionView, type MemberView } from "../../src/election/decision.ts";
import { decide } from "../../src/election/elect.ts";
import { RankMemory } from "../../src/election/rank-memory.ts";
import { RULES, WORD_FLAGS } from "../../src/election/word.ts";
import { advertisement, labels, node } from "../desired/facts.ts";
import { oracle } from "./oracle.ts";
import { groupService, ip, mac, prefix, word } from "./views.ts";

const NAMES = ["n1", "n2", "n3", "n4", "n5", "n6"] as const;
const ADDRESSES = ["192.0.2.1", "192.0.2.2", "198.51.100.1", "2001:db8::1"] as const;
const PREFIXES = ["192.0.2.0/24", "198.51.100.0/24", "2001:db8::/64"] as const;
const ADVERTISEMENTS = [
  advertisement("all"),
  advertisement("zone-a", {
    nodeSelectors: [labels({ zone: "a" })],
    preferredNodes: [{ weight: 3, preference: labels({ zone: "a" }) }],
  }),
  advertisement("eth1", { interfaces: ["eth1"] }),
  advertisement("prefer-b", {
    preferredNodes: [
      { weight: 3, preference: labels({ zone: "b" }) },
      { weight: 1, preference: labels({}) },
    ],
  }),
  advertisement("n1-eth0", { nodeSelectors: [labels({ "kubernetes.io/hostname": "n1" })], interfaces: ["eth0"] }),
];

const links = fc.uniqueArray(
  fc.record({ index: fc.constantFrom(2, 3), isUsable: fc.boolean(), name: fc.constantFrom(undefined, "eth0", "eth1") }),
  { selector: ({ index }) => index, maxLength: 2 },
);
const words = fc.record({
  // Most nodes are ready: else nothing but refusals would be tried.
  flags: fc.tuple(fc.integer({ min: 0, max: 9 }), fc.subarray(WORD_FLAGS.slice(1), { maxLength: 2 })),
  links,
  prefixes: fc.subarray(PREFIXES.flatMap((text) => [2, 3].map((linkIndex) => ({ linkIndex, prefix: prefix(text) })))),
  isTruncated: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
});
const members: fc.Arbitrary<readonly MemberView[]> = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), fc.option(words, { nil: undefined, freq: 9 })), {
    selector: ([name]) => name,
  })
  .map((list) =>
    list.map(([name, facts]) => {
      if (facts === undefined) return { name };
      const flags = WORD_FLAGS.filter((flag) =>
        flag === "ready" ? facts.flags[0] > 0 : facts.flags[1].includes(flag),
      );
      const own = facts.links.map(({ name: linkName, ...link }) => ({
        ...link,
        mac: mac("02:00:00:00:00:01"),
        ...(linkName === undefined ? {} : { name: linkName }),
      }));
      return { name, word: word(flags, { links: own, prefixes: facts.prefixes, isTruncated: facts.isTruncated }) };
    }),
  );
const nodes = fc
  .subarray([...NAMES], { minLength: 3 })
  .chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc
          .record({ zone: fc.constantFrom("a", "b"), trouble: fc.integer({ min: 0, max: 11 }) })
          .map(({ zone, trouble }) =>
            node(name, {
              labels: {
                "kubernetes.io/hostname": name,
                zone,
                ...(trouble === 0 ? { "node.kubernetes.io/exclude-from-external-load-balancers": "" } : {}),
              },
              taintKeys: trouble === 1 ? ["node.kubernetes.io/out-of-service"] : [],
              isNetworkUnavailable: trouble === 2,
            }),
          ),
      ),
    ),
  )
  .map((list) => new Map(list.map((facts) => [facts.name, facts])));
const notYetCounted = fc
  .array(fc.tuple(fc.constantFrom(...NAMES), fc.subarray(["excluded", "out-of-service", "no-node-object"] as const)), {
    maxLength: 2,
  })
  .map((list) => new Map(list.map(([name, what]) => [name, new Set(what)])));
const views: fc.Arbitrary<ElectionView> = fc.record({
  rule: fc.constantFrom(...RULES),
  source: fc.constantFrom("kubernetes", "files"),
  members,
  nodes,
  ignoresExcludeLabel: fc.boolean(),
  notYetCounted,
});
const services: fc.Arbitrary<GroupService> = fc
  .record({
    addresses: fc.subarray([...ADDRESSES], { minLength: 1, maxLength: 2 }),
    advertisements: fc.subarray(ADVERTISEMENTS, { minLength: 1 }),
    isLocal: fc.boolean(),
    serving: fc.constantFrom("some", "some", "some", "everywhere", "none"),
    readyNodes: fc.subarray([...NAMES]),
    terminatingNodes: fc.subarray([...NAMES]),
    freshNodes: fc.subarray([...NAMES]),
    hasUnplacedEndpoint: fc.boolean(),
  })
  .map(
    ({ addresses, advertisements, isLocal, serving, readyNodes, terminatingNodes, freshNodes, hasUnplacedEndpoint }) =>
      groupService(addresses, {
        advertisements,
        externalTrafficPolicy: isLocal ? "Local" : "Cluster",
        hasServingEndpoint: serving !== "none",
        isServedEverywhere: serving === "everywhere",
        hasUnplacedEndpoint: hasUnplacedEndpoint && serving === "some",
        readyNodes: new Set(serving === "some" ? readyNodes : []),
        terminatingNodes: new Set(
          serving === "some" ? terminatingNodes.filter((name) => !readyNodes.includes(name)) : [],
        ),
        freshNodes: new Set(
          serving === "some" && isLocal ? freshNodes.filter((name) => readyNodes.includes(name)) : [],
        ),
      }),
  );
const groups = fc.array(
  fc.array(services, { minLength: 1, maxLength: 3 }).map((list): AddressGroup => {
    const addresses = [...new Set(list.flatMap((service) => service.addresses))];
    return { key: addresses[0] ?? ip("192.0.2.1"), addresses, services: list };
  }),
  { minLength: 1, maxLength: 4 },
);

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
    for (const reason of ["best-tier", "preferred-node", "ready-endpoint", "lowest-hash", "not-common-to-group"]) {
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

  it("gives the same Decisions for the same groups under one view after the other, and the same list for an equal view", () => {
    fc.assert(
      fc.property(groups, fc.array(views, { minLength: 2, maxLength: 6 }), (list, history) => {
        const memory = new RankMemory();
        for (const view of history) {
          const decisions = decide(list, view, memory);
          expect(decisions).to.deep.equal(decide(list, view, new RankMemory()));
          expect(decide(list, structuredClone(view), memory)).to.equal(decisions);
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
