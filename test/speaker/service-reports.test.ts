import { createHash } from "node:crypto";
import { expect } from "chai";
import { CHANGES_AT_ONCE } from "../../speaker/service-reports.ts";
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import { advertisement, service } from "../desired/facts.ts";
import { goMember, member } from "../election/views.ts";

import { cluster, LED, LINKS, link, MEMBERS, NAMES, Reporter, reporters, saidOf } from "./reporter-rig.ts";

function firstByHash(names: readonly string[], subject: string): string {
  const rankOf = (name: string) => createHash("sha256").update(`${name}#${subject}`).digest("hex");
  return names.toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1))[0] ?? "";
}

describe("ServiceReports: led", () => {
  it("the leader says where the address is answered, since when, and why; nobody else says anything", () => {
    const all = reporters();
    for (const one of all) one.follow(cluster(), MEMBERS, 5_000);
    expect(saidOf(all, "default/web")).to.deep.equal([
      [
        "node-b",
        {
          kind: "leading",
          addresses: ["10.0.0.1"],
          links: [{ name: "eth0", mac: "02:00:00:00:00:02" }],
          restrictedTo: [],
          sinceMs: 1_005_000,
          reason: "lowest-hash",
          rank: 1,
          candidates: 3,
        },
      ],
    ]);
  });

  it("names the links that advertisements restrict it to, sorted", () => {
    const [, leader = new Reporter("")] = reporters();
    const restricted = advertisement("all", { interfaces: ["eth1", "eth0"] });
    leader.follow(cluster({ advertisements: [restricted] }));
    const report = leader.told.get("default/web");
    expect(report?.kind === "leading" && report.restrictedTo).to.deep.equal(["eth0", "eth1"]);
    leader.follow(cluster({ advertisements: [advertisement("all", { interfaces: ["eth1"] })] }));
    const other = leader.told.get("default/web");
    expect(other?.kind === "leading" && other.links.map(({ name }) => name)).to.deep.equal(["eth1"]);
  });

  it("a move is told by both: one has nothing to say any more, the other names who led before", () => {
    const all = reporters();
    for (const one of all) one.follow(cluster());
    const left = MEMBERS.filter(({ name }) => name !== "node-b");
    const batches = all.map((one) => one.follow(cluster(), left, 9_000).changes);
    expect(batches[1]).to.deep.equal([{ service: "default/web" }]);
    const [[name, report] = ["", undefined]] = saidOf(all, "default/web");
    expect(name).to.equal("node-a");
    expect(report).to.deep.include({ kind: "leading", previousNode: "node-b", sinceMs: 1_009_000, candidates: 2 });
  });

  for (const { what, links, interfaces } of [
    { what: "no link is usable", links: [link("eth0", 2, false)], interfaces: [] },
    { what: "there is no link", links: [], interfaces: [] },
    { what: "no link has a name that the advertisement wants", links: LINKS, interfaces: ["eth7"] },
  ]) {
    it(`a leader says no-link when ${what}`, () => {
      const leader = new Reporter("node-b");
      leader.links = links;
      leader.follow(cluster({ advertisements: [advertisement("all", { interfaces })] }));
      expect(leader.told.get("default/web")).to.deep.equal({ kind: "no-link", addresses: ["10.0.0.1"] });
      leader.links = LINKS;
      leader.follow(cluster());
      expect(leader.told.get("default/web")?.kind).to.equal("leading");
    });
  }

  it("when it began stays as it was said, though the wall clock is set", () => {
    const leader = new Reporter("node-b");
    leader.follow(cluster(), MEMBERS, 5_000);
    leader.wallOffsetMs = 9_000_000;
    leader.links = [link("eth0", 2), link("eth2", 4)];
    leader.follow(cluster(), MEMBERS, 6_000);
    expect(leader.told.get("default/web")).to.deep.include({ sinceMs: 1_005_000 });
  });

  it("both families of a Service are one report", () => {
    const all = reporters();
    for (const one of all) one.follow(cluster({ services: [service("dual", ["10.0.0.1", "2001:db8::1"])] }));
    const said = saidOf(all, "default/dual");
    expect(said.map(([name, { addresses }]) => [name, addresses])).to.deep.equal([
      ["node-b", ["10.0.0.1", "2001:db8::1"]],
    ]);
  });

  it("metallb-1: of a Service whose addresses have two leaders, the one of the first speaks, of what it leads", () => {
    const all = reporters();
    const services = [
      service("old", ["2001:db8::7", "10.0.0.1"], { createdAt: "2026-01-01T00:00:00Z" }),
      service("new", ["10.0.0.1", "10.0.0.2"], { createdAt: "2026-01-01T00:00:01Z" }),
    ];
    for (const one of all) {
      one.rule = "metallb-1";
      one.follow(cluster({ services }));
    }
    const old = saidOf(all, "default/old");
    expect(old).to.have.lengthOf(1);
    expect(old[0]?.[1].addresses).to.deep.equal(["2001:db8::7", "10.0.0.1"]);
    // The older Service's election decides on the address that they share; the other one is led by whom the hash names.
    const [[leader, report] = ["", undefined], ...others] = saidOf(all, "default/new");
    expect([leader, others]).to.deep.equal([old[0]?.[0], []]);
    expect(report?.addresses[0]).to.equal("10.0.0.1");
  });

  it("metallb-1: two Services on one address are two reports of one node", () => {
    const all = reporters();
    for (const one of all) {
      one.rule = "metallb-1";
      one.follow(cluster({ services: [LED, service("udp", ["10.0.0.1"])] }));
    }
    const leaders = ["default/web", "default/udp"].map((of) => saidOf(all, of).map(([name]) => name));
    expect(leaders).to.deep.equal([["node-b"], ["node-b"]]);
  });
});

