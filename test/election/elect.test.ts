import { expect } from "chai";
import { compareText } from "../../src/desired/text-order.ts";
import type { ElectionView } from "../../src/election/decision.ts";
import { decide } from "../../src/election/elect.ts";
import { rankHash } from "../../src/election/rank-hash.ts";
import { RankMemory } from "../../src/election/rank-memory.ts";
import { RULES } from "../../src/election/word.ts";
import { advertisement, labels, node } from "../desired/facts.ts";
import { decideOne, goMember, group, groupService, ip, local, member, orderOf, view } from "./views.ts";

/** Computed with MetalLB's own code (speaker/layer2_controller.go, sortCandidates). */
const METALLB_VECTORS = [
  { address: "10.20.30.1", order: ["iris2", "iris1"] },
  { address: "10.20.30.2", order: ["iris1", "iris2"] },
  { address: "10.0.0.1", order: ["node-b", "node-a", "node-c"] },
  { address: "10.0.0.2", order: ["node-b", "node-c", "node-a"] },
  { address: "10.20.30.1", order: ["edge-b", "worker-a", "edge-a", "worker-b"] },
  { address: "2001:db8::1", order: ["node-b", "node-a", "node-c"] },
] as const;

/** sha256sum of "node-a#10.0.0.1" and so on. */
const DIGESTS = {
  "node-a": "dd41591fe8f31f9f38e297fe9892a8eff47892ea017c4167619a62f366fb8149",
  "node-b": "2acae88581fd8b477d8abf5bd882a2094b0c9631507ebc7770a5682a13cd71f1",
  "node-c": "f949561f9d43a768b2fb5b9a6bf94d11908a0d279379f31bdbbb2cdd136ab7eb",
} as const;

describe("decide: MetalLB's vectors", () => {
  for (const rule of RULES) {
    for (const { address, order } of METALLB_VECTORS) {
      it(`${rule} ranks ${[...order].toSorted(compareText).join(", ")} for ${address}`, () => {
        const members = [...order].toSorted(compareText).map((name) => member(name));
        expect(orderOf(group(groupService([address])), view(members, { rule }))).to.deep.equal(order);
      });
    }
  }

  it("hashes as sha256sum does", () => {
    for (const [name, digest] of Object.entries(DIGESTS)) expect(rankHash(name, ip("10.0.0.1"))).to.equal(digest);
  });
});

/** By sha256sum of "node-119022#10.0.0.1" and so on: 1e1ccb55aa98, 1e1ccb55e287, eb4cd0aa8bf8, eb4cd0aaac8e. */
const ALIKE = ["node-119022", "node-30530", "node-78572", "node-166802"];

describe("decide: hashes alike in their first 32 bits", () => {
  it("are ordered by the rest", () => {
    expect(orderOf(group(groupService(["10.0.0.1"])), view(ALIKE.map((name) => member(name))))).to.deep.equal(ALIKE);
  });
});

const WEB = group(groupService(["10.20.30.1"]));

const pending = (what: "excluded" | "out-of-service" | "no-node-object"): Partial<ElectionView> => ({
  notYetCounted: new Map([["iris2", new Set([what])]]),
});

describe("decide: never-tests", () => {
  const other = member("iris1");
  const exclude = node("iris2", { labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "" } });
  const outOfService = node("iris2", { taintKeys: ["node.kubernetes.io/out-of-service"] });
  const members = [other, member("iris2")];
  const withNode = (facts: typeof exclude): Partial<ElectionView> => ({
    nodes: new Map([
      ["iris1", node("iris1")],
      ["iris2", facts],
    ]),
  });

  for (const { name, of, reason } of [
    { name: "a word without ready", of: view([other, member("iris2", [])]), reason: "not-ready" },
    { name: "a member without a word", of: view([other, goMember("iris2")]), reason: "not-ready" },
    { name: "its word says excluded", of: view([other, member("iris2", ["ready", "excluded"])]), reason: "excluded" },
    { name: "the API says excluded", of: view(members, withNode(exclude)), reason: "excluded" },
    {
      name: "its word says out of service",
      of: view([other, member("iris2", ["ready", "out-of-service"])]),
      reason: "out-of-service",
    },
    { name: "the API says out of service", of: view(members, withNode(outOfService)), reason: "out-of-service" },
    {
      name: "its Node is gone",
      of: view(members, { nodes: new Map([["iris1", node("iris1")]]) }),
      reason: "no-node-object",
    },
  ] as const) {
    it(`refuses for ${name}: ${reason}`, () => {
      const decision = decideOne(WEB, of);
      expect(decision.refusals).to.deep.equal([{ node: "iris2", reason }]);
      expect(decision).to.deep.include({ leader: "iris1", reason: "only-candidate" });
    });
  }

  for (const { name, facts } of [
    { name: "a young exclude label in the API", facts: { ...withNode(exclude), ...pending("excluded") } },
    { name: "a young out-of-service taint", facts: { ...withNode(outOfService), ...pending("out-of-service") } },
    {
      name: "a Node just deleted",
      facts: { nodes: new Map([["iris1", node("iris1")]]), ...pending("no-node-object") },
    },
    { name: "an exclude label with --ignore-exclude-lb", facts: { ...withNode(exclude), ignoresExcludeLabel: true } },
    { name: "an exclude label in another host's files", facts: { ...withNode(exclude), source: "files" as const } },
    { name: "no Node document with files", facts: { nodes: new Map(), source: "files" as const } },
  ]) {
    it(`does not refuse for ${name}`, () => expect(decideOne(WEB, view(members, facts)).leader).to.equal("iris2"));
  }

  it("selects by Node labels, and by the host name alone without a Node document", () => {
    const only = advertisement("one", { nodeSelectors: [labels({ "kubernetes.io/hostname": "iris1" })] });
    const web = group(groupService(["10.20.30.1"], { advertisements: [only] }));
    for (const of of [view(members), view(members, { nodes: new Map(), source: "files" })]) {
      expect(decideOne(web, of)).to.deep.include({
        leader: "iris1",
        refusals: [{ node: "iris2", reason: "not-selected" }],
      });
    }
  });
});

