import { expect } from "chai";
import { type DutyMemory, type DutyView, dutiesOf } from "../../speaker/duties.ts";
import type { Leadership } from "../../speaker/leadership.ts";
import type { AdvertisementFacts } from "../../src/desired/snapshot.ts";
import type { Candidate, Decision, Refusal } from "../../src/election/decision.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";

const ip = (text: string): Ip => parseIp(text) ?? expect.fail(text);
const V4 = ip("192.0.2.10");
const V6 = ip("2001:db8::10");

function advertisement(interfaces: readonly string[], zone?: string): AdvertisementFacts {
  const nodeSelectors = zone === undefined ? [] : [{ matchLabels: { zone }, matchExpressions: [] }];
  return {
    name: `on-${interfaces.join("-")}`,
    poolNames: [],
    poolSelectors: [],
    nodeSelectors,
    serviceSelectors: [],
    interfaces,
    preferredNodes: [],
  };
}

function candidate(node: string): Candidate {
  return { node, tier: 1, score: 3, endpointClass: "any" };
}

/** Candidates best first. */
function decision(
  nodes: readonly string[],
  refusals: readonly Refusal[] = [],
  advertisements: readonly AdvertisementFacts[] = [advertisement([])],
): Decision {
  const [leader, second] = nodes;
  const service = {
    namespace: "default",
    name: "web",
    addresses: [V4, V6],
    externalTrafficPolicy: "Cluster" as const,
    advertisements,
    readyNodes: new Set<string>(),
    terminatingNodes: new Set<string>(),
    hasServingEndpoint: true,
    isServedEverywhere: true,
    hasUnplacedEndpoint: false,
  };
  return {
    group: { key: V4, addresses: [V4, V6], services: [service] },
    rule: "arpeggio-1",
    candidates: nodes.map(candidate),
    refusals,
    reason: leader === undefined ? "no-members" : "lowest-hash",
    ...(leader === undefined ? {} : { leader }),
    ...(second === undefined ? {} : { second }),
  };
}

const NO_LABELS = {};

function view(changed: Partial<DutyView> = {}): DutyView {
  return {
    self: "n1",
    incarnation: 4,
    leadership: new Map(),
    answering: new Set(),
    wasReplaced: false,
    saysGoodbye: false,
    hasLeases: true,
    ownLabels: NO_LABELS,
    orphans: new Map(),
    ours: new Set(["n1", "n2", "n3", "n4"]),
    ...changed,
  };
}

function ledBefore(previousLeader: string): ReadonlyMap<Ip, Leadership> {
  return new Map([V4, V6].map((address) => [address, { reason: "lowest-hash", sinceMs: 0, previousLeader }]));
}