describe("ServiceReports: not announced", () => {
  const REFUSED = cluster({ advertisements: [] });

  it("one member says so, the first by hash; nobody else", () => {
    for (const address of ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]) {
      const all = reporters();
      for (const one of all) one.follow(cluster({ advertisements: [], services: [service("web", [address])] }));
      expect(saidOf(all, "default/web")).to.deep.equal([
        [
          firstByHash(NAMES, address),
          {
            kind: "not-announced",
            addresses: [address],
            reason: "no-advertisement",
            sentence: "no advertisement selects pool main",
          },
        ],
      ]);
    }
  });

  for (const { what, passedOver } of [
    { what: "one of MetalLB's speakers", passedOver: goMember },
    { what: "one that is not ready", passedOver: (name: string) => member(name, []) },
  ]) {
    it(`passes over ${what}`, () => {
      const first = firstByHash(NAMES, "10.0.0.1");
      const members = NAMES.map((name) => (name === first ? passedOver(name) : member(name)));
      const all = reporters();
      for (const one of all) one.follow(REFUSED, members);
      const next = firstByHash(
        NAMES.filter((name) => name !== first),
        "10.0.0.1",
      );
      expect(saidOf(all, "default/web").map(([name]) => name)).to.deep.equal([next]);
    });
  }

  it("an excluded member may be the one that says so", () => {
    const all = reporters();
    const members = NAMES.map((name) => member(name, ["ready", "excluded"]));
    for (const one of all) one.follow(cluster(), members);
    expect(saidOf(all, "default/web")).to.deep.equal([
      [
        firstByHash(NAMES, "10.0.0.1"),
        {
          kind: "not-announced",
          addresses: ["10.0.0.1"],
          reason: "excluded",
          sentence:
            "every candidate excluded by label node.kubernetes.io/exclude-from-external-load-balancers: node-a, node-b, node-c",
        },
      ],
    ]);
  });

  it("when that member is gone, the next one says so", () => {
    const first = firstByHash(NAMES, "10.0.0.1");
    const all = reporters().filter(({ name }) => name !== first);
    for (const one of all) one.follow(REFUSED);
    expect(saidOf(all, "default/web")).to.deep.equal([]);
    for (const one of all)
      one.follow(
        REFUSED,
        MEMBERS.filter(({ name }) => name !== first),
      );
    expect(saidOf(all, "default/web")).to.have.lengthOf(1);
  });

  it("is nobody's business when the Service is of another class, has no address, or is none", () => {
    const services = [
      service("other", ["10.0.0.1"], { loadBalancerClass: "example.org/lb" }),
      service("waiting", []),
      service("internal", ["10.0.0.1"], { isLoadBalancer: false }),
      service("deleted", ["10.0.0.1"], { isBeingDeleted: true }),
    ];
    const all = reporters();
    for (const one of all) one.follow(cluster({ services }));
    expect(all.flatMap(({ told }) => [...told])).to.deep.equal([]);
  });

  it("is said of a Service none of whose addresses can be read, too", () => {
    const all = reporters();
    for (const one of all) one.follow(cluster({ services: [service("named", ["lb.example.org"])] }));
    const said = saidOf(all, "default/named");
    expect(said.map(([name, { kind, addresses }]) => [name, kind, addresses])).to.deep.equal([
      [firstByHash(NAMES, "default/named"), "not-announced", []],
    ]);
  });

  it("ends when somebody leads", () => {
    const all = reporters();
    for (const one of all) one.follow(REFUSED);
    for (const one of all) one.follow(cluster());
    expect(saidOf(all, "default/web").map(([name, { kind }]) => [name, kind])).to.deep.equal([["node-b", "leading"]]);
  });
});

