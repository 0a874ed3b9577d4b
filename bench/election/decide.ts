/** How long an election takes for 10,000 addresses on 100 nodes (DESIGN §5): prints, judges nothing. `node dist/bench/election/decide.js` */
import { Deriver } from "../../src/desired/derive.ts";
import type { ClusterSnapshot, NodeFacts, ServiceFacts } from "../../src/desired/snapshot.ts";
import type { ElectionView, MemberView } from "../../src/election/decision.ts";
import { Election } from "../../src/election/election.ts";
import { rankHash, rankHeads } from "../../src/election/rank-hash.ts";
import { ipOfBigInt, parseIp } from "../../src/net/ip.ts";
import { parseMac } from "../../src/net/mac.ts";
import { parsePrefix, rangeOfPrefix } from "../../src/net/prefix.ts";
import { nativeRankHeads } from "../../src/sys/rank-heads.ts";

const ADDRESSES = 10_000;
const NODES = 100;
/** All in one turn. */
const WHOLE = Number.POSITIVE_INFINITY;
const NETWORK = parsePrefix("10.0.0.0/8");
const MAC = parseMac("02:00:00:00:00:01");
const KEY = parseIp("10.0.0.1");
if (NETWORK === undefined || MAC === undefined || KEY === undefined) throw new Error("constants do not parse");

const names = Array.from({ length: NODES }, (_, index) => `node-${index}`);
const services = Array.from({ length: ADDRESSES }, (_, index): [string, ServiceFacts] => {
  const name = `service-${index}`;
  const facts: ServiceFacts = {
    namespace: "default",
    name,
    createdAt: "",
    labels: {},
    isLoadBalancer: true,
    addresses: [ipOfBigInt(rangeOfPrefix(NETWORK).first + BigInt(index + 1), 4)],
    externalTrafficPolicy: "Cluster",
    hasSharingKey: false,
    isBeingDeleted: false,
  };
  return [`default/${name}`, facts];
});
const snapshot: ClusterSnapshot = {
  source: "files",
  pools: new Map([["all", { name: "all", createdAt: "", labels: {}, ranges: [rangeOfPrefix(NETWORK)] }]]),
  advertisements: new Map([
    [
      "all",
      {
        name: "all",
        poolNames: [],
        poolSelectors: [],
        nodeSelectors: [],
        serviceSelectors: [],
        interfaces: [],
        preferredNodes: [],
      },
    ],
  ]),
  services: new Map(services),
  endpointSlices: new Map(),
  nodes: new Map<string, NodeFacts>(),
  namespaces: new Map(),
};
const members = names.map(
  (name): MemberView => ({
    name,
    word: {
      highestRule: "arpeggio-1",
      ruleInUse: "arpeggio-1",
      flags: ["ready"],
      readySeconds: 60,
      restarts: 0,
      refutes: 0,
      troubleAgeSeconds: 0,
      links: [{ index: 2, isUsable: true, mac: MAC }],
      prefixes: [{ linkIndex: 2, prefix: NETWORK }],
      isTruncated: false,
    },
  }),
);

function viewOf(some: readonly MemberView[]): ElectionView {
  return { rule: "arpeggio-1", source: "files", members: some, nodes: snapshot.nodes, ignoresExcludeLabel: false };
}

/** Wall time, and this process's own processor time, which another load on the machine does not change. */
function timed<Value>(what: string, run: () => Value): Value {
  const startMs = performance.now();
  const before = process.cpuUsage();
  const value = run();
  const { user, system } = process.cpuUsage(before);
  const wall = `${(performance.now() - startMs).toFixed(1).padStart(10)} ms`;
  process.stdout.write(`${what.padEnd(44)}${wall}, processor ${((user + system) / 1_000).toFixed(1).padStart(8)} ms\n`);
  return value;
}

const election = new Election(nativeRankHeads(rankHeads));
const RULES = { loadBalancerClass: "", checksAdmission: true };
const deriver = new Deriver();
const { groups } = timed("derive", () => deriver.derive(snapshot, RULES));
timed("the hashes alone, for comparison", () => {
  for (const { key } of groups) for (const name of names) rankHash(name, key);
});
for (const [how, heads] of [
  ["here", rankHeads],
  ["by the addon", nativeRankHeads(rankHeads)],
] as const) {
  const found = new Uint32Array(NODES);
  timed(`their heads alone, as ranks need them, ${how}`, () => {
    for (const { key } of groups) heads(names, key, found, 0);
  });
}
timed(`first decision, ${ADDRESSES} x ${NODES - 1}`, () => election.advance(groups, viewOf(members.slice(1)), WHOLE));
for (let run = 0; run < 3; run++)
  timed("nothing changed", () => election.advance(groups, viewOf(members.slice(1)), WHOLE));
for (let run = 1; run <= 3; run++) {
  timed(`a member that was here joins, run ${run}`, () => election.advance(groups, viewOf(members), WHOLE));
  timed(`a member dies, run ${run}`, () => election.advance(groups, viewOf(members.slice(0, -1)), WHOLE));
}
for (let run = 1; run <= 3; run++) {
  const newcomer = members.slice(0, 1).map((member) => ({ ...member, name: `new-${run}` }));
  timed(`a member joins for the first time, run ${run}`, () =>
    election.advance(groups, viewOf([...members, ...newcomer]), WHOLE),
  );
}
for (let run = 1; run <= 3; run++) {
  const changed = members.map((member, index) =>
    index === run && member.word !== undefined ? { ...member, word: { ...member.word, readySeconds: 300 } } : member,
  );
  timed(`a word changes in what does not count, run ${run}`, () => election.advance(groups, viewOf(changed), WHOLE));
}
const [template] = services;
for (let run = 1; run <= 3; run++) {
  const [, facts] = template ?? ["", undefined];
  if (facts === undefined) break;
  const name = `one-more-${run}`;
  const addresses = [ipOfBigInt(rangeOfPrefix(NETWORK).first + BigInt(ADDRESSES + run), 4)];
  const next = {
    ...snapshot,
    services: new Map([...services, [`default/${name}`, { ...facts, name, addresses }] as const]),
  };
  const derived = timed(`one Service more: derive, run ${run}`, () => deriver.derive(next, RULES));
  timed(`one Service more: decide, run ${run}`, () => election.advance(derived.groups, viewOf(members), WHOLE));
}
