import { expect } from "chai";
import fc from "fast-check";
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import {
  diffSnapshots,
  MESSAGE_BYTES,
  MESSAGE_OBJECTS,
  SnapshotReceiver,
} from "../../src/desired/snapshot-difference.ts";
import { advertisement, node, pool, service, slice, snapshot } from "./facts.ts";

const names = fc.constantFrom("a", "b", "c", "d");
const snapshots = fc
  .record({
    pools: fc.uniqueArray(names),
    advertisements: fc.uniqueArray(names),
    services: fc.uniqueArray(fc.tuple(names, fc.ipV4()), { selector: ([name]) => name }),
    endpointSlices: fc.uniqueArray(fc.tuple(names, fc.boolean()), { selector: ([name]) => name }),
    nodes: fc.uniqueArray(fc.tuple(names, fc.boolean()), { selector: ([name]) => name }),
  })
  .map((facts) =>
    snapshot({
      pools: facts.pools.map((name) => pool(name, ["192.0.2.0/24"])),
      advertisements: facts.advertisements.map((name) => advertisement(name)),
      services: facts.services.map(([name, address]) => service(name, [address])),
      endpointSlices: facts.endpointSlices.map(([name, ready]) => slice(name, [{ ready }])),
      nodes: facts.nodes.map(([name, isUnschedulable]) => node(name, { isUnschedulable })),
    }),
  );

function services(count: number, labels: Readonly<Record<string, string>> = {}): ClusterSnapshot {
  const list = Array.from({ length: count }, (_, index) => service(`s${index}`, ["192.0.2.1"], { labels }));
  return snapshot({ services: list });
}

describe("snapshot differences", () => {
  it("carry any snapshot to any other, through a structured clone", () => {
    fc.assert(
      fc.property(fc.array(snapshots, { minLength: 1, maxLength: 4 }), (history) => {
        const receiver = new SnapshotReceiver();
        let previous: ClusterSnapshot | undefined;
        for (const next of history) {
          const messages = structuredClone([...diffSnapshots(previous, next)]);
          const results = messages.map((message) => receiver.apply(message));
          if (messages.length > 0) expect(results.at(-1)).to.deep.equal(next);
          else expect(previous).to.deep.equal(next);
          previous = next;
        }
      }),
    );
  });

  it("say nothing when nothing changed", () => {
    expect([...diffSnapshots(services(3), services(3))]).to.deep.equal([]);
  });

  it("tell an empty first snapshot from none", () => {
    const receiver = new SnapshotReceiver();
    const messages = [...diffSnapshots(undefined, snapshot({}))];
    expect(messages).to.have.lengthOf(1);
    expect(messages.map((message) => receiver.apply(message)?.services.size)).to.deep.equal([0]);
  });

  it("count only at the end mark", () => {
    const receiver = new SnapshotReceiver();
    const messages = [...diffSnapshots(undefined, services(MESSAGE_OBJECTS * 2 + 1))];
    const results = messages.map((message) => receiver.apply(message)?.services.size);
    expect(results).to.deep.equal([undefined, undefined, MESSAGE_OBJECTS * 2 + 1]);
    expect(messages.map(({ changes }) => changes.length)).to.deep.equal([MESSAGE_OBJECTS, MESSAGE_OBJECTS, 1]);
  });

  it("stay under the size of a message, unless one object is larger", () => {
    const messages = [...diffSnapshots(undefined, services(200, { note: "x".repeat(10_000) }))];
    expect(messages.length).to.be.greaterThan(200 / (MESSAGE_BYTES / 20_000));
    const huge = [...diffSnapshots(undefined, services(2, { note: "x".repeat(MESSAGE_BYTES) }))];
    expect(huge.map(({ changes }) => changes.length)).to.deep.equal([1, 1]);
  });

  it("forget what was there before a complete snapshot", () => {
    const receiver = new SnapshotReceiver();
    for (const message of diffSnapshots(undefined, services(3))) receiver.apply(message);
    const [only] = [...diffSnapshots(undefined, services(1))];
    expect(only && receiver.apply(only)?.services.size).to.equal(1);
  });

  it("begin anew when a complete snapshot cuts another short", () => {
    const receiver = new SnapshotReceiver();
    const [first] = [...diffSnapshots(undefined, services(MESSAGE_OBJECTS + 1))];
    if (first !== undefined) receiver.apply(first);
    const [only] = [...diffSnapshots(undefined, services(1))];
    expect(only && receiver.apply(only)?.services.size).to.equal(1);
  });

  it("leave every kind without changes as it is, and say which Services have changed in place", () => {
    const receiver = new SnapshotReceiver();
    const [before] = [...diffSnapshots(undefined, services(2))].map((message) => receiver.apply(message));
    expect(receiver.changed, "a complete snapshot may change anything").to.equal(undefined);
    const [after] = [...diffSnapshots(services(2), services(3))].map((message) => receiver.apply(message));
    expect(after?.services.size).to.equal(3);
    expect(after?.services).to.equal(before?.services);
    expect([...(receiver.changed?.services ?? [])]).to.deep.equal([...services(3).services.keys()].slice(2));
    expect(receiver.changed?.endpointSlices.size).to.equal(0);
    expect(after?.nodes).to.equal(before?.nodes);
  });
});
