/** Who writes about a Service where views differ. */
import { expect } from "chai";
import { cluster, link, MEMBERS, Reporter } from "./reporter-rig.ts";

describe("ServiceReports: views that differ", () => {
  it("a leader that has lost a contest says nothing, and from when it leads again names the winner as who led before", () => {
    const leader = new Reporter("node-b");
    leader.follow(cluster(), MEMBERS, 5_000);
    expect(leader.take({ kind: "silenced", by: "node-c" })).to.equal(true);
    expect(leader.take({ kind: "silenced", by: "node-c" })).to.equal(true);
    expect(leader.follow(cluster(), MEMBERS, 6_000).changes).to.deep.equal([{ service: "default/web" }]);
    expect(leader.take({ kind: "silenced", by: "node-c" })).to.equal(false);
    expect(leader.take(undefined)).to.equal(true);
    leader.follow(cluster(), MEMBERS, 9_000);
    const report = leader.told.get("default/web");
    expect(report).to.deep.include({
      kind: "leading",
      sinceMs: 1_009_000,
      previousNode: "node-c",
      reason: "lowest-hash",
    });
    // What has happened once is said once.
    leader.links = [link("eth0", 2), link("eth2", 4)];
    leader.follow(cluster(), MEMBERS, 20_000);
    expect(leader.told.get("default/web")).to.deep.include({ sinceMs: 1_009_000, previousNode: "node-c" });
  });

  it("the leader of a strict address says nothing while it has no lease, for another may have it", () => {
    const leader = new Reporter("node-b");
    leader.stand = { kind: "unleased" };
    leader.follow(cluster(), MEMBERS, 5_000);
    expect([...leader.told]).to.deep.equal([]);
    expect(leader.take(undefined)).to.equal(true);
    leader.follow(cluster(), MEMBERS, 5_200);
    expect(leader.told.get("default/web")).to.deep.include({ kind: "leading", sinceMs: 1_005_000 });
    expect(leader.take({ kind: "unleased" })).to.equal(true);
    expect(leader.follow(cluster(), MEMBERS, 9_000).changes).to.deep.equal([{ service: "default/web" }]);
  });

  it("whoever has taken what its leader does not lead says so in its place, from when it took it", () => {
    const second = new Reporter("node-a");
    second.follow(cluster(), MEMBERS, 5_000);
    expect([...second.told]).to.deep.equal([]);
    second.take({ kind: "taken", from: "node-b", sinceMs: 7_000 });
    second.follow(cluster(), MEMBERS, 7_010);
    const report = second.told.get("default/web");
    const expected = { kind: "leading", reason: "orphan", sinceMs: 1_007_000, previousNode: "node-b", rank: 2 };
    expect(report).to.deep.include(expected);
    second.take(undefined);
    expect(second.follow(cluster(), MEMBERS, 9_000).changes).to.deep.equal([{ service: "default/web" }]);
  });
});
