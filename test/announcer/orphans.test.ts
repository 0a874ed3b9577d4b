/** The orphan rule (DESIGN D9) as seen by one node, n3 or lower in rank; times are from the change on. */
import { expect } from "chai";
import { Orphans, type RankedGroup } from "../../src/announcer/orphans.ts";
import type { HandoverMessage } from "../../src/announcer/ports.ts";
import type { Ip } from "../../src/net/ip.ts";
import { BASIS, claim, ip, VIP, VIP6 } from "./rig.ts";

const SECOND: RankedGroup = { addresses: [VIP, VIP6], leader: "n1", before: ["n1"] };
const THIRD: RankedGroup = { addresses: [VIP], leader: "n1", before: ["n1", "n2"] };

function lead(node: string, leads: boolean, changes: { reason?: string; leader?: string; freshness?: number } = {}) {
  const word: HandoverMessage = {
    kind: "lead",
    group: "g",
    addresses: [VIP],
    node,
    leads,
    reason: leads ? "" : "other-leader",
    freshness: 0,
    ...changes,
  };
  return word;
}

class Watcher {
  group: RankedGroup | undefined;
  readonly orphans = new Orphans("n9", (address) => (address === VIP ? this.group : undefined));
  freshness = 0;
  nowMs = 0;

  constructor(group: RankedGroup | undefined) {
    this.group = group;
    this.orphans.follow(VIP, 0);
  }

  change(group: RankedGroup | undefined): void {
    this.group = group;
    this.orphans.follow(VIP, this.nowMs);
  }

  hear(message: HandoverMessage): void {
    this.orphans.hear(message, this.freshness, this.nowMs);
  }

  /** To the time given: what was asked, probed and taken, with when. */
  run(untilMs: number): string[] {
    const lines: string[] = [];
    for (; this.nowMs <= untilMs; this.nowMs += 10) {
      const { ask, probe } = this.orphans.due(this.nowMs);
      for (const { to } of ask) lines.push(`${this.nowMs}: asks ${to}`);
      for (const { leader } of probe) lines.push(`${this.nowMs}: probes ${leader}`);
      for (const changed of this.orphans.takeChanges()) {
        const orphan = this.orphans.taken.get(changed);
        lines.push(`${this.nowMs}: ${changed} ${orphan === undefined ? "given back" : `taken, ${orphan.reason}`}`);
      }
    }
    return lines;
  }
}

/** One that has taken what n1 does not lead. */
function taken(): Watcher {
  const watcher = new Watcher(SECOND);
  watcher.run(300);
  watcher.hear(lead("n1", false));
  watcher.run(400);
  return watcher;
}

/** Its link is asked from the second question on: mostly the first one is answered. */
const ASKED_FOR_A_SECOND = [
  "300: asks n1",
  ...[600, 900, 1_200].flatMap((atMs) => [`${atMs}: asks n1`, `${atMs}: probes n1`]),
];

