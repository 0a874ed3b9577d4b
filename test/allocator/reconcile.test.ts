/** One Service at a time: the cases of MetalLB's controller tests, in the networks of RFC 5737 and 3849. */
import { expect } from "chai";
import { asksPool, held, POOLS } from "./cases.ts";
import { FAMILY_AND_POOL_CASES } from "./family-cases.ts";
import { pool } from "./objects.ts";
import { REQUEST_CASES } from "./request-cases.ts";
import { IPV4_ONLY, PREFERS, service } from "./services.ts";
import { outcomeOf, saidOf } from "./worlds.ts";

describe("one Service", () => {
  for (const { name, spec, options, addresses, pool: from, refused, events = [], writesIngress } of [
    ...REQUEST_CASES,
    ...FAMILY_AND_POOL_CASES,
  ]) {
    it(name, () => {
      const web = service("web", spec, options);
      const outcome = outcomeOf(web, { pools: POOLS });
      expect(outcome.addresses).to.deep.equal(addresses);
      expect(outcome.pool).to.equal(from);
      expect(outcome.refusal?.reason).to.equal(refused);
      expect(saidOf(outcome)).to.deep.equal(events);
      const isSameSet = web.ingress.toSorted().join() === addresses.toSorted().join();
      expect(outcome.change?.ingress !== undefined).to.equal(writesIngress ?? !isSameSet);
    });
  }

  it("the condition says what is held, moves its time with its status only, and is written once", () => {
    const first = outcomeOf(service("web"), { pools: POOLS });
    expect(first.change).to.deep.equal({
      ingress: ["192.0.2.0"],
      pool: "pool1",
      condition: {
        status: "True",
        reason: "Allocated",
        message: "192.0.2.0 from IPAddressPool pool1",
        lastTransitionTime: "2026-03-01T00:00:00Z",
      },
    });
    const condition = {
      type: "arpeggio.dev/Allocated",
      status: "True",
      reason: "Allocated",
      message: "192.0.2.0 from IPAddressPool pool1",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const options = { ...held(["192.0.2.0"], "pool1"), conditions: [condition] };
    expect(outcomeOf(service("web", IPV4_ONLY, options), { pools: POOLS }).change).to.equal(undefined);
    const said = { ...options, conditions: [{ ...condition, message: "something else" }] };
    expect(outcomeOf(service("web", IPV4_ONLY, said), { pools: POOLS }).change).to.deep.equal({
      condition: { ...first.change?.condition, lastTransitionTime: "2026-01-01T00:00:00Z" },
    });
  });

  it("without conditions none is written", () => {
    const { change } = outcomeOf(service("web"), { pools: POOLS }, { loadBalancerClass: "", writesConditions: false });
    expect(change).to.deep.equal({ ingress: ["192.0.2.0"], pool: "pool1" });
  });

  const ours = { type: "arpeggio.dev/Allocated", status: "False", reason: "NoPools", message: "x" };
  for (const { name, spec = IPV4_ONLY, options = {}, change, concern } of [
    {
      name: "a Service that became a NodePort loses annotation and condition",
      spec: { ...IPV4_ONLY, type: "NodePort" },
      options: { ...held([], "pool1"), conditions: [ours] },
      concern: "not-load-balancer",
      change: { pool: null, condition: null },
    },
    {
      name: "and its addresses, where no API server clears them",
      spec: { ...IPV4_ONLY, type: "ClusterIP" },
      options: { ingress: ["192.0.2.1"] },
      concern: "not-load-balancer",
      change: { ingress: [] },
    },
    {
      name: "a ClusterIP is left alone",
      spec: { ...IPV4_ONLY, type: "ClusterIP" },
      concern: "not-load-balancer",
      change: undefined,
    },
    {
      name: "another class is left alone",
      spec: { ...IPV4_ONLY, loadBalancerClass: "example.org/other" },
      options: { ingress: ["192.0.2.1"] },
      concern: "other-class",
      change: undefined,
    },
    {
      name: "one that is being deleted is left alone",
      options: { ingress: ["203.0.113.1"], isBeingDeleted: true, conditions: [ours] },
      concern: "being-deleted",
      change: undefined,
    },
  ] as const) {
    it(name, () => {
      const outcome = outcomeOf(service("web", spec, options), { pools: POOLS });
      expect(outcome.concern).to.equal(concern);
      expect(outcome.change).to.deep.equal(change);
      expect(outcome.events).to.deep.equal([]);
    });
  }

  it("with --lb-class exactly that class is served", () => {
    const settings = { loadBalancerClass: "example.org/l2", writesConditions: true };
    const spec = { ...IPV4_ONLY, loadBalancerClass: "example.org/l2" };
    expect(outcomeOf(service("web", spec), { pools: POOLS }, settings).addresses).to.deep.equal(["192.0.2.0"]);
    expect(outcomeOf(service("web"), { pools: POOLS }, settings).concern).to.equal("other-class");
  });

  it("without any pool what it has is cleared", () => {
    const outcome = outcomeOf(service("web", IPV4_ONLY, held(["192.0.2.0"], "pool1")), { pools: [] });
    expect(outcome.change).to.deep.include({ ingress: [], pool: null });
    expect(outcome.refusal).to.deep.equal({ reason: "no-pools" });
  });

  it("a pool whose namespaceSelectors match nothing admits nobody, not even one who asks", () => {
    const nobody = { namespaceSelectors: [{ matchLabels: { team: "none" } }] };
    const pools = [pool("nobody", { addresses: ["192.0.2.0/24"], serviceAllocation: nobody })];
    const asking = service("web", IPV4_ONLY, { annotations: asksPool("nobody") });
    expect(outcomeOf(asking, { pools }).refusal?.reason).to.equal("pool-does-not-admit");
    expect(outcomeOf(service("web"), { pools }).refusal?.reason).to.equal("no-pool-for-service");
  });

  for (const { primary, addresses } of [
    { primary: ["IPv4", "IPv6"], addresses: ["192.0.2.0"] },
    { primary: ["IPv6", "IPv4"], addresses: ["2001:db8::"] },
  ]) {
    it(`both preferred and no pool with both: the primary family ${primary[0]} from the first that has it`, () => {
      const pools = [pool("a", ["192.0.2.0/31"]), pool("b", ["2001:db8::/127"])];
      expect(outcomeOf(service("web", { ...PREFERS, ipFamilies: primary }), { pools }).addresses).to.deep.equal(
        addresses,
      );
      const only = [pool("b", ["2001:db8::/127"])];
      expect(outcomeOf(service("web", { ...PREFERS, ipFamilies: primary }), { pools: only }).addresses).to.deep.equal([
        "2001:db8::",
      ]);
    });
  }
});
