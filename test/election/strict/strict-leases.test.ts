import { expect } from "chai";
import fc from "fast-check";
import { LEASE_MS } from "../../../src/election/strict/lease-messages.ts";
import { ADDRESS, LeaseCluster } from "./cluster.ts";

const THREE = ["n1", "n2", "n3"];
const FIVE = ["n1", "n2", "n3", "n4", "n5"];
/** Everybody may vote. */
const STARTED_MS = LEASE_MS + 100;

function started(names: readonly string[]): LeaseCluster {
  const cluster = new LeaseCluster(names);
  cluster.run(STARTED_MS);
  return cluster;
}

/** How long nobody holds it, from now on. */
function gapMs(cluster: LeaseCluster, limitMs = 5_000): number {
  const fromMs = cluster.nowMs;
  while (cluster.holders().length === 0 && cluster.nowMs - fromMs < limitMs) cluster.run(1);
  return cluster.nowMs - fromMs;
}

describe("leases of strict addresses", () => {
  it("are held after one exchange, and for as long as they are wanted", () => {
    const cluster = started(THREE);
    cluster.want("n1");
    expect(gapMs(cluster)).to.be.at.most(5);
    cluster.run(20_000, () => expect(cluster.holders()).to.deep.equal(["n1"]));
  });

  it("are held by one of one", () => {
    const cluster = started(["n1"]);
    cluster.want("n1");
    expect(gapMs(cluster)).to.be.at.most(2);
  });

  it("are not granted by one that began less than a lease ago", () => {
    const cluster = new LeaseCluster(THREE);
    cluster.want("n1");
    expect(gapMs(cluster)).to.be.within(LEASE_MS - 10, LEASE_MS + 100);
  });

  it("pass from one who gives them back to one who waits within two deliveries", () => {
    const cluster = started(THREE);
    cluster.want("n1");
    cluster.run(1_000);
    cluster.want("n2");
    cluster.run(30);
    expect(cluster.holders()).to.deep.equal(["n1"]);
    cluster.release("n1");
    expect(cluster.holders()).to.deep.equal([]);
    expect(gapMs(cluster)).to.be.at.most(4);
    expect(cluster.holders()).to.deep.equal(["n2"]);
  });

  it("pass on after a crash when the last lease is over", () => {
    const cluster = started(THREE);
    cluster.want("n1");
    cluster.run(1_000);
    cluster.stop("n1");
    cluster.want("n2");
    expect(gapMs(cluster)).to.be.within(LEASE_MS - 400, LEASE_MS + 100);
    expect(cluster.holders()).to.deep.equal(["n2"]);
  });

  it("end within a lease on the smaller side of a split, and pass to the greater", () => {
    const cluster = started(FIVE);
    cluster.want("n1");
    cluster.run(1_000);
    for (const inside of ["n1", "n2"])
      for (const outside of ["n3", "n4", "n5"]) cluster.cuts.add(`${inside}>${outside}`).add(`${outside}>${inside}`);
    cluster.want("n3");
    cluster.run(LEASE_MS, () => expect(cluster.holders().length).to.be.at.most(1));
    expect(cluster.holders()).to.deep.equal([]);
    cluster.run(200);
    expect(cluster.holders()).to.deep.equal(["n3"]);
  });

  it("are not held by one that hears most and is heard by few", () => {
    const cluster = started(THREE);
    cluster.want("n1");
    cluster.run(1_000);
    cluster.cuts.add("n1>n2").add("n1>n3");
    cluster.want("n2");
    cluster.run(3_000, () => expect(cluster.holders().length).to.be.at.most(1));
    expect(cluster.holders()).to.deep.equal(["n2"]);
  });

  it("come to one of two who ask at the same time, with an even number of voters", () => {
    for (let seed = 1; seed <= 10; seed++) {
      const cluster = new LeaseCluster(["n1", "n2", "n3", "n4"], seed);
      cluster.run(STARTED_MS);
      cluster.cuts.add("n1>n3").add("n2>n4");
      cluster.want("n1");
      cluster.want("n2");
      cluster.run(50);
      cluster.cuts.clear();
      cluster.run(8_000, () => expect(cluster.holders().length).to.be.at.most(1));
      expect(cluster.holders().length, `seed ${seed}`).to.equal(1);
    }
  });

  it("say why they are missing", () => {
    const cluster = started(THREE);
    cluster.want("n1");
    for (const other of ["n2", "n3"]) cluster.cuts.add(`n1>${other}`);
    cluster.run(3_000);
    const report = cluster.node("n1").report(ADDRESS, cluster.clockOf("n1"));
    expect(report).to.deep.equal({ isHeld: false, expected: 3, needed: 2, grantedBy: ["n1"], heard: ["n1"] });
  });

  it("are of many addresses for one question, which are told only once", () => {
    const cluster = started(THREE);
    const sizes: number[] = [];
    const many = Array.from(
      { length: 500 },
      (_, index) => `198.51.${100 + (index >> 8)}.${index & 255}` as typeof ADDRESS,
    );
    for (const ip of many) cluster.want("n1", ip);
    cluster.run(100);
    expect(many.every((ip) => cluster.holders(ip).join() === "n1")).to.equal(true);
    const { nodes } = cluster;
    const leases = nodes.get("n1");
    if (leases === undefined) expect.fail("n1");
    const take = leases.takeOutgoing.bind(leases);
    leases.takeOutgoing = () => {
      const outgoing = take();
      for (const { message } of outgoing)
        if (message.kind === "lease-ask")
          sizes.push(message.pages.filter(({ addresses }) => addresses !== undefined).length);
      return outgoing;
    };
    cluster.run(3_000);
    expect(sizes.length).to.be.within(2 * 8, 2 * 12);
    expect(sizes.every((size) => size === 0)).to.equal(true);
  });
});

