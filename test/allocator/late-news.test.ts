/** Watches, lists and answers come on different ways: what is older than what is known undoes nothing. */
import { expect } from "chai";
import { Allocator } from "../../src/allocator/allocator.ts";
import type { AllocatorEvent, Effect } from "../../src/allocator/ports.ts";
import { type AllocatorService, keyOf } from "../../src/allocator/service.ts";
import { pool } from "./objects.ts";
import { IPV4_ONLY, service } from "./services.ts";
import { NOW_MS, SETTINGS } from "./worlds.ts";

const KEY = "default/web";
const at = (resourceVersion: string, ingress: readonly string[] = []) =>
  service("web", IPV4_ONLY, { resourceVersion, ingress });
const remade = (resourceVersion: string): AllocatorService => ({
  ...at(resourceVersion, ["192.0.2.0"]),
  uid: "second",
});

/** Leads, with one address to give and these Services. */
function leading(...services: readonly AllocatorService[]) {
  const allocator = new Allocator(SETTINGS);
  const note = (...events: readonly AllocatorEvent[]): readonly Effect[] => {
    for (const event of events) allocator.note(event, NOW_MS);
    return allocator.settle(NOW_MS);
  };
  const effects = note(
    { kind: "pools", pools: [pool("main", ["192.0.2.0/32"])] },
    { kind: "namespaces", namespaces: new Map() },
    { kind: "nodes", nodes: new Map() },
    { kind: "reservations", reserved: "", pinned: "" },
    { kind: "services", services },
    { kind: "lead" },
  );
  const known = () => allocator.table.entries.get(KEY)?.service;
  return { note, known, effects };
}

describe("news that come late", () => {
  it("a list takes away nobody who is known to be newer than it, and others", () => {
    const { note, known } = leading(at("20", ["192.0.2.0"]));
    note({ kind: "services", services: [], place: "15" });
    expect(known()?.resourceVersion).to.equal("20");
    note({ kind: "services", services: [], place: "20" });
    expect(known()).to.equal(undefined);
  });

  it("an end is none of one that was made again since", () => {
    const { note, known } = leading(at("20"));
    note({ kind: "service", service: remade("30") });
    note({ kind: "service-gone", key: KEY, place: "25" });
    expect(known()?.uid).to.equal("second");
    note({ kind: "service-gone", key: KEY, place: "35" });
    expect(known()).to.equal(undefined);
  });

  it("an older one of the same name, with another uid, is none", () => {
    const { note, known } = leading(at("20"));
    note({ kind: "service", service: remade("30") });
    note({ kind: "service", service: at("25") });
    note({ kind: "services", services: [at("25")], place: "25" });
    expect([known()?.uid, known()?.resourceVersion]).to.deep.equal(["second", "30"]);
  });

  it("an answer to a write does not bring back who is gone", () => {
    const { note, known, effects } = leading(at("20"));
    const write = effects.find((effect) => effect.kind === "write");
    if (write === undefined) expect.fail("nothing was written");
    note({ kind: "service-gone", key: keyOf(at("20")), place: "31" });
    note({ kind: "written", key: KEY, id: write.id, answer: "done", service: at("30", ["192.0.2.0"]) });
    expect(known()).to.equal(undefined);
  });
});
