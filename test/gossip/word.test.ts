import { expect } from "chai";
import fc from "fast-check";
import { hexOf } from "../../src/base/bytes.ts";
import { type NodeWord, RULES, WORD_FLAGS, type WordLink } from "../../src/election/word.ts";
import { decodeWord, encodeWord, WORD_MAX_BYTES } from "../../src/gossip/word.ts";
import { parseIp } from "../../src/net/ip.ts";
import { macAt } from "../../src/net/mac.ts";
import { prefixOf } from "../../src/net/prefix.ts";
import { hex } from "./recorded.ts";

const EMPTY: NodeWord = {
  highestRule: "metallb-1",
  ruleInUse: "metallb-1",
  flags: [],
  readySeconds: 0,
  restarts: 0,
  refutes: 0,
  troubleAgeSeconds: 0,
  links: [],
  prefixes: [],
  isTruncated: false,
};

const ip = (text: string) => parseIp(text) ?? expect.fail(text);
const link = (index: number, name?: string): WordLink => ({
  index,
  isUsable: true,
  mac: macAt(Uint8Array.of(2, 0, 0, 0, 0, index)),
  ...(name === undefined ? {} : { name }),
});
const subnet = (linkIndex: number, third: number) => ({ linkIndex, prefix: prefixOf(ip(`192.0.${third}.0`), 24) });
const named = (count: number) => Array.from({ length: count }, (_, index) => link(index, `interface-${index + 100}`));
const read = (bytes: Uint8Array): NodeWord => {
  const word = decodeWord(bytes);
  return word.ok ? word.value : expect.fail(word.reason);
};

const WORDS = fc.record({
  highestRule: fc.constantFrom(...RULES),
  ruleInUse: fc.constantFrom(...RULES),
  flags: fc.subarray([...WORD_FLAGS]),
  readySeconds: fc.constantFrom(0, 5, 10, 30, 60, 300, 600, 3600, 86_400),
  restarts: fc.nat(255),
  refutes: fc.nat(255),
  troubleAgeSeconds: fc.nat(100_000),
  links: fc.array(
    fc
      .tuple(
        fc.nat(0xffff_ffff),
        fc.boolean(),
        fc.uint8Array({ minLength: 6, maxLength: 6 }),
        fc.constantFrom("", "eth0", "bond0.100"),
        fc.boolean(),
      )
      .map(([index, isUsable, mac, name, isReturning]) => ({
        index,
        isUsable,
        ...(isReturning ? { isReturning } : {}),
        mac: macAt(mac),
        ...(name === "" ? {} : { name }),
      })),
    { maxLength: 30 },
  ),
  prefixes: fc.array(
    fc
      .tuple(fc.nat(100), fc.oneof(fc.ipV4(), fc.constant("2001:db8:1:2:3:4:5:6")), fc.nat(32))
      .map(([linkIndex, text, length]) => ({ linkIndex, prefix: prefixOf(ip(text), length) })),
    { maxLength: 60 },
  ),
  isTruncated: fc.boolean(),
});

