/** Members, views and groups of every kind, for property tests of the election. */
import fc from "fast-check";
import type { AddressGroup, GroupService } from "../../src/desired/group.ts";
import type { ElectionView, MemberView } from "../../src/election/decision.ts";
import { HolderBook, type HolderRecord, type HoldersByIp } from "../../src/election/holders.ts";
import { RULES, WORD_FLAGS } from "../../src/election/word.ts";
import { advertisement, labels, node } from "../desired/facts.ts";
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

const STICKY = ADVERTISEMENTS.map((facts) => ({ ...facts, name: `sticky-${facts.name}`, isSticky: true as const }));

const links = fc.uniqueArray(
  fc.record({
    index: fc.constantFrom(2, 3),
    isUsable: fc.boolean(),
    isReturning: fc.boolean(),
    name: fc.constantFrom(undefined, "eth0", "eth1"),
  }),
  { selector: ({ index }) => index, maxLength: 2 },
);
const words = fc.record({
  // Most nodes are ready: else nothing but refusals would be tried.
  flags: fc.tuple(fc.integer({ min: 0, max: 9 }), fc.subarray(WORD_FLAGS.slice(1), { maxLength: 2 })),
  links,
  prefixes: fc.subarray(PREFIXES.flatMap((text) => [2, 3].map((linkIndex) => ({ linkIndex, prefix: prefix(text) })))),
  isTruncated: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
});
export const members: fc.Arbitrary<readonly MemberView[]> = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), fc.option(words, { nil: undefined, freq: 9 })), {
    selector: ([name]) => name,
  })
  .map((list) =>
    list.map(([name, facts]) => {
      if (facts === undefined) return { name };
      const flags = WORD_FLAGS.filter((flag) =>
        flag === "ready" ? facts.flags[0] > 0 : facts.flags[1].includes(flag),
      );
      const own = facts.links.map(({ name: linkName, isReturning, ...link }) => ({
        ...link,
        ...(isReturning ? { isReturning } : {}),
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
/** Of few terms, so that some are equal. */
export const records: fc.Arbitrary<readonly HolderRecord[]> = fc.array(
  fc.record({
    addresses: fc.subarray(ADDRESSES.map(ip), { minLength: 1 }),
    node: fc.constantFrom(...NAMES),
    term: fc.integer({ min: 1, max: 4 }),
  }),
  { maxLength: 8 },
);
export const holders: fc.Arbitrary<HoldersByIp> = records.map((list) => {
  const book = new HolderBook();
  book.take(list, () => true, 0);
  return book.byIp;
});
export const views: fc.Arbitrary<ElectionView> = fc.record({
  rule: fc.constantFrom(...RULES),
  source: fc.constantFrom("kubernetes", "files"),
  members,
  nodes,
  ignoresExcludeLabel: fc.boolean(),
  notYetCounted,
  holders,
});
const services: fc.Arbitrary<GroupService> = fc
  .record({
    addresses: fc.subarray([...ADDRESSES], { minLength: 1, maxLength: 2 }),
    advertisements: fc.subarray([...ADVERTISEMENTS, ...STICKY], { minLength: 1 }),
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
export const groups: fc.Arbitrary<readonly AddressGroup[]> = fc.array(
  fc.array(services, { minLength: 1, maxLength: 3 }).map((list): AddressGroup => {
    const addresses = [...new Set(list.flatMap((service) => service.addresses))];
    return { key: addresses[0] ?? ip("192.0.2.1"), addresses, services: list };
  }),
  { minLength: 1, maxLength: 4 },
);