describe("decide: endpoints", () => {
  const members = [member("iris1"), member("iris2")];

  for (const { name, service, leader, reason } of [
    {
      name: "Local, one node serves",
      service: local(["10.20.30.1"], ["iris1"]),
      leader: "iris1",
      reason: "only-candidate",
    },
    {
      name: "Local, both serve",
      service: local(["10.20.30.1"], ["iris1", "iris2"]),
      leader: "iris2",
      reason: "lowest-hash",
    },
    {
      name: "Local, nobody serves",
      service: local(["10.20.30.1"], []),
      leader: undefined,
      reason: "no-serving-endpoint",
    },
    {
      name: "Local, a stranger serves",
      service: local(["10.20.30.1"], ["iris9"]),
      leader: undefined,
      reason: "no-local-endpoint",
    },
    {
      name: "Local, ready before terminating",
      service: local(["10.20.30.1"], ["iris1"], ["iris2"]),
      leader: "iris1",
      reason: "ready-endpoint",
    },
    {
      name: "Local, only terminating",
      service: local(["10.20.30.1"], [], ["iris2"]),
      leader: "iris2",
      reason: "only-candidate",
    },
    {
      name: "Local, served everywhere",
      service: groupService(["10.20.30.1"], { externalTrafficPolicy: "Local", isServedEverywhere: true }),
      leader: "iris2",
      reason: "lowest-hash",
    },
    {
      name: "Cluster, nobody serves",
      service: groupService(["10.20.30.1"], { hasServingEndpoint: false }),
      leader: undefined,
      reason: "no-serving-endpoint",
    },
  ] as const) {
    it(`${name}: ${leader ?? "nobody"}, ${reason}`, () => {
      const decision = decideOne(group(service), view(members));
      expect([decision.leader, decision.reason]).to.deep.equal([leader, reason]);
    });
  }

  it("tells no endpoint at all from endpoints on no node, side by side", () => {
    const nowhere = { ...local(["10.20.30.2"], []), hasServingEndpoint: true };
    const decisions = decide([group(local(["10.20.30.1"], [])), group(nowhere)], view(members), new RankMemory());
    expect(decisions.map(({ reason }) => reason)).to.deep.equal(["no-serving-endpoint", "no-local-endpoint"]);
  });

  it("lets MetalLB's rule count a terminating endpoint like a ready one", () => {
    const web = group(local(["10.20.30.1"], ["iris1"], ["iris2"]));
    expect(decideOne(web, view(members, { rule: "metallb-1" })).leader).to.equal("iris2");
  });
});

describe("decide: groups", () => {
  const members = [member("iris1"), member("iris2")];

  it("leads both families and all sharers from one node", () => {
    const shared = group(groupService(["10.20.30.1", "2001:db8::1"]), groupService(["2001:db8::1", "10.20.30.2"]));
    const decisions = decide([shared], view(members), new RankMemory());
    expect(decisions.map(({ leader }) => leader)).to.deep.equal(["iris2"]);
  });

  it("says not-common-to-group when each Service has a node but none has both", () => {
    const shared = group(local(["10.20.30.1"], ["iris1"]), local(["10.20.30.1"], ["iris2"]));
    const decision = decideOne(shared, view(members));
    expect([decision.leader, decision.reason]).to.deep.equal([undefined, "not-common-to-group"]);
  });

  it("does not silence an address because one of its Services has no endpoint", () => {
    const idle = groupService(["10.20.30.1"], { hasServingEndpoint: false });
    expect(decideOne(group(idle, local(["10.20.30.1"], ["iris1"])), view(members)).leader).to.equal("iris1");
  });
});

