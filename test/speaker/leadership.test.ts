import { expect } from "chai";
import { followLeadership, type LeadershipByIp } from "../../speaker/leadership.ts";
import type { Decision } from "../../src/election/decision.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";

const ip = (text: string): Ip => parseIp(text) ?? expect.fail(text);
const V4 = ip("192.0.2.10");
const V6 = ip("2001:db8::10");

function decision(leader: string | undefined): Decision {
  return {
    group: { key: V4, addresses: [V4, V6], services: [] },
    rule: "arpeggio-1",
    candidates: [],
    refusals: [],
    reason: leader === undefined ? "no-members" : "lowest-hash",
    ...(leader === undefined ? {} : { leader }),
  };
}

const NONE: LeadershipByIp = new Map();

describe("followLeadership", () => {
  it("names both addresses of a group and remembers who led before", () => {
    const first = followLeadership(NONE, [decision("node-a")], 1_000);
    expect(first.changes.map(({ ip: address, from, to }) => [address, from, to])).to.deep.equal([
      [V4, undefined, "node-a"],
      [V6, undefined, "node-a"],
    ]);
    const second = followLeadership(first.leadership, [decision("node-b")], 2_000);
    expect(second.leadership.get(V6)).to.deep.equal({
      leader: "node-b",
      reason: "lowest-hash",
      sinceMs: 2_000,
      previousLeader: "node-a",
    });
  });

  it("says nothing when nothing changed", () => {
    const first = followLeadership(NONE, [decision("node-a")], 1_000);
    const again = followLeadership(first.leadership, [decision("node-a")], 5_000);
    expect(again.changes).to.deep.equal([]);
    expect(again.leadership.get(V4)?.sinceMs).to.equal(1_000);
  });

  it("remembers the last leader across a time without any", () => {
    const led = followLeadership(NONE, [decision("node-a")], 1_000);
    const unled = followLeadership(led.leadership, [decision(undefined)], 2_000);
    expect(unled.changes.map(({ from, to }) => [from, to])).to.deep.equal([
      ["node-a", undefined],
      ["node-a", undefined],
    ]);
    const ledAgain = followLeadership(unled.leadership, [decision("node-b")], 3_000);
    expect(ledAgain.leadership.get(V4)?.previousLeader).to.equal("node-a");
  });

  it("does not report an address that nobody led and nobody leads", () => {
    expect(followLeadership(NONE, [decision(undefined)], 1_000).changes).to.deep.equal([]);
  });

  it("forgets addresses that are gone", () => {
    const led = followLeadership(NONE, [decision("node-a")], 1_000);
    expect([...followLeadership(led.leadership, [], 2_000).leadership.keys()]).to.deep.equal([]);
  });
});
