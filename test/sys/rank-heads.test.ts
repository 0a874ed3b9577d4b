import { hash } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { addon } from "../../src/sys/addon.ts";
import { nativeRankHeads } from "../../src/sys/rank-heads.ts";

/** The first 8 hex digits by OpenSSL. */
function headByOpenssl(text: string): number {
  return Number.parseInt(hash("sha256", text, "hex").slice(0, 8), 16);
}

const SLOW = 7;
const rankHeads = nativeRankHeads((nodes, _key, heads, from) => heads.fill(SLOW, from, nodes.length));

function headsOf(nodes: readonly string[], key: string): readonly number[] {
  const heads = new Uint32Array(nodes.length);
  rankHeads(nodes, key, heads, 0);
  return [...heads];
}

function wanted(nodes: readonly string[], key: string): readonly number[] {
  return nodes.map((node) => headByOpenssl(`${node}#${key}`));
}

describe("nativeRankHeads", () => {
  const key = fc.oneof(fc.ipV4(), fc.ipV6());

  it("finds the heads that OpenSSL finds, of names of any length and letters", () => {
    const node = fc.oneof(fc.domain(), fc.string({ maxLength: 78 }), fc.string({ unit: "grapheme", maxLength: 19 }));
    const nodes = fc.array(node, { minLength: 4, maxLength: 30 });
    fc.assert(
      fc.property(nodes, key, (names, address) => {
        const isTooLong = names.some((name) => Buffer.byteLength(name) > 79);
        const found = isTooLong ? names.map(() => SLOW) : wanted(names, address);
        expect(headsOf(names, address)).to.deep.equal(found);
      }),
    );
  });

  it("does so for every length with which an address fits two blocks", () => {
    const names = Array.from({ length: 80 }, (_, length) => "x".repeat(length));
    for (const address of ["192.0.2.1", "2001:db8:1111:2222:3333:4444:5555:6666"]) {
      expect(headsOf(names, address)).to.deep.equal(wanted(names, address));
    }
  });

  it("leaves few names, and names that are longer than that, to the other way", () => {
    expect(headsOf(["a", "b", "c"], "192.0.2.1")).to.deep.equal([SLOW, SLOW, SLOW]);
    const long = ["a", "b", "c", "x".repeat(80)];
    expect(headsOf(long, "192.0.2.1")).to.deep.equal(long.map(() => SLOW));
  });

  it("follows a list that grows, and another one of the same length", () => {
    const nodes = ["a", "b", "c", "d"];
    expect(headsOf(nodes, "192.0.2.1")).to.deep.equal(wanted(nodes, "192.0.2.1"));
    nodes.push("e", "f", "g", "h");
    expect(headsOf(nodes, "192.0.2.1")).to.deep.equal(wanted(nodes, "192.0.2.1"));
    const others = nodes.toReversed();
    expect(headsOf(others, "192.0.2.1")).to.deep.equal(wanted(others, "192.0.2.1"));
  });

  it("refuses arrays that do not belong together, and an end that is no address", () => {
    const [starts, lengths] = [new Uint8Array(80), new Uint8Array(1)];
    for (const wrong of [
      () => addon.rankHeads(new Uint8Array(79), lengths, "192.0.2.1", new Uint32Array(1)),
      () => addon.rankHeads(starts, lengths, "192.0.2.1", new Uint32Array(0)),
      () => addon.rankHeads(starts, lengths, "x".repeat(40), new Uint32Array(1)),
      () => addon.rankHeads(starts, lengths, "192.0.2.1", new Uint8Array(4) as unknown as Uint32Array),
    ]) {
      expect(wrong).to.throw();
    }
    const heads = new Uint32Array(1);
    addon.rankHeads(starts, Uint8Array.of(255), "192.0.2.1", heads);
    expect(heads[0], "a length over the room counts as the room").to.equal(
      headByOpenssl(`${"\0".repeat(80)}192.0.2.1`),
    );
  });
});
