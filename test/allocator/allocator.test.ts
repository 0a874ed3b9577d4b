/** The whole allocator: what a user would notice while Services, pools and controllers come and go. */
import { expect } from "chai";
import { pool } from "./objects.ts";
import { Rig, rig } from "./rig.ts";
import { IPV4_ONLY, PREFERS, REQUIRES, service } from "./services.ts";

const day = (count: number) => `2026-01-${String(count).padStart(2, "0")}T00:00:00Z`;
const aged = (name: string, age: number, spec = IPV4_ONLY, options = {}) =>
  service(name, spec, { createdAt: day(age), ...options });
const asks = (text: string) => ({ annotations: { "metallb.io/loadBalancerIPs": text } });
const shares = (key: string) => ({ annotations: { "metallb.io/allow-shared-ip": key } });
const tcp = (port: number) => ({ ...IPV4_ONLY, ports: [{ port }] });

describe("before everything is read", () => {
  const kinds = ["pools", "namespaces", "nodes", "reservations", "services"] as const;
  for (const missing of kinds) {
    it(`nothing is done without ${missing}; then it is`, () => {
      const made = new Rig();
      made.pools = [pool("a", ["192.0.2.0/30"])];
      made.note({ kind: "lead" });
      made.isWatchHeld = true;
      made.put(service("web"));
      const notes = {
        pools: () => made.notePools(),
        namespaces: () => made.noteNamespaces(),
        nodes: () => made.noteNodes(),
        reservations: () => made.noteReservations(),
        services: () => made.note({ kind: "services", services: [...made.services.values()] }),
      };
      for (const kind of kinds) if (kind !== missing) notes[kind]();
      expect(made.settle().writes).to.equal(0);
      expect(made.allocator.isComplete).to.equal(false);
      notes[missing]();
      expect(made.settle().addresses("default/web")).to.deep.equal(["192.0.2.0"]);
    });
  }

  it("an empty set of pools is an answer: what is held is cleared", () => {
    const made = new Rig();
    made.putWhole(aged("web", 1, IPV4_ONLY, { ingress: ["192.0.2.1"] }));
    expect(made.start().addresses("default/web")).to.deep.equal([]);
    expect(made.services.get("default/web")?.condition?.reason).to.equal("NoPools");
    expect(made.setPools(pool("a", ["192.0.2.0/30"])).addresses("default/web")).to.deep.equal(["192.0.2.0"]);
  });

  it("one that does not lead writes nothing", () => {
    const made = new Rig();
    made.pools = [pool("a", ["192.0.2.0/30"])];
    made.noteAll();
    expect(made.put(service("web")).writes).to.equal(0);
    made.note({ kind: "lead" });
    expect(made.settle().writes).to.equal(1);
    made.note({ kind: "stand-by" });
    expect(made.put(service("other")).writes).to.equal(1);
  });
});

/** One address; `a` was there first, `b` is the oldest. */
function full(): Rig {
  return rig(pool("a", ["192.0.2.7/32"]))
    .put(aged("a", 3))
    .put(aged("c", 2))
    .put(aged("b", 1));
}

describe("an address that gets free", () => {
  it("goes to the oldest that waits, after a delete", () => {
    const made = full();
    expect(made.addresses("default/a")).to.deep.equal(["192.0.2.7"]);
    expect(made.allocator.waiting).to.deep.equal(["default/b", "default/c"]);
    expect(made.events.filter((text) => text === "default/b: AllocationFailed").length).to.equal(1);
    made.remove("default/a");
    expect(made.addresses("default/b")).to.deep.equal(["192.0.2.7"]);
    expect(made.addresses("default/c")).to.deep.equal([]);
    expect(made.allocator.waiting).to.deep.equal(["default/c"]);
  });

  it("after a type change, which also removes the annotation", () => {
    const made = full().put(aged("a", 3, { ...IPV4_ONLY, type: "ClusterIP" }));
    expect(made.addresses("default/b")).to.deep.equal(["192.0.2.7"]);
    const { annotations, condition } = made.services.get("default/a") ?? {};
    expect(annotations).to.deep.equal({});
    expect(condition).to.equal(undefined);
  });

  it("when a Service asks for another one", () => {
    const made = rig(pool("a", ["192.0.2.6/31"]))
      .put(aged("a", 3))
      .put(aged("b", 2, IPV4_ONLY, asks("192.0.2.6")));
    expect(made.addresses("default/b")).to.deep.equal([]);
    made.put(aged("a", 3, IPV4_ONLY, asks("192.0.2.7")));
    expect(made.addresses("default/a")).to.deep.equal(["192.0.2.7"]);
    expect(made.addresses("default/b")).to.deep.equal(["192.0.2.6"]);
  });

  it("is not given away before the write that frees it is made", () => {
    const made = rig(pool("a", ["192.0.2.6/31"]))
      .put(aged("a", 3))
      .put(aged("b", 2, IPV4_ONLY, asks("192.0.2.6")));
    made.fates = ["late"];
    made.put(aged("a", 3, IPV4_ONLY, asks("192.0.2.7")));
    expect(made.addresses("default/b")).to.deep.equal([]);
    made.put(aged("c", 4));
    expect(made.addresses("default/c"), "both are taken meanwhile").to.deep.equal([]);
    made.wait(1_000);
    expect(made.addresses("default/b")).to.deep.equal(["192.0.2.6"]);
  });

  it("when an address of a Node goes away", () => {
    const made = rig(pool("a", ["192.0.2.6/31"]));
    made.nodes = { n1: ["192.0.2.6", "192.0.2.7"] };
    made.noteNodes();
    expect(made.put(service("web")).addresses("default/web")).to.deep.equal([]);
    expect(made.events).to.include("a: poolContainsNodeAddress");
    made.nodes = { n1: ["192.0.2.6"] };
    made.noteNodes();
    expect(made.settle().addresses("default/web")).to.deep.equal(["192.0.2.7"]);
    expect(made.events.filter((text) => text === "a: poolContainsNodeAddress").length).to.equal(1);
  });
});

