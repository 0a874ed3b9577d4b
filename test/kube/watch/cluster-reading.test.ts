import { expect } from "chai";
import fc from "fast-check";
import { RESOURCE_READERS } from "../../../src/desired/resource-readers.ts";
import type { ClusterSnapshot } from "../../../src/desired/snapshot.ts";
import { SNAPSHOT_KINDS } from "../../../src/desired/snapshot-difference.ts";
import { ClusterReading, type SnapshotKind, type SnapshotStores } from "../../../src/kube/watch/cluster-reading.ts";
import { heldResourceReader } from "../../../src/kube/watch/held-resource.ts";
import { KINDS } from "../../../src/kube/watch/kinds.ts";
import { ObjectStore } from "../../../src/kube/watch/object-store.ts";

const READERS = {
  services: RESOURCE_READERS.Service,
  endpointSlices: RESOURCE_READERS.EndpointSlice,
  nodes: RESOURCE_READERS.Node,
  namespaces: RESOURCE_READERS.Namespace,
  pools: RESOURCE_READERS.IPAddressPool,
  advertisements: RESOURCE_READERS.L2Advertisement,
} as const;

function makeStores(): SnapshotStores {
  const entries = SNAPSHOT_KINDS.map((kind) => [kind, new ObjectStore(heldResourceReader(KINDS[kind], READERS[kind]))]);
  return Object.fromEntries(entries) as SnapshotStores;
}

interface Change {
  readonly kind: "services" | "endpointSlices" | "nodes";
  readonly name: string;
  readonly how: "apply" | "remove" | "list";
  /** What of it changes: its label, its type, its form. */
  readonly variant: number;
}

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom("services", "endpointSlices", "nodes"),
  name: fc.constantFrom("a", "b", "c"),
  how: fc.constantFrom("apply", "apply", "apply", "remove", "list"),
  variant: fc.nat(3),
});

let versions = 0;

function objectOf({ kind, name, variant }: Change): unknown {
  const namespace = kind === "nodes" ? {} : { namespace: "default" };
  const labels = kind === "endpointSlices" ? { "kubernetes.io/service-name": name } : { variant: String(variant) };
  const metadata = { name, ...namespace, uid: name, resourceVersion: String(++versions), labels };
  if (kind === "nodes") return { metadata, spec: { unschedulable: variant === 1 }, status: {} };
  if (kind === "endpointSlices")
    return { metadata, endpoints: [{ nodeName: "n1", conditions: { ready: variant > 0 } }] };
  // Of another type it does not count; of a form that Kubernetes does not give it is refused.
  const policy = variant === 3 ? 7 : "Cluster";
  return { metadata, spec: { type: variant === 2 ? "ClusterIP" : "LoadBalancer", externalTrafficPolicy: policy } };
}

/** Both kinds of stores get the very same object. */
function take(stores: readonly SnapshotStores[], one: Change): void {
  const object = objectOf(one);
  for (const { [one.kind]: store } of stores) {
    if (one.how === "apply") store.apply(object);
    if (one.how === "remove") store.remove(object);
    if (one.how !== "list") continue;
    store.stage(object);
    store.commit();
  }
}

function entriesOf(snapshot: ClusterSnapshot): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    SNAPSHOT_KINDS.map((kind) => [kind, Object.fromEntries(snapshot[kind] as Map<string, unknown>)]),
  );
}

describe("ClusterReading", () => {
  it("after any changes is what a reading of everything is, its problems too", () => {
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 12 }), (turns) => {
        const [stores, others] = [makeStores(), makeStores()];
        const reading = new ClusterReading(stores);
        for (const turn of turns) {
          for (const one of turn) {
            take([stores, others], one);
            reading.markChanged(one.kind);
          }
          const snapshot = reading.read();
          const whole = new ClusterReading(others);
          expect(entriesOf(snapshot)).to.deep.equal(entriesOf(whole.read()));
          expect(reading.problems).to.have.deep.members([...whole.problems]);
          expect(reading.read()).to.equal(snapshot);
        }
      }),
    );
  });

  it("keeps every object that did not change, and every map without changes", () => {
    const stores = makeStores();
    const reading = new ClusterReading(stores);
    for (const kind of ["services", "endpointSlices", "nodes"] as const) {
      for (const name of ["a", "b"]) take([stores], { kind, name, how: "apply", variant: 0 });
    }
    const before = reading.read();
    take([stores], { kind: "services", name: "a", how: "apply", variant: 1 });
    reading.markChanged("services");
    const after = reading.read();
    expect(after.services.get("default/a")).to.not.equal(before.services.get("default/a"));
    expect(after.services.get("default/b")).to.equal(before.services.get("default/b"));
    for (const kind of SNAPSHOT_KINDS.filter((one: SnapshotKind) => one !== "services")) {
      expect(after[kind], kind).to.equal(before[kind]);
    }
  });
});
