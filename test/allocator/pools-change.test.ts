/** Pools that come, go and change under Services; the steps of MetalLB's TestConfigReload, TestAutoAssign and TestAllocation. */
import { expect } from "chai";
import { poolImpact } from "../../src/allocator/impact.ts";
import { explain, poolAddresses } from "../../src/allocator/views.ts";
import { ips, pool } from "./objects.ts";
import { type Rig, rig } from "./rig.ts";
import { IPV4_ONLY, IPV6_ONLY, REQUIRES, service } from "./services.ts";
import { SETTINGS } from "./worlds.ts";

const BOTH = ["192.0.2.0/30", "2001:db8::/126"];

function asks(text: string, spec = IPV4_ONLY, name = "web") {
  return service(name, spec, { annotations: { "metallb.io/loadBalancerIPs": text } });
}

function several(made: Rig, count: number, spec = IPV4_ONLY): Rig {
  for (let index = 1; index <= count; index++) made.put(service(`s${index}`, spec));
  return made;
}

const placed = (made: Rig) => [...made.services.values()].map(({ ingress }) => ingress.join(" "));

describe("pools that change", () => {
  for (const { name, before = [pool("a", BOTH)], after, from, to } of [
    { name: "the same again", after: [pool("a", BOTH)], from: "192.0.2.1", to: ["192.0.2.1"] },
    { name: "more addresses", after: [pool("a", ["198.51.100.0/24", ...BOTH])], from: "192.0.2.1", to: ["192.0.2.1"] },
    { name: "fewer, not this one", after: [pool("a", ["192.0.2.0/31"])], from: "192.0.2.1", to: ["192.0.2.1"] },
    { name: "fewer, this one too", after: [pool("a", ["192.0.2.0/31"])], from: "192.0.2.2", to: ["192.0.2.0"] },
    { name: "another name", after: [pool("b", BOTH)], from: "192.0.2.1", to: ["192.0.2.1"] },
    {
      name: "split in two",
      after: [pool("a", ["192.0.2.0/31"]), pool("b", ["192.0.2.2/31"])],
      from: "192.0.2.3",
      to: ["192.0.2.3"],
    },
    {
      name: "avoids .0 from now on",
      after: [pool("a", { addresses: ["192.0.2.0/30"], avoidBuggyIPs: true })],
      from: "192.0.2.0",
      to: ["192.0.2.1"],
    },
    {
      name: "a better one by priority",
      after: [pool("a", BOTH), pool("first", { addresses: ["198.51.100.0/24"], serviceAllocation: { priority: 1 } })],
      from: "192.0.2.1",
      to: ["192.0.2.1"],
    },
    {
      name: "deleted, another is left",
      after: [pool("b", ["198.51.100.0/24"])],
      from: "192.0.2.1",
      to: ["198.51.100.0"],
    },
    { name: "all deleted", after: [], from: "192.0.2.1", to: [] },
    {
      name: "not for everybody any more",
      after: [
        pool("a", { addresses: BOTH, serviceAllocation: { namespaces: ["shop"] } }),
        pool("b", ["198.51.100.0/24"]),
      ],
      from: "192.0.2.1",
      to: ["198.51.100.0"],
    },
    {
      name: "autoAssign off",
      after: [pool("a", { addresses: BOTH, autoAssign: false })],
      from: "192.0.2.1",
      to: ["192.0.2.1"],
    },
    { name: "refused: it goes on counting", after: [pool("a", ["garbage"])], from: "192.0.2.1", to: ["192.0.2.1"] },
    {
      name: "overlapped by a younger one: the older owns the address",
      after: [pool("z", BOTH), pool("a", BOTH, { creationTimestamp: "2026-01-01T00:00:00Z" })],
      from: "192.0.2.1",
      to: ["192.0.2.1"],
    },
  ]) {
    it(name, () => {
      const made = rig(...before)
        .put(asks(from))
        .put(service("web"));
      made.setPools(...after);
      expect(made.addresses("default/web")).to.deep.equal(to);
      const from2 = made.services.get("default/web")?.annotations["metallb.io/ip-allocated-from-pool"];
      const holder = made.allocator.surroundings.world?.pools.poolOf(ips(...to));
      expect(from2).to.equal(to.length === 0 ? undefined : holder?.name);
      const { writes } = made;
      expect(made.setPools(...after).writes).to.equal(writes);
    });
  }

  it("avoiding .0 replaces the pair whose IPv4 address ends so", () => {
    const made = rig(pool("a", BOTH)).put(service("web", REQUIRES));
    made.setPools(pool("a", { addresses: BOTH, avoidBuggyIPs: true }));
    expect(made.addresses("default/web")).to.deep.equal(["192.0.2.1", "2001:db8::"]);
  });

  it("a refused pool gives nothing new, and a pool repaired serves who waits", () => {
    const made = rig(pool("a", ["192.0.2.9-192.0.2.1", "198.51.100.0/30"])).put(service("web"));
    expect(made.services.get("default/web")?.condition?.reason).to.equal("NoPoolForService");
    expect(made.statuses.get("a")).to.equal("0 0 0 0");
    expect(made.setPools(pool("a", ["198.51.100.0/30"])).addresses("default/web")).to.deep.equal(["198.51.100.0"]);
  });

  it("gone and back again: who had an address has one", () => {
    const made = several(rig(pool("a", BOTH)), 4);
    made.setPools();
    expect(placed(made)).to.deep.equal(["", "", "", ""]);
    made.setPools(pool("a", BOTH));
    expect(placed(made)).to.deep.equal(["192.0.2.0", "192.0.2.1", "192.0.2.2", "192.0.2.3"]);
  });

  it("a label of a namespace decides at once", () => {
    const labelled = { namespaceSelectors: [{ matchLabels: { team: "a" } }] };
    const made = rig(pool("a", { addresses: BOTH, serviceAllocation: labelled })).put(service("web"));
    expect(made.addresses("default/web")).to.deep.equal([]);
    made.namespaces = { default: { team: "a" } };
    made.noteNamespaces();
    expect(made.settle().addresses("default/web")).to.deep.equal(["192.0.2.0"]);
    made.namespaces = { default: {} };
    made.noteNamespaces();
    expect(made.settle().addresses("default/web")).to.deep.equal([]);
  });

  it("are exhausted address by address, of one pool after the other, each family for itself", () => {
    const pools = [pool("a", ["192.0.2.0/31", "2001:db8::/127"]), pool("b", ["192.0.2.8/32", "2001:db8::8/128"])];
    expect(placed(several(rig(...pools), 4))).to.deep.equal(["192.0.2.0", "192.0.2.1", "192.0.2.8", ""]);
    expect(placed(several(rig(...pools), 4, IPV6_ONLY))).to.deep.equal([
      "2001:db8::",
      "2001:db8::1",
      "2001:db8::8",
      "",
    ]);
    expect(placed(several(rig(...pools), 4, REQUIRES))).to.deep.equal([
      "192.0.2.0 2001:db8::",
      "192.0.2.1 2001:db8::1",
      "192.0.2.8 2001:db8::8",
      "",
    ]);
  });

  it("without autoAssign give nothing by themselves; those that avoid .0 and .255 not these", () => {
    const pools = [
      pool("a", { addresses: ["192.0.2.0/31"], autoAssign: false }),
      pool("b", { addresses: ["192.0.2.254/31", "198.51.100.0/31"], avoidBuggyIPs: true }),
      pool("c", ["198.51.100.255/32"]),
    ];
    const given = placed(several(rig(...pools), 4));
    expect(given).to.deep.equal(["192.0.2.254", "198.51.100.1", "198.51.100.255", ""]);
  });
});

