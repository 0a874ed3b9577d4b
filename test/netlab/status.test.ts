import { expect } from "chai";
import { type LeadershipTerm, movedBetween } from "../../hack/netlab/status.ts";
import type { Ip } from "../../src/net/ip.ts";

const ADDRESS = "192.0.2.100" as Ip;

function led(node: string, sinceMs: number): ReadonlyMap<Ip, LeadershipTerm> {
  return new Map([[ADDRESS, { node, sinceMs }]]);
}

describe("which addresses moved between two statuses", () => {
  it("one that another node leads", () => {
    expect(movedBetween(led("n1", 60_000), led("n2", 90_000))).to.deep.equal([ADDRESS]);
  });

  it("one that went and came back", () => {
    expect(movedBetween(led("n1", 60_000), led("n1", 90_000))).to.deep.equal([ADDRESS]);
  });

  it("one that nobody leads any more", () => {
    expect(movedBetween(led("n1", 60_000), new Map())).to.deep.equal([ADDRESS]);
  });

  it("not one whose time is told a millisecond off, as the clock is read anew", () => {
    expect(movedBetween(led("n1", 60_000), led("n1", 60_001))).to.deep.equal([]);
  });
});
