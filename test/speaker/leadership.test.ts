import { expect } from "chai";
import { LeadershipBook } from "../../speaker/leadership.ts";
import { listDifference } from "../../src/base/list-difference.ts";
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

/** Takes whole lists. */
class WholeBook extends LeadershipBook {
  #last: readonly Decision[] = [];

  followAll(decisions: readonly Decision[], nowMs: number) {
    const changes = listDifference(this.#last, decisions);
    this.#last = decisions;
    return this.follow(changes, nowMs);
  }
}

describe("LeadershipBook", () => {
  it("names both addresses of a group and remembers who led before", () => {
    const book = new WholeBook();
    expect(
      book.followAll([decision("node-a")], 1_000).map(({ ip: address, from, to }) => [address, from, to]),
    ).to.deep.equal([
      [V4, undefined, "node-a"],
      [V6, undefined, "node-a"],
    ]);
    book.followAll([decision("node-b")], 2_000);
    expect(book.byIp.get(V6)).to.deep.equal({
      leader: "node-b",
      reason: "lowest-hash",
      sinceMs: 2_000,
      previousLeader: "node-a",
    });
  });

  for (const { what, again } of [
    { what: "the same decision comes again", again: (first: Decision) => first },
    { what: "an equal decision comes", again: () => decision("node-a") },
  ]) {
    it(`says nothing when ${what}`, () => {
      const book = new WholeBook();
      const first = decision("node-a");
      book.followAll([first], 1_000);
      expect(book.followAll([again(first)], 5_000)).to.deep.equal([]);
      expect(book.byIp.get(V4)?.sinceMs).to.equal(1_000);
    });
  }

  it("remembers the last leader across a time without any", () => {
    const book = new WholeBook();
    book.followAll([decision("node-a")], 1_000);
    expect(book.followAll([decision(undefined)], 2_000).map(({ from, to }) => [from, to])).to.deep.equal([
      ["node-a", undefined],
      ["node-a", undefined],
    ]);
    book.followAll([decision("node-b")], 3_000);
    expect(book.byIp.get(V4)?.previousLeader).to.equal("node-a");
  });

  it("does not report an address that nobody led and nobody leads", () => {
    expect(new WholeBook().followAll([decision(undefined)], 1_000)).to.deep.equal([]);
  });

  it("forgets addresses that are gone, and keeps one that another decision has taken", () => {
    const book = new WholeBook();
    const other = { ...decision("node-a"), group: { key: V6, addresses: [V6], services: [] } };
    book.followAll([decision("node-a")], 1_000);
    expect(book.followAll([other], 2_000)).to.deep.equal([]);
    expect([...book.byIp].map(([address, { sinceMs }]) => [address, sinceMs])).to.deep.equal([[V6, 1_000]]);
    book.followAll([], 3_000);
    expect([...book.byIp.keys()]).to.deep.equal([]);
  });
});