describe("addresses in use", () => {
  it("of another class, of a Service being deleted, or outside the book by hand: nobody else gets them", () => {
    const made = new Rig();
    made.pools = [pool("a", ["192.0.2.0/29"])];
    made.putWhole(
      service(
        "foreign",
        { ...IPV4_ONLY, loadBalancerClass: "example.org/x" },
        { ingress: ["192.0.2.0"], ...shares("k") },
      ),
    );
    made.putWhole(service("leaving", IPV4_ONLY, { ingress: ["192.0.2.1"], isBeingDeleted: true }));
    made.putWhole(service("web", tcp(1), shares("k")));
    made.start();
    expect(made.addresses("default/web")).to.deep.equal(["192.0.2.2"]);
    expect(made.addresses("default/foreign")).to.deep.equal(["192.0.2.0"]);
    expect(made.addresses("default/leaving")).to.deep.equal(["192.0.2.1"]);
    expect(made.statuses.get("a")).to.equal("3 0 5 0");
  });

  it("are kept over five restarts, which write nothing; who waits steals none", () => {
    const made = rig(pool("a", ["192.0.2.6/31"]))
      .put(aged("x", 9))
      .put(aged("y", 8))
      .put(aged("a", 1))
      .put(aged("b", 2));
    const before = new Map(made.services);
    const { writes } = made;
    const { events } = made;
    const said = events.length;
    for (let round = 0; round < 5; round++) made.start();
    expect(made.writes).to.equal(writes);
    expect(new Map(made.services)).to.deep.equal(before);
    expect(events.slice(said)).to.deep.equal([]);
  });

  it("of strangers the oldest keeps it, in one pass", () => {
    const made = new Rig();
    made.pools = [pool("a", ["192.0.2.0/29"])];
    for (const [name, age] of [
      ["a", 3],
      ["b", 1],
      ["c", 2],
    ] as const)
      made.putWhole(aged(name, age, IPV4_ONLY, { ingress: ["192.0.2.5"] }));
    made.start();
    expect(made.addresses("default/b")).to.deep.equal(["192.0.2.5"]);
    expect(made.addresses("default/c")).to.deep.equal(["192.0.2.0"]);
    expect(made.addresses("default/a")).to.deep.equal(["192.0.2.1"]);
  });

  it("are counted once however many share, and a manual edit of the status is corrected once", () => {
    const made = rig(pool("a", ["192.0.2.0/29", "2001:db8::/125"]))
      .put(service("a", tcp(1), shares("k")))
      .put(service("b", tcp(2), shares("k")))
      .put(service("c", { ...REQUIRES, ports: [{ port: 1 }] }));
    expect(made.statuses.get("a")).to.equal("2 1 6 7");
    made.statuses.clear();
    const edited = { assignedIPv4: "9", assignedIPv6: "1", availableIPv4: "6", availableIPv6: "7" };
    const [first] = made.pools;
    if (first !== undefined) made.setPools({ ...first, shown: edited });
    expect(made.statuses.get("a")).to.equal("2 1 6 7");
    made.statuses.clear();
    if (first !== undefined) made.setPools({ ...first, shown: { ...edited, assignedIPv4: "2" } });
    expect(made.statuses.size).to.equal(0);
  });
});

