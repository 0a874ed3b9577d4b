import { expect } from "chai";
import { RESOURCE_READERS } from "../../../src/desired/resource-readers.ts";
import { ClusterReading } from "../../../src/kube/watch/cluster-reading.ts";
import { type HeldResource, heldResourceReader } from "../../../src/kube/watch/held-resource.ts";
import { KINDS } from "../../../src/kube/watch/kinds.ts";
import { ObjectStore } from "../../../src/kube/watch/object-store.ts";
import { formatPrefix, prefixesOfRange } from "../../../src/net/prefix.ts";
import { advertisement, pool } from "./cluster.ts";
import type { MemoryObject } from "./memory-api.ts";

/** Pools and advertisements as they are applied one after the other, by the names of their versions. */
class Reading {
  readonly #stores = {
    pools: storeOf("pools", RESOURCE_READERS.IPAddressPool),
    advertisements: storeOf("advertisements", RESOURCE_READERS.L2Advertisement),
    services: storeOf("services", RESOURCE_READERS.Service),
    endpointSlices: storeOf("endpointSlices", RESOURCE_READERS.EndpointSlice),
    nodes: storeOf("nodes", RESOURCE_READERS.Node),
    namespaces: storeOf("namespaces", RESOURCE_READERS.Namespace),
  };
  readonly #reading = new ClusterReading(this.#stores);
  #version = 0;

  apply(kind: "pools" | "advertisements" | "nodes", object: MemoryObject, uid = object.metadata.name): this {
    this.#version++;
    this.#stores[kind].apply({
      ...object,
      metadata: { ...object.metadata, uid, resourceVersion: String(this.#version) },
    });
    this.#reading.markChanged(kind);
    return this;
  }

  get sentences(): readonly string[] {
    this.#reading.read();
    return this.#reading.problems.map(({ sentence }) => sentence);
  }

  get pools(): Readonly<Record<string, readonly string[]>> {
    const pools = [...this.#reading.read().pools.values()];
    return Object.fromEntries(
      pools.map(({ name, ranges }) => [name, ranges.flatMap((range) => prefixesOfRange(range).map(formatPrefix))]),
    );
  }

  get nodes() {
    return this.#reading.read().nodes;
  }

  get interfaces(): Readonly<Record<string, readonly string[]>> {
    const all = [...this.#reading.read().advertisements.values()];
    return Object.fromEntries(all.map(({ name, interfaces }) => [name, interfaces]));
  }
}

function storeOf(
  kind: "pools" | "advertisements" | "services" | "endpointSlices" | "nodes" | "namespaces",
  reader: Parameters<typeof heldResourceReader>[1],
): ObjectStore<HeldResource> {
  return new ObjectStore(heldResourceReader(KINDS[kind], reader));
}

describe("kube: refused resources", () => {
  it("a pool that is refused keeps its old ranges and what is readable now, and says object, field and value", () => {
    const reading = new Reading().apply("pools", pool("main", ["192.0.2.0/28"]));
    reading.apply("pools", pool("main", ["192.0.2.64/28", "192.0.2.1"]));
    expect(reading.sentences).to.deep.equal([
      'IPAddressPool metallb-system/main: spec.addresses[1] is "192.0.2.1": must be a prefix such as 192.0.2.0/24 or a range such as 192.0.2.10-192.0.2.20',
    ]);
    expect(reading.pools).to.deep.equal({ main: ["192.0.2.0/28", "192.0.2.64/28"] });
    reading.apply("pools", pool("main", ["192.0.2.64/28"]));
    expect(reading.sentences).to.deep.equal([]);
    expect(reading.pools).to.deep.equal({ main: ["192.0.2.64/28"] });
  });

  it("a pool of which nothing better is known counts with its readable entries", () => {
    expect(new Reading().apply("pools", pool("main", ["192.0.2.0/28", 7])).pools).to.deep.equal({
      main: ["192.0.2.0/28"],
    });
  });

  it("an advertisement that is refused keeps its last good form; without one it does not count", () => {
    const bad = advertisement("main", {
      interfaces: ["eth1"],
      nodeSelectors: [{ matchExpressions: [{ key: "a", operator: "In" }] }],
    });
    const reading = new Reading().apply("advertisements", advertisement("main", { interfaces: ["eth0"] }));
    reading.apply("advertisements", bad);
    expect(reading.interfaces).to.deep.equal({ main: ["eth0"] });
    expect(reading.sentences[0]).to.match(
      /^L2Advertisement metallb-system\/main: spec\.nodeSelectors.*; its last good form stands$/,
    );
    const restarted = new Reading().apply("advertisements", bad);
    expect(restarted.interfaces).to.deep.equal({});
    expect(restarted.sentences[0]).to.match(/; it does not count$/);
  });

  it("a Node whose annotation is no value of it counts, with the default", () => {
    const reading = new Reading();
    const annotations = { "arpeggio.dev/step-down": "yes", "arpeggio.dev/ignore-cordon": "true" };
    reading.apply("nodes", { metadata: { name: "n1", annotations }, spec: {}, status: {} });
    expect(reading.sentences).to.deep.equal([
      'Node n1: metadata.annotations["arpeggio.dev/step-down"] is "yes": must be false or true; the default, false, stands',
    ]);
    expect(reading.nodes.get("n1")).to.include({ wantsStepDown: false, ignoresCordon: true });
  });

  it("another object of the same name has no last good form", () => {
    const reading = new Reading().apply("advertisements", advertisement("main", { interfaces: ["eth0"] }), "u1");
    reading.apply("advertisements", advertisement("main", { interfaces: "eth1" }), "u2");
    expect(reading.interfaces).to.deep.equal({});
  });

  describe("pools that overlap", () => {
    const old = pool("z", ["192.0.2.0/28"], "2026-01-01T00:00:00Z");
    const young = pool("a", ["198.51.100.0/24", "192.0.2.8-192.0.2.20"], "2026-01-01T00:00:01Z");

    for (const { name, pools } of [
      { name: "the younger one is refused", pools: [old, young] },
      { name: "in whatever order they are read", pools: [young, old] },
    ]) {
      it(name, () => {
        const reading = new Reading();
        for (const each of pools) reading.apply("pools", each);
        expect(reading.sentences).to.deep.equal([
          'IPAddressPool metallb-system/a: spec.addresses[1] is "192.0.2.8-192.0.2.20": overlaps with already defined CIDR "192.0.2.0/28" of IPAddressPool z',
        ]);
        // It gives nothing new, but addresses that Services hold already go on counting.
        expect(Object.keys(reading.pools)).to.deep.equal(["z", "a"]);
      });
    }

    it("of two of one age the second by name", () => {
      const [first, second] = ["2001:db8::1-2001:db8::9", "2001:db8::9-2001:db8::f"];
      const reading = new Reading().apply("pools", pool("b", [first])).apply("pools", pool("a", [second]));
      expect(reading.sentences[0]).to.match(
        /^IPAddressPool metallb-system\/b: .*2001:db8::9-2001:db8::f" of IPAddressPool a$/,
      );
    });

    it("one that is refused itself refuses no other, and the refused one stands when the older is gone", () => {
      const reading = new Reading().apply("pools", pool("z", ["192.0.2.0/28", "x"], "2026-01-01T00:00:00Z"));
      reading.apply("pools", young);
      expect(reading.sentences.filter((sentence) => sentence.includes("overlaps"))).to.deep.equal([]);
    });

    it("a third that overlaps only with the refused one stands", () => {
      const third = pool("c", ["192.0.2.16/28"], "2026-01-01T00:00:02Z");
      const reading = new Reading().apply("pools", old).apply("pools", young).apply("pools", third);
      expect(reading.sentences).to.have.length(1);
    });
  });
});
