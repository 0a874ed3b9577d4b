import { expect } from "chai";
import { SharedFacts } from "../../src/desired/shared-facts.ts";
import type { EndpointFacts } from "../../src/desired/snapshot.ts";
import type { SnapshotChange } from "../../src/desired/snapshot-difference.ts";
import { service, slice } from "./facts.ts";

const ENDPOINTS: readonly EndpointFacts[] = [
  { nodeName: "n1", ready: true },
  { nodeName: "n2", ready: false, serving: true, terminating: true },
  { nodeName: "n2", ready: false, serving: true },
  {},
];

function sharedSlices(...lists: readonly (readonly EndpointFacts[])[]): readonly (readonly EndpointFacts[])[] {
  const known = new SharedFacts();
  return lists.map((endpoints, index) => {
    const facts = slice(`s${index}`, structuredClone(endpoints));
    known.share({ kind: "endpointSlices", key: `default/s${index}`, facts });
    return facts.endpoints;
  });
}

describe("SharedFacts", () => {
  it("makes equal endpoints of different slices one object, and no others", () => {
    const [first = [], second = []] = sharedSlices(ENDPOINTS, ENDPOINTS.toReversed());
    expect(first).to.deep.equal(ENDPOINTS);
    expect(second).to.deep.equal(ENDPOINTS.toReversed());
    expect(new Set([...first, ...second])).to.have.property("size", ENDPOINTS.length);
  });

  it("tells a node of no name from one without a word about it, and absent from false", () => {
    const lists = [[{ ready: false }], [{ nodeName: "", ready: false }], [{}], [{ nodeName: "null" }]];
    expect(sharedSlices(...lists)).to.deep.equal(lists);
  });

  it("changes nothing that a Service says, or one that is gone", () => {
    const facts = service("web", ["192.0.2.1"], { externalTrafficPolicy: "Local" });
    const changes: readonly SnapshotChange[] = [
      { kind: "services", key: "default/web", facts },
      { kind: "services", key: "default/gone" },
    ];
    const given = structuredClone(changes);
    const known = new SharedFacts();
    for (const change of given) known.share(change);
    expect(given).to.deep.equal(changes);
  });
});