describe("who comes second", () => {
  it("waits 300 ms for the leader's word, then asks", () => {
    expect(new Watcher(SECOND).run(350)).to.deep.equal(["300: asks n1"]);
  });
  for (const { name, word } of [
    { name: "its word", word: lead("n1", true) },
    { name: "its claim", word: claim("n1") },
    { name: "another's claim", word: claim("n5") },
  ]) {
    it(`asks nothing after ${name}`, () => {
      const watcher = new Watcher(SECOND);
      watcher.run(200);
      watcher.hear(word);
      expect(watcher.run(10_000)).to.deep.equal([]);
    });
    it(`rests after ${name} as an answer`, () => {
      const watcher = new Watcher(SECOND);
      watcher.run(400);
      watcher.hear(word);
      expect(watcher.run(10_000)).to.deep.equal([]);
    });
  }
  it("asks nothing after a word that came up to five seconds before its own decision", () => {
    for (const { afterMs, word, asks } of [
      { afterMs: 5_000, word: lead("n1", true), asks: 0 },
      { afterMs: 5_100, word: lead("n1", true), asks: 1 },
      { afterMs: 100, word: lead("n2", true), asks: 1 },
    ]) {
      const watcher = new Watcher(undefined);
      watcher.hear(word);
      watcher.nowMs = afterMs;
      watcher.change(SECOND);
      expect(watcher.run(afterMs + 350), `${word.node} ${afterMs}`).to.have.length(asks);
    }
  });
  it("asks after a word that was taken back before its own decision, and after one of an earlier leadership", () => {
    const watcher = new Watcher(undefined);
    watcher.hear(lead("n1", true));
    watcher.hear(lead("n1", false));
    watcher.change(SECOND);
    expect(watcher.run(350)).to.have.length(1);
    const other = new Watcher(undefined);
    other.hear(lead("n1", true));
    other.change(SECOND);
    other.change(undefined);
    other.change(SECOND);
    expect(other.run(350)).to.have.length(1);
  });
  it("asks nothing after a no that names who has said that it leads", () => {
    const watcher = new Watcher(SECOND);
    watcher.hear(claim("n5"));
    watcher.hear(lead("n1", false, { reason: "views-differ", leader: "n5" }));
    expect(watcher.run(10_000)).to.deep.equal([]);
    watcher.hear(lead("n1", false, { reason: "views-differ", leader: "n6" }));
    expect(watcher.run(10_350)).to.deep.equal(["10310: asks n1"]);
  });
  it("needs no second word when the leader stays the same", () => {
    const watcher = new Watcher(SECOND);
    watcher.hear(lead("n1", true));
    watcher.change({ ...SECOND });
    expect(watcher.run(10_000)).to.deep.equal([]);
    watcher.change({ ...SECOND, leader: "n2", before: ["n2"] });
    expect(watcher.run(10_400)).to.deep.equal(["10310: asks n2"]);
  });
  it("takes both families at once on a no, with the reason as it was said", () => {
    const watcher = new Watcher(SECOND);
    watcher.run(300);
    watcher.hear(lead("n1", false, { reason: "not-selected" }));
    expect(watcher.run(400)).to.deep.equal([`310: ${VIP} taken, not-selected`, `310: ${VIP6} taken, not-selected`]);
  });
  it("takes it after a second of silence of member and address, from a leader that hears it", () => {
    const watcher = new Watcher(SECOND);
    watcher.run(900);
    watcher.orphans.proved("n1", 900);
    expect(watcher.run(2_000)).to.deep.equal([
      ...ASKED_FOR_A_SECOND.slice(-2),
      `1300: ${VIP} taken, silent`,
      `1300: ${VIP6} taken, silent`,
    ]);
  });
  it("leaves it to a leader that does not hear it, and asks for a second again every two seconds", () => {
    const watcher = new Watcher(SECOND);
    watcher.orphans.proved("n1", 0);
    watcher.orphans.proved("n2", 0);
    expect(watcher.run(3_200)).to.deep.equal(ASKED_FOR_A_SECOND);
    watcher.orphans.proved("n2", 3_200);
    const asked = watcher.run(60_000);
    expect(asked.slice(0, 2)).to.deep.equal(["3300: asks n1", "3600: asks n1"]);
    expect(asked.filter((line) => line.includes("taken"))).to.deep.equal([]);
    watcher.hear(lead("n1", false));
    expect(watcher.run(60_100)).to.have.length(2);
  });
  it("leaves it when the address is answered by the leader's link", () => {
    const watcher = new Watcher(SECOND);
    watcher.run(1_250);
    watcher.orphans.held(VIP);
    expect(watcher.run(10_000)).to.deep.equal([]);
  });
  it("asks who leads in the leader's eyes, and rests when that one does", () => {
    const watcher = new Watcher(SECOND);
    watcher.run(300);
    watcher.hear(lead("n1", false, { leader: "n7" }));
    expect(watcher.run(310)).to.deep.equal(["310: asks n7"]);
    watcher.hear(claim("n7"));
    expect(watcher.run(10_000)).to.deep.equal([]);
  });
  it("takes it when it leads itself in the leader's eyes", () => {
    const watcher = new Watcher(SECOND);
    watcher.run(300);
    watcher.hear(lead("n1", false, { leader: "n9" }));
    expect(watcher.run(310)[0]).to.equal(`310: ${VIP} taken, other-leader`);
  });
  it("begins to wait again when the leader says unasked that it leads no longer", () => {
    const watcher = new Watcher(SECOND);
    watcher.hear(lead("n1", true));
    watcher.run(5_000);
    watcher.hear(lead("n5", false));
    expect(watcher.run(6_000)).to.deep.equal([]);
    watcher.hear(lead("n1", false));
    expect(watcher.run(6_400)).to.deep.equal(["6310: asks n1"]);
  });
  for (const { name, own, theirs, isTaken } of [
    { name: "of a fresher view", own: 40, theirs: 41, isTaken: false },
    { name: "of an older view", own: 41, theirs: 40, isTaken: true },
    { name: "of a view that cannot be compared", own: 41, theirs: 0, isTaken: true },
  ]) {
    it(`${isTaken ? "takes" : "leaves"} what is unknown ${name}`, () => {
      const watcher = new Watcher(SECOND);
      watcher.freshness = own;
      watcher.run(300);
      watcher.hear(lead("n1", false, { reason: "unknown-address", freshness: theirs }));
      watcher.run(5_000);
      expect(watcher.orphans.taken.has(VIP)).to.equal(isTaken);
    });
  }
  it("leaves what the leader has no link for: it may have one again", () => {
    const watcher = new Watcher(SECOND);
    watcher.run(300);
    watcher.hear(lead("n1", false, { reason: "no-link" }));
    expect(watcher.run(5_000)).to.deep.equal([]);
  });
  it("is told of other groups by the same word", () => {
    const watcher = new Watcher(SECOND);
    watcher.hear({ ...lead("n1", true), addresses: [ip("192.0.2.77"), VIP] });
    expect(watcher.run(5_000)).to.deep.equal([]);
  });
});

