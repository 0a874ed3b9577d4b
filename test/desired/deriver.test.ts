import { expect } from "chai";
import fc from "fast-check";
import { Deriver, derive } from "../../src/desired/derive.ts";
import type { Derived } from "../../src/desired/group.ts";
import type { ClusterSnapshot, EndpointSliceFacts, ServiceFacts } from "../../src/desired/snapshot.ts";
import { diffSnapshots, SnapshotReceiver } from "../../src/desired/snapshot-difference.ts";
import { advertisement, labels, pool, service, slice, snapshot } from "./facts.ts";

const RULES = { loadBalancerClass: "", checksAdmission: true };

function groupNamed(derived: Derived, key: string): object {
  return derived.groups.find((group) => group.key === key) ?? expect.fail(`no group ${key}`);
}

/** What a watch does: maps are new, objects that did not change are not. */
function patched(before: ClusterSnapshot, changes: Partial<ClusterSnapshot>): ClusterSnapshot {
  return { ...before, ...changes };
}

describe("Deriver", () => {
  const first = snapshot({
    pools: [pool("all", ["192.0.2.0/24"])],
    advertisements: [advertisement("all")],
    services: [service("a", ["192.0.2.1"]), service("b", ["192.0.2.2"]), service("c", ["203.0.113.1"])],
  });

  it("gives the same value while no object has changed", () => {
    const deriver = new Deriver();
    const derived = deriver.derive(first, RULES);
    const copy = patched(first, { services: new Map(first.services), pools: new Map(first.pools) });
    expect(deriver.derive(copy, RULES)).to.equal(derived);
  });

  it("keeps the groups that a change does not concern", () => {
    const deriver = new Deriver();
    const before = deriver.derive(first, RULES);
    const services = new Map(first.services);
    services.set("default/b", service("b", ["192.0.2.3"]));
    services.set("default/d", service("d", ["192.0.2.4"]));
    const after = deriver.derive(patched(first, { services }), RULES);
    expect(after.groups.map(({ key }) => key)).to.deep.equal(["192.0.2.1", "192.0.2.3", "192.0.2.4"]);
    expect(groupNamed(after, "192.0.2.1")).to.equal(groupNamed(before, "192.0.2.1"));
    expect(after.refused[0]).to.equal(before.refused[0]);
  });

  it("keeps a group whose Service was written anew without a change that counts", () => {
    const deriver = new Deriver();
    const before = deriver.derive(first, RULES);
    const services = new Map(first.services).set("default/a", service("a", ["192.0.2.1"], { labels: { app: "a" } }));
    expect(deriver.derive(patched(first, { services }), RULES)).to.equal(before);
  });

  it("is always equal to what is derived from the last snapshot alone", () => {
    const names = ["a", "b", "c"];
    const address = fc.constantFrom("192.0.2.1", "192.0.2.2", "192.0.2.3", "203.0.113.1", "nonsense");
    const serviceFacts = fc.record({
      addresses: fc.array(address, { maxLength: 3 }),
      createdAt: fc.constantFrom("", "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"),
      externalTrafficPolicy: fc.constantFrom("Cluster" as const, "Local" as const),
      labels: fc.constantFrom({}, { app: "x" }),
      isBeingDeleted: fc.boolean(),
    });
    const endpoints = fc.array(
      fc.record({ nodeName: fc.constantFrom("n1", "n2"), ready: fc.boolean(), terminating: fc.boolean() }),
      { maxLength: 2 },
    );
    const step = fc.oneof(
      fc.record({ kind: fc.constant("service" as const), name: fc.constantFrom(...names), facts: serviceFacts }),
      fc.record({ kind: fc.constant("no-service" as const), name: fc.constantFrom(...names) }),
      fc.record({ kind: fc.constant("slice" as const), name: fc.constantFrom(...names), endpoints }),
      fc.record({ kind: fc.constant("no-slice" as const), name: fc.constantFrom(...names) }),
      fc.record({ kind: fc.constant("pool" as const), length: fc.constantFrom(24, 31) }),
      fc.record({ kind: fc.constant("advertisement" as const), app: fc.constantFrom(undefined, "x") }),
      fc.record({
        kind: fc.constant("source" as const),
        source: fc.constantFrom("files" as const, "kubernetes" as const),
      }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const deriver = new Deriver();
        const told = new Deriver();
        const reading = new Deriver();
        let read: ClusterSnapshot | undefined;
        const receiver = new SnapshotReceiver();
        let sent: ClusterSnapshot | undefined;
        let now = first;
        for (const change of steps) {
          const services = new Map<string, ServiceFacts>(now.services);
          const endpointSlices = new Map<string, EndpointSliceFacts>(now.endpointSlices);
          let { pools, advertisements, source } = now;
          switch (change.kind) {
            case "service":
              services.set(`default/${change.name}`, service(change.name, change.facts.addresses, change.facts));
              break;
            case "no-service":
              services.delete(`default/${change.name}`);
              break;
            case "slice":
              endpointSlices.set(`default/${change.name}`, slice(change.name, change.endpoints));
              break;
            case "no-slice":
              endpointSlices.delete(`default/${change.name}`);
              break;
            case "pool":
              pools = new Map([["all", pool("all", [`192.0.2.0/${change.length}`])]]);
              break;
            case "advertisement": {
              const serviceSelectors = change.app === undefined ? [] : [labels({ app: change.app })];
              advertisements = new Map([["all", advertisement("all", { serviceSelectors })]]);
              break;
            }
            case "source":
              source = change.source;
          }
          now = { ...now, source, services, endpointSlices, pools, advertisements };
          const expected = derive(now, RULES);
          expect(deriver.derive(now, RULES)).to.deep.equal(expected);
          for (const message of diffSnapshots(sent, now)) {
            const received = receiver.apply(message);
            if (received === undefined) continue;
            if (read === undefined) reading.begin(received, RULES);
            else reading.derive(received, RULES, receiver.changed);
            reading.goOn(1);
            read = now;
            expect(told.derive(received, RULES, receiver.changed)).to.deep.equal(expected);
            expect(told.derive({ ...received }, RULES), "the same once more").to.equal(told.derive(received, RULES));
          }
          sent = now;
        }
        if (read === undefined) return;
        while (!reading.isDone) reading.goOn(1);
        expect(reading.goOn(1), "read one by one").to.deep.equal(derive(read, RULES));
      }),
    );
  });
});
