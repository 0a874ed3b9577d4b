import { expect } from "chai";
import fc from "fast-check";
import { compareClaims, groundOf } from "../../src/announcer/contest.ts";
import type { ClaimBasis } from "../../src/announcer/ports.ts";
import { BASIS } from "./rig.ts";

const claim = (changes: Partial<ClaimBasis>, node = "n1") => ({ node, basis: { ...BASIS, ...changes } });

function anyClaim(node: string) {
  return fc
    .record({
      incarnation: fc.nat(2),
      rule: fc.constantFrom("metallb-1", "arpeggio-1", "arpeggio-2"),
      term: fc.nat(1),
      freshness: fc.nat(2),
      tier: fc.nat(2),
      score: fc.nat(1),
      endpointClass: fc.constantFrom("any", "ready", "terminating", "new"),
      hash: fc.constantFrom("0a", "0b"),
    })
    .map((basis) => ({ node, basis }));
}

describe("compareClaims", () => {
  // Each row's winner is worse in every later respect.
  for (const { name, ground, winner, loser } of [
    {
      name: "the older rule",
      ground: "rule",
      winner: claim({ rule: "metallb-1", term: 0, tier: 5 }),
      loser: claim({ rule: "arpeggio-1", term: 9, tier: 1 }),
    },
    {
      name: "a known rule",
      ground: "rule",
      winner: claim({ rule: "arpeggio-1" }),
      loser: claim({ rule: "arpeggio-2", term: 9 }),
    },
    {
      name: "the higher term",
      ground: "term",
      winner: claim({ term: 2, freshness: 1, tier: 5 }),
      loser: claim({ term: 1, freshness: 9, tier: 1 }),
    },
    {
      name: "the fresher view",
      ground: "freshness",
      winner: claim({ freshness: 9, tier: 5 }),
      loser: claim({ freshness: 8, tier: 1 }),
    },
    {
      name: "the better tier, views not being comparable",
      ground: "tier",
      winner: claim({ freshness: 0, tier: 1, score: 0 }),
      loser: claim({ freshness: 8, tier: 2, score: 9 }),
    },
    {
      name: "the higher score",
      ground: "score",
      winner: claim({ score: 9, hash: "ff" }),
      loser: claim({ score: 8, hash: "00" }),
    },
    {
      name: "ready before terminating endpoints",
      ground: "endpoint-class",
      winner: claim({ endpointClass: "ready", hash: "ff" }),
      loser: claim({ endpointClass: "terminating", hash: "00" }),
    },
    { name: "the lower hash", ground: "hash", winner: claim({ hash: "0a" }, "n2"), loser: claim({ hash: "0b" }, "n1") },
    { name: "the lower name", ground: "name", winner: claim({}, "n1"), loser: claim({}, "n2") },
  ]) {
    it(`prefers ${name}, and says so`, () => {
      expect(compareClaims(winner, loser)).to.be.lessThan(0);
      expect(compareClaims(loser, winner)).to.be.greaterThan(0);
      expect(groundOf(winner, loser)).to.equal(ground);
    });
  }
  it("gives both sides the same winner", () => {
    fc.assert(
      fc.property(anyClaim("n1"), anyClaim("n2"), (a, b) => {
        expect(Math.sign(compareClaims(a, b))).to.equal(-Math.sign(compareClaims(b, a)));
        expect(compareClaims(a, b)).to.not.equal(0);
      }),
    );
  });
});