function keeps(name: string, addresses: readonly string[]) {
  return pool(name, addresses, { annotations: { "arpeggio.dev/reserve-for": "1h" } });
}

describe("an address of a deleted Service", () => {
  it("is kept for its name, and forgotten when the Service is back", () => {
    const made = rig(keeps("a", ["192.0.2.0/30"]))
      .put(service("web"))
      .put(service("db"));
    made.remove("default/web");
    expect(made.reserved).to.equal("default/web 192.0.2.0 2026-03-01T01:00:00Z\n");
    expect(made.put(service("other")).addresses("default/other")).to.deep.equal(["192.0.2.2"]);
    made.put({ ...service("web"), uid: "again" });
    expect(made.addresses("default/web")).to.deep.equal(["192.0.2.0"]);
    expect(made.reserved).to.equal("");
  });

  it("is free when its time is over", () => {
    const made = rig(keeps("a", ["192.0.2.0/30"]))
      .put(service("web"))
      .remove("default/web");
    expect(made.allocator.dueMs).to.be.at.most(made.nowMs + 3_600_000);
    made.wait(3_600_000);
    expect(made.reserved).to.equal("");
    expect(made.put(service("other")).addresses("default/other")).to.deep.equal(["192.0.2.0"]);
  });

  it("is given back early when the pool is otherwise full", () => {
    const made = rig(keeps("a", ["192.0.2.0/32"]))
      .put(service("web"))
      .remove("default/web");
    expect(made.put(service("other")).addresses("default/other")).to.deep.equal(["192.0.2.0"]);
    expect(made.reserved).to.equal("");
  });

  it("is kept over a restart, by the ConfigMap", () => {
    const made = rig(keeps("a", ["192.0.2.0/30"]))
      .put(service("web"))
      .remove("default/web");
    made.start();
    expect(made.put(service("other")).addresses("default/other")).to.deep.equal(["192.0.2.1"]);
    expect(made.put(service("web")).addresses("default/web")).to.deep.equal(["192.0.2.0"]);
  });

  it("of a pool that keeps none is free at once", () => {
    const made = rig(pool("a", ["192.0.2.0/32"]))
      .put(service("web"))
      .remove("default/web");
    expect(made.reserved).to.equal("");
    expect(made.put(service("other")).addresses("default/other")).to.deep.equal(["192.0.2.0"]);
  });

  it("by hand: a line that is added serves who waits", () => {
    const made = rig(pool("a", { addresses: ["192.0.2.0/30"], autoAssign: false })).put(service("web"));
    expect(made.addresses("default/web")).to.deep.equal([]);
    made.pinned = "default/web = 192.0.2.2\nnonsense\n";
    made.noteReservations();
    expect(made.settle().addresses("default/web")).to.deep.equal(["192.0.2.2"]);
    expect(made.allocator.surroundings.lines.problems.length).to.equal(1);
  });
});

