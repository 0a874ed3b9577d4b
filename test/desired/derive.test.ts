import { expect } from "chai";
import fc from "fast-check";
import { derive } from "../../src/desired/derive.ts";
import type { Derived } from "../../src/desired/group.ts";
import type { AdvertisementFacts, ClusterSnapshot, EndpointFacts, ServiceFacts } from "../../src/desired/snapshot.ts";
import { advertisement, labels, pool, service, slice, snapshot } from "./facts.ts";

const POOL = pool("main", ["192.0.2.0/24", "2001:db8::/64"]);
const EVERYWHERE = advertisement("all");

function derived(contents: Parameters<typeof snapshot>[0]): Derived {
  return derive(snapshot({ pools: [POOL], advertisements: [EVERYWHERE], ...contents }), {
    loadBalancerClass: "",
    checksAdmission: true,
  });
}

function reasonsOf(services: readonly ServiceFacts[], rest: Parameters<typeof snapshot>[0] = {}): readonly string[] {
  return derived({ services, ...rest }).refused.map(({ reason }) => reason);
}

function advertisementsOf(ads: readonly AdvertisementFacts[], facts: Partial<ServiceFacts> = {}): readonly string[] {
  const pools = [pool("main", ["192.0.2.0/24"], { labels: { zone: "a" } })];
  const { groups } = derived({ pools, advertisements: ads, services: [service("web", ["192.0.2.1"], facts)] });
  return groups[0]?.services[0]?.advertisements.map(({ name }) => name) ?? [];
}

function servedBy(endpoints: readonly EndpointFacts[] | undefined, source: ClusterSnapshot["source"] = "kubernetes") {
  const endpointSlices = endpoints === undefined ? [] : [slice("web", endpoints)];
  const { groups } = derived({ source, services: [service("web", ["192.0.2.1"])], endpointSlices });
  const found = groups[0]?.services[0];
  return {
    ready: [...(found?.readyNodes ?? [])],
    terminating: [...(found?.terminatingNodes ?? [])],
    serving: found?.hasServingEndpoint,
    everywhere: found?.isServedEverywhere,
  };
}

describe("derive: refusals", () => {
  for (const { name, facts, reason } of [
    { name: "a ClusterIP Service", facts: { isLoadBalancer: false }, reason: "not-load-balancer" },
    { name: "another class", facts: { loadBalancerClass: "other" }, reason: "other-load-balancer-class" },
    { name: "a Service being deleted", facts: { isBeingDeleted: true }, reason: "being-deleted" },
    { name: "no address", facts: { addresses: [] }, reason: "no-address" },
    { name: "a host name", facts: { addresses: ["lb.example.org"] }, reason: "invalid-address" },
    { name: "one bad address of two", facts: { addresses: ["192.0.2.1", ""] }, reason: "invalid-address" },
    { name: "an address in no pool", facts: { addresses: ["198.51.100.1"] }, reason: "no-pool" },
    { name: "one address in no pool", facts: { addresses: ["192.0.2.1", "198.51.100.1"] }, reason: "no-pool" },
  ] as const) {
    it(`says ${reason} for ${name}`, () => {
      expect(reasonsOf([service("web", ["192.0.2.1"], facts)])).to.deep.equal([reason]);
    });
  }

  it("keeps the addresses that could be read", () => {
    const { refused } = derived({ services: [service("web", ["192.0.2.1", "x"])] });
    expect(refused[0]?.addresses).to.deep.equal(["192.0.2.1"]);
  });

  it("says no-pool when each address has a pool but none has all", () => {
    const pools = [pool("four", ["192.0.2.0/24"]), pool("six", ["2001:db8::/64"])];
    expect(reasonsOf([service("web", ["192.0.2.1", "2001:db8::1"])], { pools })).to.deep.equal(["no-pool"]);
  });

  it("serves exactly the class it was started with", () => {
    const services = [service("none", ["192.0.2.1"]), service("own", ["192.0.2.2"], { loadBalancerClass: "lb" })];
    const result = derive(snapshot({ pools: [POOL], advertisements: [EVERYWHERE], services }), {
      loadBalancerClass: "lb",
      checksAdmission: true,
    });
    expect(result.refused.map(({ name }) => name)).to.deep.equal(["none"]);
    expect(result.groups.map(({ key }) => key)).to.deep.equal(["192.0.2.2"]);
  });

  for (const { name, ads, reason } of [
    { name: "no advertisement at all", ads: [], reason: "no-advertisement" },
    { name: "one for another pool", ads: [advertisement("a", { poolNames: ["other"] })], reason: "no-advertisement" },
    {
      name: "one for other Services",
      ads: [advertisement("a", { serviceSelectors: [labels({ app: "db" })] })],
      reason: "no-advertisement",
    },
  ] as const) {
    it(`says ${reason} with ${name}`, () => {
      expect(reasonsOf([service("web", ["192.0.2.1"])], { advertisements: ads })).to.deep.equal([reason]);
    });
  }

  it("refuses a sharing key under an advertisement with service selectors, even one of two", () => {
    const advertisements = [EVERYWHERE, advertisement("web", { serviceSelectors: [labels({ app: "web" })] })];
    const shared = { hasSharingKey: true, labels: { app: "web" } };
    expect(reasonsOf([service("web", ["192.0.2.1"], shared)], { advertisements })).to.deep.equal([
      "shared-address-with-service-selector",
    ]);
    expect(reasonsOf([service("web", ["192.0.2.1"], { hasSharingKey: true })], { advertisements })).to.deep.equal([]);
  });
});