describe("dutiesOf", () => {
  it("leads both families of a group, and claims from who led before", () => {
    const duties = dutiesOf([decision(["n1", "n2"])], view({ leadership: ledBefore("n3") }));
    expect(duties.map(({ ip: address, role, group }) => [address, role, group])).to.deep.equal([
      [V4, "lead", V4],
      [V6, "lead", V4],
    ]);
    expect(duties[0]).to.deep.include({ previousLeader: "n3", second: "n2" });
    expect(duties[0]?.basis).to.deep.equal({
      incarnation: 4,
      rule: "arpeggio-1",
      term: 0,
      tier: 1,
      score: 3,
      endpointClass: "any",
      // sha256sum of "n1#192.0.2.10"
      hash: "9870ca2e99562e2044624725b11711d848b35680626dc334849a3dcce8e4fb1d",
    });
  });

  it("claims what is sticky in its term, and what it stands in for in a lower one, so that the leader comes before it", () => {
    const sticky = { ...decision(["n1", "n2"]), sticky: { holder: "n1", term: 4 } };
    expect(dutiesOf([sticky], view())[0]?.basis.term).to.equal(4);
    const other = { ...decision(["n2", "n1"]), sticky: { holder: "n2", term: 4 } };
    const taken = dutiesOf([other], view({ orphans: new Map([[V4, "n2"]]) }));
    expect(taken.map(({ role, basis }) => [role, basis.term])).to.deep.include(["lead", 2]);
  });

  it("claims nothing from a Go member, which reads no claims", () => {
    const duties = dutiesOf([decision(["n1"])], view({ leadership: ledBefore("metallb") }));
    expect(duties[0]).not.to.have.property("previousLeader");
  });

  it("leads what it has taken from one that does not lead it, and claims it from all", () => {
    const [duty] = dutiesOf(
      [decision(["n2", "n1"])],
      view({ orphans: new Map([[V4, {}]]), ours: new Set(["n2", "n3"]) }),
    );
    expect(duty).to.deep.include({ ip: V4, role: "lead", previousLeader: "n2", others: ["n2", "n3"] });
  });

  it("goes on answering after a lost election until the new leader shows itself", () => {
    const duties = dutiesOf([decision(["n2", "n1"])], view({ answering: new Set([V4]) }));
    expect(duties.map(({ ip: address, role, nextLeader }) => [address, role, nextLeader?.node])).to.deep.equal([
      [V4, "moved", "n2"],
      [V6, "second", undefined],
    ]);
  });

  it("knows whether the next leader sends claims", () => {
    const duties = dutiesOf([decision(["metallb", "n1"])], view({ answering: new Set([V4]) }));
    expect(duties[0]?.nextLeader).to.deep.equal({ node: "metallb", sendsClaims: false });
  });

  it("goes on answering while it says goodbye and nobody is there to follow, until anybody shows itself", () => {
    const duties = dutiesOf([decision(["n1"])], view({ answering: new Set([V4]), saysGoodbye: true }));
    expect(duties.map(({ ip: address, role }) => [address, role])).to.deep.equal([[V4, "moved"]]);
    expect(duties[0]).not.to.have.property("nextLeader");
    const led = dutiesOf([decision(["n2", "n1"])], view({ answering: new Set([V4]), saysGoodbye: true }));
    expect(led[0]?.nextLeader?.node).to.equal("n2");
  });

  it("stops at once when this node is refused, has no members to hand over to, or was replaced", () => {
    const answering = new Set([V4, V6]);
    const refused = decision(["n2"], [{ node: "n1", reason: "excluded" }]);
    expect(dutiesOf([refused], view({ answering }))).to.deep.equal([]);
    expect(dutiesOf([decision([])], view({ answering }))).to.deep.equal([]);
    const replaced = dutiesOf([decision(["n2", "n3", "n1"])], view({ answering, wasReplaced: true }));
    expect(replaced).to.deep.equal([]);
  });

  it("hands over even when it stands too far behind to be named in the decision", () => {
    const duties = dutiesOf([decision(["n2", "n3"])], view({ answering: new Set([V4]) }));
    expect(duties.map(({ role, basis }) => [role, basis.tier])).to.deep.equal([["moved", 5]]);
  });

  it("watches as second and does nothing as third", () => {
    expect(dutiesOf([decision(["n2", "n1"])], view()).map(({ role }) => role)).to.deep.equal(["second", "second"]);
    expect(dutiesOf([decision(["n2", "n3", "n1"])], view())).to.deep.equal([]);
  });

  it("joins the links of the advertisements that select this node; one without links allows all", () => {
    const limited = [advertisement(["eth1", "eth0"]), advertisement(["eth2"], "a"), advertisement(["eth3"], "b")];
    const duties = dutiesOf([decision(["n1"], [], limited)], view({ ownLabels: { zone: "a" } }));
    expect(duties[0]?.interfaces).to.deep.equal(["eth0", "eth1", "eth2"]);
    const open = dutiesOf([decision(["n1"], [], [...limited, advertisement([])])], view());
    expect(open[0]?.interfaces).to.deep.equal([]);
  });

  it("gives the same objects again while nothing about them changes, and equal ones to what is worked out anew", () => {
    const memory: DutyMemory = new Map();
    const decisions = [decision(["n1", "n2"])];
    const steps: readonly Partial<DutyView>[] = [
      {},
      { leadership: ledBefore("n3") },
      { leadership: ledBefore("metallb") },
      { incarnation: 5 },
      { self: "n2", answering: new Set([V4]) },
      { self: "n2", answering: new Set([V4]), ours: new Set() },
      { self: "n2", answering: new Set([V4]), wasReplaced: true },
    ];
    for (const step of steps) {
      // A memory belongs to one node.
      const own = step.self === undefined ? memory : new Map();
      const given = dutiesOf(decisions, view(step), own);
      expect(given).to.deep.equal(dutiesOf(decisions, view(step)));
      const again = dutiesOf(decisions, view(step), own);
      expect(again.every((duty, index) => duty === given[index])).to.equal(true);
    }
  });
});