describe("word", () => {
  it("says the same bytes for the same facts, whatever their order", () => {
    const word = { ...EMPTY, links: [link(1, "eth0"), link(2)], prefixes: [subnet(1, 2), subnet(2, 3)] };
    const other = { ...word, links: word.links.toReversed(), prefixes: word.prefixes.toReversed() };
    expect(hexOf(encodeWord(word))).to.equal(hexOf(encodeWord(other)));
  });

  it("brings every word back that fits, and never exceeds its limit", () => {
    fc.assert(
      fc.property(WORDS, (word) => {
        const bytes = encodeWord(word);
        expect(bytes.length).to.be.at.most(WORD_MAX_BYTES);
        const again = read(bytes);
        if (again.isTruncated && !word.isTruncated) return;
        expect({ ...again, links: [], prefixes: [] }).to.deep.equal({ ...word, links: [], prefixes: [] });
        if (word.isTruncated) return;
        expect(again.links).to.have.deep.members(word.links);
        expect(again.prefixes).to.have.deep.members(word.prefixes);
      }),
    );
  });

  it("leaves out prefixes first, as few as need be, and says so", () => {
    const prefixes = Array.from({ length: 60 }, (_, third) => subnet(1, third));
    const word = read(encodeWord({ ...EMPTY, links: [link(1, "eth0")], prefixes }));
    expect(word.isTruncated).to.equal(true);
    expect(word.links).to.deep.equal([link(1, "eth0")]);
    // 512 less 24 fixed, 2 for the mark and 17 for the link leave 469 for fields of 11.
    expect(word.prefixes).to.deep.equal(prefixes.slice(0, 42));
  });

  it("then leaves out the names of links, and then links", () => {
    const bare = read(encodeWord({ ...EMPTY, links: named(30), prefixes: [subnet(1, 2)] }));
    expect(bare.links).to.deep.equal(Array.from({ length: 30 }, (_, index) => link(index)));
    expect(bare.prefixes).to.deep.equal([subnet(1, 2)]);
    const fewer = read(encodeWord({ ...EMPTY, links: named(60) }));
    expect(fewer.links).to.have.length(37);
    expect(fewer.isTruncated).to.equal(true);
  });

  it("counts more than 255 restarts as 255", () =>
    expect(read(encodeWord({ ...EMPTY, restarts: 300 })).restarts).to.equal(255));

  for (const { name, bytes, fields } of [
    { name: "unknown types", bytes: "a7010801016300", fields: {} },
    {
      name: "fields in another order",
      bytes: "a70103040000000502020001",
      fields: { readySeconds: 5, flags: ["ready"] },
    },
    {
      name: "more bytes than it knows in a field",
      bytes: "a701010302020902040001ffff",
      fields: { highestRule: "arpeggio-1", ruleInUse: "arpeggio-1", flags: ["ready"] },
    },
    { name: "unknown flags", bytes: "a7010202fc01", fields: { flags: ["ready"] } },
    {
      name: "a rule of the future as the highest it knows",
      bytes: "a70101020901",
      fields: { highestRule: "arpeggio-1" },
    },
    {
      name: "a prefix of no bits",
      bytes: "a7010606000000010400",
      fields: { prefixes: [{ linkIndex: 1, prefix: { network: "0.0.0.0", length: 0 } }] },
    },
    {
      name: "host bits in a prefix as none",
      bytes: "a7010607000000010404c1",
      fields: { prefixes: [{ linkIndex: 1, prefix: { network: "192.0.0.0", length: 4 } }] },
    },
  ]) {
    it(`reads ${name}`, () => expect(read(hex(bytes))).to.deep.equal({ ...EMPTY, ...fields }));
  }

  for (const { name, bytes, reason } of [
    { name: "nothing, as Go members have", bytes: "", reason: "not-a-word" },
    { name: "another program's metadata", bytes: "726f6c653d61", reason: "not-a-word" },
    { name: "another format", bytes: "a702", reason: "not-a-word" },
    { name: "a field without a length", bytes: "a70101", reason: "truncated" },
    { name: "a field cut short", bytes: "a701010201", reason: "truncated" },
    { name: "a rule 0", bytes: "a70101020001", reason: "malformed" },
    { name: "flags of one byte", bytes: "a701020101", reason: "malformed" },
    { name: "a link without its MAC", bytes: "a70105050000000101", reason: "malformed" },
    { name: "a prefix of another family", bytes: "a7010607000000010508c0", reason: "malformed" },
    { name: "a prefix longer than its family", bytes: "a701060b000000010421c000020100", reason: "malformed" },
    { name: "a prefix with fewer bytes than bits", bytes: "a7010607000000010410c0", reason: "malformed" },
  ]) {
    it(`refuses ${name} as ${reason}`, () => expect(decodeWord(hex(bytes))).to.deep.equal({ ok: false, reason }));
  }

  it("never throws", () => {
    const field = fc
      .tuple(fc.integer({ min: 1, max: 8 }), fc.uint8Array({ maxLength: 24 }))
      .map(([type, value]) => [type, value.length, ...value]);
    fc.assert(
      fc.property(fc.array(field, { maxLength: 8 }), (fields) => {
        expect(decodeWord(Uint8Array.of(0xa7, 1, ...fields.flat())).ok).to.be.a("boolean");
      }),
    );
  });
});