describe("derive: advertisements", () => {
  it("takes those without pool lists, those by name and those by label, and no other", () => {
    const ads = [
      advertisement("d-other-name", { poolNames: ["other"] }),
      advertisement("c-label", { poolSelectors: [labels({ zone: "a" })] }),
      advertisement("b-name", { poolNames: ["main"] }),
      advertisement("a-any"),
      advertisement("e-other-label", { poolSelectors: [labels({ zone: "b" })] }),
      advertisement("f-either", { poolNames: ["other"], poolSelectors: [labels({ zone: "a" })] }),
    ];
    expect(advertisementsOf(ads)).to.deep.equal(["a-any", "b-name", "c-label", "f-either"]);
  });

  it("reads several service selectors as alternatives", () => {
    const ads = [advertisement("two", { serviceSelectors: [labels({ app: "a" }), labels({ app: "b" })] })];
    expect(advertisementsOf(ads, { labels: { app: "b" } })).to.deep.equal(["two"]);
    expect(advertisementsOf(ads, { labels: { app: "c" } })).to.deep.equal([]);
  });

  it("takes the first pool by name when two overlap", () => {
    const pools = [pool("b", ["192.0.2.0/24"]), pool("a", ["192.0.0.0/16"])];
    const advertisements = [advertisement("a", { poolNames: ["a"] }), advertisement("b", { poolNames: ["b"] })];
    const { groups } = derived({ pools, advertisements, services: [service("web", ["192.0.2.1"])] });
    expect(groups[0]?.services[0]?.advertisements.map(({ name }) => name)).to.deep.equal(["a"]);
  });
});

