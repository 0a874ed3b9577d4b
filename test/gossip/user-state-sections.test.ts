import { expect } from "chai";
import fc from "fast-check";
import { HolderBook } from "../../src/election/holders.ts";
import { HOLDER_SECTION_MAX_BYTES, HolderSectionReader, HolderSectionWriter } from "../../src/gossip/holder-section.ts";
import { decodePastWords, encodePastWords, type PastWord } from "../../src/gossip/past-words.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";
import { records } from "../election/arbitraries.ts";
import { atOffset } from "./recorded.ts";

const all = () => true;

function bookOf(heard: Parameters<HolderBook["take"]>[0]): HolderBook {
  const book = new HolderBook();
  book.take(heard, all, 0);
  return book;
}

/** Written and read so many addresses at a time. */
function throughSection(book: HolderBook, atOnce: number, isTold: (ip: Ip) => boolean = all): HolderBook {
  const writer = new HolderSectionWriter(book.byIp, isTold);
  let bytes = writer.go(atOnce);
  while (bytes === undefined) bytes = writer.go(atOnce);
  const reader = new HolderSectionReader(atOffset(bytes));
  const again = new HolderBook();
  while (!reader.isDone) again.take(reader.read(atOnce), all, 0);
  return again;
}

describe("the section about holders", () => {
  it("gives back what is known, however much of it at a time", () => {
    fc.assert(
      fc.property(records, fc.integer({ min: 1, max: 30 }), (heard, atOnce) => {
        const book = bookOf(heard);
        expect(new Map(throughSection(book, atOnce).byIp)).to.deep.equal(new Map(book.byIp));
      }),
    );
  });

  it("says nothing of addresses that are not sticky here", () => {
    const [one, other] = ["192.0.2.1", "192.0.2.2"].map((text) => parseIp(text) as Ip) as [Ip, Ip];
    const book = bookOf([{ addresses: [one, other], node: "n1", term: 1 }]);
    expect([...throughSection(book, 10, (ip) => ip === one).byIp.keys()]).to.deep.equal([one]);
  });

  it("holds 10,000 IPv4 addresses in 60,000 bytes, and of too many IPv6 addresses as many as fit", () => {
    const v4 = Array.from({ length: 10_000 }, (_, index) => parseIp(`10.0.${index >> 8}.${index & 255}`) as Ip);
    const small = new HolderSectionWriter(bookOf([{ addresses: v4, node: "node-1", term: 70_000 }]).byIp, all);
    expect(small.go(20_000)?.length).to.be.at.most(60_000);
    const v6 = Array.from({ length: 20_000 }, (_, index) => parseIp(`2001:db8::${index.toString(16)}`) as Ip);
    const book = bookOf([{ addresses: v6, node: "node-1", term: 70_000 }]);
    const bytes = new HolderSectionWriter(book.byIp, all).go(30_000);
    expect(bytes?.length).to.be.within(HOLDER_SECTION_MAX_BYTES - 512, HOLDER_SECTION_MAX_BYTES);
    expect(throughSection(book, 1_000).byIp.size).to.be.above(12_000);
  });

  it("never throws, and comes to an end, whatever stands in it", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const reader = new HolderSectionReader(atOffset(bytes));
        for (let turn = 0; !reader.isDone && turn <= bytes.length; turn++) reader.read(1);
        expect(reader.isDone).to.equal(true);
      }),
    );
  });
});

const WORDS: fc.Arbitrary<PastWord> = fc.record({
  node: fc.string({ minLength: 1, maxLength: 60 }),
  restarts: fc.nat(255),
  refutes: fc.nat(255),
  ageSeconds: fc.nat(900),
  hasLeft: fc.boolean(),
});

describe("the section about past words", () => {
  it("gives back what was said", () => {
    fc.assert(
      fc.property(fc.array(WORDS, { maxLength: 20 }), (words) => {
        expect(decodePastWords(atOffset(encodePastWords(words)))).to.deep.equal(words);
      }),
    );
  });

  it("holds as many as fit into 16 KiB", () => {
    const words = Array.from({ length: 2_000 }, (_, index) => ({
      node: `node-${index}`,
      restarts: 1,
      refutes: 0,
      ageSeconds: 60,
      hasLeft: false,
    }));
    const bytes = encodePastWords(words);
    expect(bytes.length).to.be.at.most(16 * 1_024);
    expect(decodePastWords(bytes)).to.deep.equal(words.slice(0, decodePastWords(bytes).length));
  });

  it("never throws, whatever stands in it", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 100 }),
        (bytes) => decodePastWords(atOffset(bytes)).length <= bytes.length,
      ),
    );
  });
});