describe("sharing", () => {
  it("broken by policy clears one and heals", () => {
    const local = { ...tcp(2), externalTrafficPolicy: "Local" };
    const made = rig(pool("a", ["192.0.2.7/32"]))
      .put(aged("a", 1, tcp(1), shares("k")))
      .put(aged("b", 2, tcp(2), shares("k")));
    expect(made.addresses("default/b")).to.deep.equal(["192.0.2.7"]);
    made.put(aged("b", 2, local, shares("k")));
    expect(made.addresses("default/b")).to.deep.equal([]);
    made.put(aged("b", 2, tcp(2), shares("k")));
    expect(made.addresses("default/b")).to.deep.equal(["192.0.2.7"]);
    // The older one changes: it keeps the address, the younger goes.
    made.put(aged("a", 1, { ...tcp(1), externalTrafficPolicy: "Local" }, shares("k")));
    expect(made.addresses("default/a")).to.deep.equal(["192.0.2.7"]);
    expect(made.addresses("default/b")).to.deep.equal([]);
    made.put(aged("a", 1, tcp(1), shares("k")));
    expect(made.addresses("default/b")).to.deep.equal(["192.0.2.7"]);
  });

  it("a key that is aligned serves who waits", () => {
    const made = rig(pool("a", ["192.0.2.7/32"]))
      .put(aged("a", 1, tcp(1)))
      .put(aged("b", 2, tcp(2), shares("k")));
    expect(made.addresses("default/b")).to.deep.equal([]);
    made.put(aged("a", 1, tcp(1), shares("k")));
    expect(made.addresses("default/b")).to.deep.equal(["192.0.2.7"]);
  });

  it("packs: four ports on one address, then the next address", () => {
    const made = rig(pool("a", ["192.0.2.0/30"]));
    for (const port of [1, 2, 3, 1]) made.put(service(`s${made.services.size}`, tcp(port), shares("k")));
    expect([...made.services.values()].flatMap(({ ingress }) => ingress)).to.deep.equal([
      "192.0.2.0",
      "192.0.2.0",
      "192.0.2.0",
      "192.0.2.1",
    ]);
  });
});