describe("who comes third", () => {
  it("asks the fourth, too, which has said that it leads in the leader's place, when it becomes second", () => {
    const watcher = new Watcher(THIRD);
    watcher.hear(lead("n4", true));
    watcher.change({ ...SECOND, addresses: [VIP] });
    expect(watcher.run(350)).to.deep.equal(["300: asks n1", "300: asks n4"]);
    watcher.hear(lead("n1", false, { reason: "no-lease" }));
    watcher.hear(lead("n4", true));
    expect(watcher.run(10_000)).to.deep.equal([]);
  });
  it("waits a second longer, and asks the second, too", () => {
    expect(new Watcher(THIRD).run(1_350)).to.deep.equal(["1300: asks n1", "1300: asks n2"]);
  });
  it("takes nothing that the second has taken", () => {
    const watcher = new Watcher(THIRD);
    watcher.run(1_300);
    watcher.hear(lead("n1", false));
    expect(watcher.run(1_400)).to.deep.equal(["1310: asks n2"]);
    watcher.hear(claim("n2"));
    expect(watcher.run(10_000)).to.deep.equal([]);
  });
  it("takes it when both say no", () => {
    const watcher = new Watcher(THIRD);
    watcher.run(1_300);
    watcher.hear(lead("n2", false, { reason: "not-selected" }));
    watcher.hear(lead("n1", false, { reason: "unknown-address" }));
    expect(watcher.run(1_400)).to.deep.equal([`1310: ${VIP} taken, unknown-address`]);
  });
});

describe("what was taken", () => {
  it("is asked for every two seconds, and given back on the leader's word or claim, not on another's", () => {
    for (const word of [lead("n1", true), claim("n1", BASIS)]) {
      const watcher = taken();
      expect(watcher.run(2_400)).to.deep.equal(["2310: asks n1"]);
      watcher.hear(claim("n5"));
      expect(watcher.run(2_500)).to.deep.equal([]);
      watcher.hear(word);
      expect(watcher.run(2_520)).to.deep.equal([`2510: ${VIP} given back`, `2510: ${VIP6} given back`]);
    }
  });
  it("is kept for 10 s when it is answered with a lease, unless the leader claims it or the lease ends", () => {
    for (const { name, untilMs, does } of [
      { name: "word", untilMs: 10_400, does: () => {} },
      { name: "claim", untilMs: 5_000, does: (watcher: Watcher) => watcher.hear(claim("n1", BASIS)) },
      { name: "end", untilMs: 5_000, does: (watcher: Watcher) => watcher.orphans.leased(VIP, false, watcher.nowMs) },
    ]) {
      const watcher = taken();
      watcher.orphans.leased(VIP, true, 400);
      const lines: string[] = [];
      while (watcher.nowMs < untilMs) {
        watcher.hear(lead("n1", true));
        lines.push(...watcher.run(watcher.nowMs));
      }
      expect(lines, name).to.deep.equal([]);
      does(watcher);
      watcher.hear(lead("n1", true));
      expect(watcher.run(watcher.nowMs), name).to.have.length(2);
    }
  });
  it("is weighed anew when the group has other addresses", () => {
    const watcher = taken();
    watcher.change({ ...SECOND, addresses: [VIP] });
    expect(watcher.run(420)).to.deep.equal([`410: ${VIP} given back`, `410: ${VIP6} given back`]);
    watcher.run(710);
    watcher.hear(lead("n1", false));
    expect(watcher.run(730)).to.deep.equal([`720: ${VIP} taken, other-leader`]);
  });
  it("is given back when another is elected, or this node is no candidate", () => {
    for (const group of [{ ...SECOND, leader: "n2", before: ["n2"] }, undefined]) {
      const watcher = taken();
      watcher.change(group);
      expect(watcher.run(420)[0]).to.equal(`410: ${VIP} given back`);
    }
  });
});

describe("who comes second for a thousand addresses", () => {
  it("asks for 64 in 20 ms, and takes none for silent that was asked for less than a second ago", () => {
    const addresses = Array.from({ length: 1_000 }, (_, number) => ip(`198.18.${number >> 8}.${number & 255}`));
    const orphans = new Orphans("n9", (own) => ({ ...SECOND, addresses: [own] }));
    for (const own of addresses) orphans.follow(own, 0);
    const askedMs = new Map<Ip, number>();
    for (let nowMs = 0; nowMs <= 10_000; nowMs += 20) {
      orphans.proved(SECOND.leader, nowMs);
      const { ask, probe } = orphans.due(nowMs);
      expect(ask.length, `${nowMs}`).to.be.at.most(64);
      expect(probe.length, `${nowMs}`).to.be.at.most(64);
      for (const { ip: own } of ask) if (!askedMs.has(own)) askedMs.set(own, nowMs);
      for (const own of orphans.takeChanges()) expect(nowMs - (askedMs.get(own) ?? nowMs)).to.be.at.least(1_000);
    }
    expect(orphans.taken.size).to.equal(1_000);
  });
});