describe("what would happen, and what is", () => {
  it("the Services that a pool would move, oldest first; nothing happens", () => {
    const made = several(rig(pool("a", BOTH)), 3);
    const { world } = made.allocator.surroundings;
    if (world === undefined) throw new Error("nothing read");
    const impact = (changed: ReturnType<typeof pool>) => poolImpact(changed, made.services.values(), world, SETTINGS);
    expect(impact(pool("a", BOTH))).to.deep.equal({ moves: [] });
    expect(impact(pool("b", ["198.51.100.0/24"]))).to.deep.equal({ moves: [] });
    const { moves, fault } = impact(pool("a", ["192.0.2.0/32", "198.51.100.0/32"]));
    expect(fault).to.equal(undefined);
    expect(moves).to.deep.equal([
      { service: "default/s2", from: ["192.0.2.1"], to: ["198.51.100.0"] },
      {
        service: "default/s3",
        from: ["192.0.2.2"],
        to: [],
        why: "no available IPs: every address of IPAddressPools a that would do is taken; add addresses or free some",
      },
    ]);
    expect(impact(pool("b", BOTH)).fault).to.contain(
      'overlaps with already defined CIDR "192.0.2.0/30" of IPAddressPool a',
    );
    expect(impact(pool("b", BOTH)).moves).to.deep.equal([]);
    expect(placed(made)).to.deep.equal(["192.0.2.0", "192.0.2.1", "192.0.2.2"]);
  });

  it("addresses of a pool: who has them, under which key, and for whom they are kept", () => {
    const made = rig(pool("a", BOTH));
    const shared = { annotations: { "metallb.io/allow-shared-ip": "k" } };
    made.put(service("x", { ...IPV4_ONLY, ports: [{ port: 1 }] }, shared));
    made.put(service("y", { ...IPV4_ONLY, ports: [{ port: 2 }] }, shared));
    made.pinned = "shop/db = 2001:db8::3";
    made.noteReservations();
    made.settle();
    const all = poolAddresses(made.allocator, "a", 10);
    expect(all).to.deep.equal([
      {
        address: "192.0.2.0",
        services: [
          { key: "default/x", ports: ["TCP/1"] },
          { key: "default/y", ports: ["TCP/2"] },
        ],
        sharingKey: "k",
      },
      { address: "2001:db8::3", services: [], keptFor: { key: "shop/db" } },
    ]);
    const [first] = all ?? [];
    expect(poolAddresses(made.allocator, "a", 1)?.length).to.equal(1);
    expect(poolAddresses(made.allocator, "a", 1, first?.address)?.[0]?.address).to.equal("2001:db8::3");
    expect(poolAddresses(made.allocator, "b", 1)).to.equal(undefined);
  });

  it("why a Service has what it has, and what each pool says to it", () => {
    const made = rig(
      pool("a", ["192.0.2.0/32"]),
      pool("b", { addresses: ["198.51.100.0/32"], autoAssign: false }),
      pool("c", ["garbage"]),
      pool("d", ["2001:db8::/64"]),
      pool("e", { addresses: ["203.0.113.0/24"], serviceAllocation: { namespaces: ["shop"] } }),
    );
    several(made, 2);
    const answers = [
      { name: "a", answer: "automatic" },
      { name: "b", answer: "by-name" },
      { name: "c", answer: "refused" },
      { name: "d", answer: "lacks-family" },
      { name: "e", answer: "not-admitted" },
    ];
    expect(explain(made.allocator, "default/s1", made.nowMs)).to.deep.include({ isPending: false, pools: answers });
    const waiting = explain(made.allocator, "default/s2", made.nowMs);
    expect(waiting?.outcome.refusal?.reason).to.equal("no-free-address");
    expect(waiting?.sentence).to.contain("no available IPs");
    expect(explain(made.allocator, "default/none", made.nowMs)).to.equal(undefined);
  });
});