describe("writes", () => {
  it("a conflict: read again, decided again, nobody gets the address meanwhile", () => {
    const made = rig(pool("a", ["192.0.2.6/31"])).put(aged("a", 1));
    made.isWatchHeld = true;
    made.put(aged("a", 1, { ...IPV4_ONLY, type: "ClusterIP" }));
    made.setPools(pool("b", ["192.0.2.8/31"]));
    expect(made.addresses("default/a")).to.deep.equal([]);
    expect(made.services.get("default/a")?.annotations).to.deep.equal({});
    expect(made.release().put(aged("b", 2)).addresses("default/b")).to.deep.equal(["192.0.2.8"]);
  });

  it("one that was made though no answer came keeps its address and is not made twice", () => {
    const made = rig(pool("a", ["192.0.2.6/31"]));
    made.isWatchHeld = true;
    made.fates = ["lost"];
    made.put(aged("a", 1)).tell("default/a");
    expect(made.addresses("default/a")).to.deep.equal(["192.0.2.6"]);
    made.put(aged("b", 2)).tell("default/b");
    expect(made.addresses("default/b")).to.deep.equal(["192.0.2.7"]);
    made.wait(1_000).release().wait(60_000);
    expect(made.writes).to.equal(2);
    expect(made.events.toSorted()).to.deep.equal(["default/a: IPAllocated", "default/b: IPAllocated"]);
  });

  it("one that arrives late finds its address still free", () => {
    const made = rig(pool("a", ["192.0.2.6/31"]));
    made.fates = ["late"];
    made.put(aged("a", 1)).put(aged("b", 2));
    expect(made.addresses("default/b")).to.deep.equal(["192.0.2.7"]);
    expect(made.landLate().addresses("default/a")).to.deep.equal(["192.0.2.6"]);
    expect(made.wait(60_000).writes).to.equal(2);
  });

  it("one that got no answer and is refused later may still arrive: its address stays taken for ten seconds", () => {
    const made = rig(pool("a", ["192.0.2.7/32"]));
    made.fates = ["late", "refused"];
    made.put(aged("a", 1)).wait(1_000);
    expect(made.put(aged("b", 2)).addresses("default/b")).to.deep.equal([]);
    expect(made.landLate().addresses("default/a")).to.deep.equal(["192.0.2.7"]);
  });

  it("one that is refused gives its address back and is asked for again, less and less often", () => {
    const made = rig(pool("a", ["192.0.2.7/32"]));
    made.fates = ["refused"];
    made.put(aged("a", 1)).put(aged("b", 2));
    expect(made.addresses("default/b")).to.deep.equal(["192.0.2.7"]);
    made.remove("default/b");
    expect(made.addresses("default/a")).to.deep.equal([]);
    made.fates = ["refused"];
    expect(made.wait(1_000).addresses("default/a")).to.deep.equal([]);
    expect(made.wait(1_000).addresses("default/a")).to.deep.equal([]);
    expect(made.wait(1_000).addresses("default/a")).to.deep.equal(["192.0.2.7"]);
  });

  it("for a Service that is gone: its address is free", () => {
    const made = rig(pool("a", ["192.0.2.7/32"]));
    made.isWatchHeld = true;
    made.put(aged("a", 1));
    const gone = made.services.get("default/a");
    made.remove("default/a");
    if (gone !== undefined) made.note({ kind: "service", service: gone });
    expect(made.settle().allocator.table.entries.size).to.equal(0);
    made.isWatchHeld = false;
    expect(made.put(aged("b", 2)).addresses("default/b")).to.deep.equal(["192.0.2.7"]);
  });

  it("a Service deleted and made anew is another one", () => {
    const made = rig(pool("a", ["192.0.2.6/31"])).put(aged("a", 1));
    made.putWhole({ ...aged("a", 5, IPV4_ONLY, asks("192.0.2.7")), uid: "another" });
    expect(made.addresses("default/a")).to.deep.equal(["192.0.2.7"]);
  });

  it("after a takeover who waits is fenced first, then served; what was said is not said again", () => {
    const made = rig(pool("a", ["192.0.2.7/32"]))
      .put(aged("a", 1))
      .put(aged("b", 2));
    const waiting = made.services.get("default/b");
    const said = made.events.length;
    made.isWatchHeld = true;
    made.start(true).release();
    const after = made.services.get("default/b");
    expect(Number(after?.resourceVersion)).to.be.greaterThan(Number(waiting?.resourceVersion));
    expect(after?.condition?.message).to.equal(waiting?.condition?.message);
    expect(made.events.slice(said)).to.deep.equal([]);
    made.remove("default/a");
    expect(made.addresses("default/b")).to.deep.equal(["192.0.2.7"]);
  });

  it("a late write of the controller before is fenced off", () => {
    const made = rig(pool("a", ["192.0.2.6/31"]));
    made.fates = ["late"];
    made.put(aged("old", 2));
    // Killed while the write for `old` is under way: nobody knows of it. Then another Service, older, wants one.
    made.services.set("default/elder", { ...aged("elder", 1, IPV4_ONLY), resourceVersion: "5" });
    made.start(true).landLate();
    expect(made.addresses("default/elder")).to.deep.equal(["192.0.2.6"]);
    expect(made.addresses("default/old")).to.deep.equal(["192.0.2.7"]);
  });

  it("who waits is tried again every ten minutes, even if no news ever comes", () => {
    const made = rig(pool("a", ["192.0.2.7/32"]));
    expect(made.allocator.dueMs).to.equal(made.nowMs + 600_000);
    made.wait(600_000);
    expect(made.allocator.dueMs).to.equal(made.nowMs + 600_000);
  });
});

describe("PreferDualStack", () => {
  it("grows when its pool gets the other family, the first address stays first", () => {
    const made = rig(pool("a", ["192.0.2.0/30"]))
      .put(service("web", PREFERS))
      .put(service("web2", PREFERS));
    expect(made.addresses("default/web")).to.deep.equal(["192.0.2.0"]);
    expect(made.services.get("default/web")?.condition?.status).to.equal("True");
    made.setPools(pool("a", ["192.0.2.0/30", "2001:db8::/126"]));
    expect(made.addresses("default/web")).to.deep.equal(["192.0.2.0", "2001:db8::"]);
    expect(made.addresses("default/web2")).to.deep.equal(["192.0.2.1", "2001:db8::1"]);
  });

  it("does not jump to a better pool; when its pool loses a family, another one with both is used", () => {
    const both = ["192.0.2.0/30", "2001:db8::/126"];
    const made = rig(pool("b", ["198.51.100.0/30"])).put(service("web", PREFERS));
    made.setPools(pool("b", ["198.51.100.0/30"]), pool("a", both));
    expect(made.addresses("default/web")).to.deep.equal(["198.51.100.0"]);
    made.setPools(pool("b", ["2001:db8:1::/126"]), pool("a", both));
    expect(made.addresses("default/web")).to.deep.equal(["192.0.2.0", "2001:db8::"]);
  });

  it("and back to RequireDualStack and PreferDualStack: the addresses stay", () => {
    const made = rig(pool("a", ["192.0.2.0/30", "2001:db8::/126"])).put(service("web", PREFERS));
    const before = made.addresses("default/web");
    expect(made.put(service("web", REQUIRES)).addresses("default/web")).to.deep.equal(before);
    expect(made.put(service("web", PREFERS)).addresses("default/web")).to.deep.equal(before);
  });
});
