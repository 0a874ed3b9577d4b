import { expect } from "chai";
import type { IPAddressPoolResource } from "../../api/ip-address-pool.ts";
import { Deriver, derive } from "../../src/desired/derive.ts";
import { poolFacts } from "../../src/desired/resource-facts.ts";
import type { NamespaceFacts, PoolAllocation } from "../../src/desired/snapshot.ts";
import { advertisement, labels, pool, service, snapshot } from "./facts.ts";

const RULES = { loadBalancerClass: "", checksAdmission: true };
const ALL: PoolAllocation = { namespaces: [], namespaceSelectors: [], serviceSelectors: [] };
const TEAM = { "kubernetes.io/metadata.name": "shop", team: "a" };

function contents(allocation: PoolAllocation | undefined, namespaces: readonly NamespaceFacts[]) {
  const pools = [pool("main", ["192.0.2.0/24"], allocation === undefined ? {} : { allocation })];
  const services = [service("web", ["192.0.2.1"], { namespace: "shop", labels: { app: "web" } })];
  return { pools, services, namespaces, advertisements: [advertisement("all")] };
}

function resource(serviceAllocation: IPAddressPoolResource["spec"]["serviceAllocation"]): IPAddressPoolResource {
  return {
    apiVersion: "metallb.io/v1beta1",
    kind: "IPAddressPool",
    metadata: { name: "main", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { addresses: ["192.0.2.0/24"], serviceAllocation: serviceAllocation ?? null },
  };
}

describe("serviceAllocation of a pool", () => {
  for (const { name, allocation, isAdmitted, namespaces = [{ name: "shop", labels: TEAM }] } of [
    { name: "none", allocation: undefined, isAdmitted: true },
    { name: "its namespace", allocation: { ...ALL, namespaces: ["other", "shop"] }, isAdmitted: true },
    { name: "another namespace", allocation: { ...ALL, namespaces: ["other"] }, isAdmitted: false },
    {
      name: "a label of its namespace",
      allocation: { ...ALL, namespaceSelectors: [labels({ team: "a" })] },
      isAdmitted: true,
    },
    {
      name: "a label that its namespace has not",
      allocation: { ...ALL, namespaceSelectors: [labels({ team: "b" })] },
      isAdmitted: false,
    },
    {
      name: "another namespace by name, and its own by label",
      allocation: { ...ALL, namespaces: ["other"], namespaceSelectors: [labels({ team: "a" })] },
      isAdmitted: true,
    },
    {
      name: "its own label",
      allocation: { ...ALL, serviceSelectors: [labels({ app: "db" }), labels({ app: "web" })] },
      isAdmitted: true,
    },
    {
      name: "a label that it has not",
      allocation: { ...ALL, serviceSelectors: [labels({ app: "db" })] },
      isAdmitted: false,
    },
    {
      name: "its namespace, and a label that it has not",
      allocation: { ...ALL, namespaces: ["shop"], serviceSelectors: [labels({ app: "db" })] },
      isAdmitted: false,
    },
    {
      name: "the name of a namespace without a document",
      allocation: { ...ALL, namespaceSelectors: [labels({ "kubernetes.io/metadata.name": "shop" })] },
      namespaces: [],
      isAdmitted: true,
    },
    {
      name: "the team of a namespace without a document",
      allocation: { ...ALL, namespaceSelectors: [labels({ team: "a" })] },
      namespaces: [],
      isAdmitted: false,
    },
  ] as const) {
    it(`for ${name}: ${isAdmitted ? "announced" : "not-admitted-by-pool"}`, () => {
      const facts = snapshot(contents(allocation, namespaces));
      const { refused } = derive(facts, RULES);
      expect(refused.map(({ reason }) => reason)).to.deep.equal(isAdmitted ? [] : ["not-admitted-by-pool"]);
      expect(derive(facts, { ...RULES, checksAdmission: false }).refused).to.deep.equal([]);
    });
  }

  it("is judged again when a namespace gets a label, and when the rule changes", () => {
    const allocation = { ...ALL, namespaceSelectors: [labels({ team: "a" })] };
    const deriver = new Deriver();
    const before = snapshot(contents(allocation, [{ name: "shop", labels: {} }]));
    const after = { ...before, namespaces: new Map([["shop", { name: "shop", labels: TEAM }]]) };
    expect(deriver.derive(before, RULES).groups).to.have.lengthOf(0);
    expect(deriver.derive(after, RULES).groups).to.have.lengthOf(1);
    expect(deriver.derive(before, RULES).groups).to.have.lengthOf(0);
    expect(deriver.derive(before, { ...RULES, checksAdmission: false }).groups).to.have.lengthOf(1);
  });

  it("is read from the resource; a priority alone admits everybody", () => {
    expect(poolFacts(resource({ priority: 10 }))).to.not.have.property("allocation");
    expect(poolFacts(resource(null))).to.not.have.property("allocation");
    expect(
      poolFacts(resource({ namespaces: ["shop"], namespaceSelectors: [{ matchLabels: { team: "a" } }] })).allocation,
    ).to.deep.equal({ namespaces: ["shop"], namespaceSelectors: [labels({ team: "a" })], serviceSelectors: [] });
  });
});

describe("overlapping pools", () => {
  const advertisements = [
    advertisement("old", { poolNames: ["z-old"] }),
    advertisement("new", { poolNames: ["a-new"] }),
  ];
  const reached = (oldAt: string, newAt: string) => {
    const pools = [
      pool("a-new", ["192.0.2.0/24", "198.51.100.0/24"], { createdAt: newAt }),
      pool("z-old", ["192.0.2.0/28"], { createdAt: oldAt }),
    ];
    const services = [service("web", ["192.0.2.1"])];
    const { groups } = derive(snapshot({ pools, advertisements, services }), RULES);
    return groups[0]?.services[0]?.advertisements.map(({ name }) => name);
  };

  it("leave an address with the pool that was there first", () => {
    expect(reached("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z")).to.deep.equal(["old"]);
    expect(reached("2026-01-01T00:00:01Z", "2026-01-01T00:00:00Z")).to.deep.equal(["new"]);
  });

  it("of equal age leave it with the first by name", () => {
    expect(reached("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")).to.deep.equal(["new"]);
  });
});