function followToEnd(one: Reporter, facts: ClusterSnapshot, members = MEMBERS): number {
  for (let turns = 1; ; turns++) {
    const { changes, isEnd } = one.follow(facts, members);
    expect(changes.length).to.be.at.most(CHANGES_AT_ONCE);
    if (isEnd) return turns;
  }
}

describe("ServiceReports: many", () => {
  const SERVICES = Array.from({ length: 2_000 }, (_, index) =>
    service(`s${index}`, [`10.0.${index >> 8}.${index & 255}`]),
  );

  it("come in parts, and then nothing comes while nothing changes", () => {
    const all = reporters();
    const facts = cluster({ services: SERVICES });
    for (const one of all) followToEnd(one, facts);
    expect(all.map(({ told }) => told.size).reduce((sum, size) => sum + size)).to.equal(SERVICES.length);
    for (const one of all) {
      // New objects of the same content, as after a member's word has changed.
      expect(one.follow({ ...facts, services: new Map(facts.services) }, [...MEMBERS]).changes).to.deep.equal([]);
    }
  });

  it("of which one changes, one is told", () => {
    const leader = new Reporter("node-b");
    const facts = cluster({ services: SERVICES });
    followToEnd(leader, facts);
    const [some = ""] = leader.told.keys();
    const services = new Map(facts.services);
    services.delete(some);
    expect(leader.follow({ ...facts, services }).changes).to.deep.equal([{ service: some }]);
    const again = leader.follow(facts).changes;
    expect(again.map(({ service: of, report }) => [of, report?.kind])).to.deep.equal([[some, "leading"]]);
  });

  it("that nobody leads are shared out among many members, a part at a time, each said once", () => {
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const members = names.map((name) => member(name));
    const facts = cluster({ services: SERVICES.slice(0, 600), advertisements: [] });
    const counts = new Map<string, number>();
    for (const name of names) {
      const one = new Reporter(name);
      expect(followToEnd(one, facts, members)).to.be.above(1);
      for (const of of one.told.keys()) counts.set(of, (counts.get(of) ?? 0) + 1);
    }
    expect(counts.size).to.equal(600);
    expect(new Set(counts.values())).to.deep.equal(new Set([1]));
  });
});