describe("derive: groups", () => {
  it("joins Services over the addresses they share, and names the group by its oldest", () => {
    const { groups } = derived({
      services: [
        service("a", ["192.0.2.1"], { createdAt: "2026-01-03T00:00:00Z" }),
        service("b", ["192.0.2.2", "192.0.2.1"], { createdAt: "2026-01-01T00:00:00Z" }),
        service("c", ["192.0.2.3"], { createdAt: "2026-01-02T00:00:00Z" }),
        service("d", ["2001:db8::1", "192.0.2.2"], { createdAt: "2026-01-04T00:00:00Z" }),
      ],
    });
    expect(groups.map(({ key }) => key)).to.deep.equal(["192.0.2.2", "192.0.2.3"]);
    expect(groups[0]?.addresses).to.deep.equal(["192.0.2.2", "192.0.2.1", "2001:db8::1"]);
    expect(groups[0]?.services.map(({ name }) => name)).to.deep.equal(["b", "a", "d"]);
  });

  it("breaks a tie of age by namespace and name", () => {
    const createdAt = "2026-01-01T00:00:00Z";
    const { groups } = derived({
      services: [
        service("a", ["192.0.2.1", "192.0.2.9"], { createdAt, namespace: "z" }),
        service("b", ["192.0.2.2", "192.0.2.9"], { createdAt, namespace: "y" }),
      ],
    });
    expect(groups.map(({ key }) => key)).to.deep.equal(["192.0.2.2"]);
  });

  it("compares times, not their text", () => {
    const { groups } = derived({
      services: [
        service("late", ["192.0.2.1", "192.0.2.9"], { createdAt: "2026-01-01T00:30:00Z" }),
        service("early", ["192.0.2.2", "192.0.2.9"], { createdAt: "2026-01-01T01:00:00+01:00" }),
      ],
    });
    expect(groups.map(({ key }) => key)).to.deep.equal(["192.0.2.2"]);
  });

  it("writes addresses in canonical form, each once", () => {
    const { groups } = derived({ services: [service("a", ["2001:DB8:0::1", "::ffff:192.0.2.1", "192.0.2.1"])] });
    expect(groups[0]?.addresses).to.deep.equal(["2001:db8::1", "192.0.2.1"]);
  });

  it("gives equal values whatever the order of arrival", () => {
    const address = fc.integer({ min: 1, max: 8 }).map((last) => `192.0.2.${last}`);
    const services = fc.uniqueArray(
      fc.record({
        name: fc.constantFrom("a", "b", "c", "d", "e", "f"),
        addresses: fc.array(address, { maxLength: 3 }),
        createdAt: fc.constantFrom("", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
      }),
      { selector: ({ name }) => name },
    );
    const shuffles = services.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(shuffles, ([one, other]) => {
        const of = (list: typeof one): Derived =>
          derived({ services: list.map(({ name, addresses, createdAt }) => service(name, addresses, { createdAt })) });
        expect(of(one)).to.deep.equal(of(other));
      }),
    );
  });

  it("puts every address in exactly one group", () => {
    const address = fc.integer({ min: 1, max: 30 }).map((last) => `192.0.2.${last}`);
    fc.assert(
      fc.property(fc.array(fc.array(address, { minLength: 1, maxLength: 3 }), { maxLength: 20 }), (lists) => {
        const { groups } = derived({ services: lists.map((list, index) => service(`s${index}`, list)) });
        const all = groups.flatMap(({ addresses }) => addresses);
        expect(all.toSorted()).to.deep.equal([...new Set(lists.flat())].toSorted());
      }),
    );
  });
});

describe("derive: endpoints", () => {
  for (const { name, endpoint, ready, terminating } of [
    { name: "nothing said", endpoint: {}, ready: true, terminating: false },
    { name: "ready", endpoint: { ready: true, serving: true }, ready: true, terminating: false },
    { name: "not ready", endpoint: { ready: false, serving: false }, ready: false, terminating: false },
    { name: "not ready, serving unsaid", endpoint: { ready: false }, ready: false, terminating: false },
    { name: "ready unsaid, not serving", endpoint: { serving: false }, ready: true, terminating: false },
    { name: "ready, not serving", endpoint: { ready: true, serving: false }, ready: true, terminating: false },
    { name: "serving, not ready", endpoint: { ready: false, serving: true }, ready: true, terminating: false },
    {
      name: "terminating",
      endpoint: { ready: false, serving: true, terminating: true },
      ready: false,
      terminating: true,
    },
    { name: "gone", endpoint: { ready: false, serving: false, terminating: true }, ready: false, terminating: false },
  ] as const) {
    it(`reads ${name}`, () => {
      expect(servedBy([{ nodeName: "n1", ...endpoint }])).to.deep.equal({
        ready: ready ? ["n1"] : [],
        terminating: terminating ? ["n1"] : [],
        serving: ready || terminating,
        everywhere: false,
      });
    });
  }

  it("counts a node with a ready and a terminating endpoint as ready", () => {
    const ending = { nodeName: "n1", ready: false, serving: true, terminating: true };
    expect(servedBy([ending, { nodeName: "n1" }])).to.deep.include({ ready: ["n1"], terminating: [] });
  });

  it("counts an endpoint without a node as serving, on no node", () => {
    expect(servedBy([{ ready: true }])).to.deep.include({ ready: [], serving: true });
  });

  it("pools all slices of a Service", () => {
    const { groups } = derived({
      services: [service("web", ["192.0.2.1"])],
      endpointSlices: [
        slice("web", [{ nodeName: "n1" }], "web-4"),
        slice("web", [{ nodeName: "n2" }], "web-6"),
        slice("other", [{ nodeName: "n3" }]),
      ],
    });
    expect([...(groups[0]?.services[0]?.readyNodes ?? [])]).to.deep.equal(["n1", "n2"]);
  });

  it("takes a Service without slices as served everywhere with files, and as not served with Kubernetes", () => {
    expect(servedBy(undefined, "files")).to.deep.include({ serving: true, everywhere: true });
    expect(servedBy(undefined, "kubernetes")).to.deep.include({ serving: false, everywhere: false });
    expect(servedBy([], "files")).to.deep.include({ serving: false, everywhere: false });
  });
});