describe("decide: tiers", () => {
  for (const { flags, tier, tierReason } of [
    { flags: ["ready", "settling"], tier: 2, tierReason: "settling" },
    { flags: ["ready", "damped"], tier: 2, tierReason: "damped" },
    { flags: ["ready", "cordoned"], tier: 3, tierReason: "cordoned" },
    { flags: ["ready", "stepping-down"], tier: 3, tierReason: "stepping-down" },
    { flags: ["ready", "network-unavailable"], tier: 4, tierReason: "network-unavailable" },
    { flags: ["ready", "leaving"], tier: 5, tierReason: "leaving" },
    { flags: ["ready", "settling", "cordoned"], tier: 3, tierReason: "cordoned" },
    { flags: ["ready", "cordoned", "network-unavailable", "leaving"], tier: 5, tierReason: "leaving" },
  ] as const) {
    it(`${flags.join(", ")} is tier ${tier}, and still leads alone`, () => {
      const two = decideOne(WEB, view([member("iris1"), member("iris2", flags)]));
      expect(two.leader).to.equal("iris1");
      expect(two.reason).to.equal("best-tier");
      expect(two.candidates[1]).to.deep.include({ node: "iris2", tier, tierReason });
      expect(decideOne(WEB, view([member("iris2", flags)])).leader).to.equal("iris2");
    });
  }

  it("cordoning every node moves nothing", () => {
    const flags = ["ready", "cordoned"] as const;
    expect(orderOf(WEB, view([member("iris1", flags), member("iris2", flags)]))).to.deep.equal(["iris2", "iris1"]);
  });

  it("ignores all flags under MetalLB's rule", () => {
    const members = [member("iris1"), member("iris2", ["cordoned", "leaving", "settling"])];
    expect(decideOne(WEB, view(members, { rule: "metallb-1" }))).to.deep.include({
      leader: "iris2",
      reason: "lowest-hash",
    });
  });
});

const prefer = (role: string, weight: number) => ({ weight, preference: labels({ role }) });

const advertisedBy = (...ads: Parameters<typeof advertisement>[1][]) =>
  group(groupService(["10.20.30.1"], { advertisements: ads.map((facts, index) => advertisement(`a${index}`, facts)) }));

describe("decide: preferences", () => {
  const names = ["edge-a", "edge-b", "worker-a", "worker-b"];
  const nodes = new Map(names.map((name) => [name, node(name, { labels: { role: name.split("-")[0] ?? "" } })]));

  for (const rule of RULES) {
    const of = view(
      names.map((name) => member(name)),
      { nodes, rule },
    );
    it(`${rule}: preferred nodes by hash, then the rest by hash`, () => {
      const one = advertisedBy({ preferredNodes: [prefer("worker", 10)] });
      expect(orderOf(one, of)).to.deep.equal(["worker-a", "worker-b", "edge-b", "edge-a"]);
      expect(
        decideOne(advertisedBy({ preferredNodes: [{ weight: 5, preference: labels({ role: "worker" }) }] }), of),
      ).to.deep.include({
        reason: "lowest-hash",
      });
    });

    it(`${rule}: weights of all matching advertisements add up`, () => {
      const one = advertisedBy(
        { preferredNodes: [prefer("edge", 100)] },
        { preferredNodes: [prefer("worker", 60), prefer("worker", 50)] },
      );
      const decision = decideOne(one, of);
      expect(decision.candidates.map(({ score }) => score)).to.deep.equal([110, 110, 100, 100]);
    });

    it(`${rule}: an advertisement that does not select the node gives it no score`, () => {
      const selectsEdges = { nodeSelectors: [labels({ role: "edge" })], preferredNodes: [prefer("worker", 100)] };
      expect(orderOf(advertisedBy({}, selectsEdges), of)).to.deep.equal(["edge-b", "worker-a", "edge-a", "worker-b"]);
    });
  }

  it("lets a tier go before a preference", () => {
    const members = [member("edge-a"), member("worker-a", ["ready", "settling"])];
    const one = advertisedBy({ preferredNodes: [prefer("worker", 100)] });
    expect(orderOf(one, view(members, { nodes }))).to.deep.equal(["edge-a", "worker-a"]);
  });
});

describe("decide: with a memory", () => {
  const of = view([member("iris1"), member("iris2")]);

  it("gives the very same Decision while nothing changed, so that readers can tell by identity", () => {
    const memory = new RankMemory();
    const [first] = decide([WEB], of, memory);
    const [second] = decide([WEB], view([member("iris2"), member("iris1")]), memory);
    expect(second).to.equal(first);
  });

  it("names the Services of now", () => {
    const memory = new RankMemory();
    decide([WEB], of, memory);
    const renamed = group(groupService(["10.20.30.1"], { name: "renamed" }));
    expect(decide([renamed], of, memory)[0]?.group).to.equal(renamed);
  });
});

describe("decide: nobody", () => {
  it("says so without members", () => expect(decideOne(WEB, view([])).reason).to.equal("no-members"));

  it("gives the reason that removed the last candidate", () => {
    const members = [member("iris1", []), member("iris2", ["ready", "excluded"])];
    expect(decideOne(WEB, view(members)).reason).to.equal("excluded");
  });
});