describe("the list of expected speakers", () => {
  it("grows and shrinks one by one, and the lease stays", () => {
    const cluster = started(THREE);
    cluster.want("n1");
    cluster.run(500);
    cluster.start("n4", [...THREE, "n4"]);
    for (const name of THREE) cluster.expect(name, [...THREE, "n4"]);
    cluster.run(6_000, () => expect(cluster.holders()).to.deep.equal(["n1"]));
    cluster.stop("n3");
    const rest = ["n1", "n2", "n4"];
    for (const name of rest) cluster.expect(name, rest);
    cluster.run(6_000, () => expect(cluster.holders()).to.deep.equal(["n1"]));
    // The old list is dropped: two of three are enough again.
    cluster.stop("n4");
    cluster.run(2_000, () => expect(cluster.holders()).to.deep.equal(["n1"]));
  });

  it("does not give each side of a split a majority of a list of its own", () => {
    const cluster = started(FIVE);
    cluster.want("n1");
    cluster.run(500);
    const [small, great] = [
      ["n1", "n2"],
      ["n3", "n4", "n5"],
    ] as const;
    for (const inside of small)
      for (const outside of great) cluster.cuts.add(`${inside}>${outside}`).add(`${outside}>${inside}`);
    // Somebody who sees but one side deletes the Nodes of the other.
    for (const name of small) cluster.expect(name, small);
    cluster.want("n3");
    cluster.run(10_000, () => expect(cluster.holders().length).to.be.at.most(1));
    expect(cluster.holders()).to.deep.equal(["n3"]);
  });
});

describe("leases under faults", () => {
  const EVENTS = fc.array(
    fc.record({
      afterMs: fc.nat(600),
      what: fc.constantFrom("want", "release", "cut", "heal", "crash", "start", "delay", "list"),
      node: fc.nat(4),
      other: fc.nat(4),
    }),
    { minLength: 5, maxLength: 40 },
  );

  it("never have two holders, whatever is lost, late, cut, restarted or wanted", function () {
    this.timeout(120_000);
    fc.assert(
      fc.property(EVENTS, fc.nat(), fc.nat(40), (events, seed, lossPercent) => {
        const cluster = new LeaseCluster(FIVE, seed);
        for (const [index, name] of FIVE.entries()) cluster.ratesPpm.set(name, index % 2 === 0 ? 200 : -200);
        let mostMs = 5;
        cluster.delayMs = () =>
          cluster.random.below(100) < lossPercent ? Number.POSITIVE_INFINITY : 1 + cluster.random.below(mostMs);
        const judge = (): void => void expect(cluster.holders().length).to.be.at.most(1);
        for (const { afterMs, what, node, other } of events) {
          cluster.run(afterMs, judge);
          const name = FIVE[node] ?? "n1";
          const otherName = FIVE[other] ?? "n1";
          if (what === "start" && !cluster.nodes.has(name)) cluster.start(name, FIVE);
          if (!cluster.nodes.has(name)) continue;
          if (what === "want") cluster.want(name);
          if (what === "release") cluster.release(name);
          if (what === "cut") cluster.cuts.add(`${name}>${otherName}`);
          if (what === "heal") cluster.cuts.clear();
          if (what === "crash") cluster.stop(name);
          if (what === "delay") mostMs = mostMs === 5 ? 1_500 : 5;
          if (what === "list")
            cluster.expect(
              name,
              FIVE.filter((each) => each !== otherName),
            );
        }
        cluster.run(2_000, judge);
      }),
      { numRuns: 60 },
    );
  });
});
