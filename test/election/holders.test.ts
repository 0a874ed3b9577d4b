import { expect } from "chai";
import fc from "fast-check";
import { compareText } from "../../src/desired/text-order.ts";
import { HolderBook, type HolderRecord, type Holders, UNKNOWN_KEPT_MS } from "../../src/election/holders.ts";
import type { Ip } from "../../src/net/ip.ts";
import { records } from "./arbitraries.ts";
import { ip } from "./views.ts";

const ADDRESS = ip("192.0.2.1");
const by = (node: string, term: number, address: Ip = ADDRESS): HolderRecord => ({ addresses: [address], node, term });
const known = () => true;
const unknown = () => false;

function bookOf(...heard: readonly HolderRecord[]): HolderBook {
  const book = new HolderBook();
  book.take(heard, known, 0);
  return book;
}

/** By address. */
function listed({ byIp }: HolderBook): readonly (readonly [Ip, Holders])[] {
  return [...byIp].toSorted(([a], [b]) => compareText(a, b));
}

describe("HolderBook", () => {
  for (const { name, heard, holder } of [
    { name: "the higher term", heard: [by("n1", 1), by("n2", 2)], holder: { node: "n2", term: 2 } },
    {
      name: "the higher term, whatever comes last",
      heard: [by("n2", 2), by("n1", 1)],
      holder: { node: "n2", term: 2 },
    },
    { name: "of equal terms the lower name", heard: [by("n2", 2), by("n1", 2)], holder: { node: "n1", term: 2 } },
    { name: "a later term of the same node", heard: [by("n1", 1), by("n1", 3)], holder: { node: "n1", term: 3 } },
  ]) {
    it(`believes ${name}`, () => expect(bookOf(...heard).holderOf(ADDRESS)).to.deep.equal(holder));
  }

  it("comes to the same whatever the order, and however often it hears it", () => {
    const shuffled = records.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray([...list, ...list], { minLength: list.length * 2 })),
    );
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        expect(listed(bookOf(...other))).to.deep.equal(listed(bookOf(...one)));
      }),
    );
  });

  it("comes to the same by hearing what another knows as by hearing what it heard", () => {
    fc.assert(
      fc.property(records, records, (one, other) => {
        const told = [...bookOf(...other).byIp].flatMap(([address, held]) =>
          held.map(({ node, term }) => by(node, term, address)),
        );
        expect(listed(bookOf(...one, ...told))).to.deep.equal(listed(bookOf(...one, ...other)));
      }),
    );
  });

  it("never goes back to a lower term, and says which addresses have changed", () => {
    fc.assert(
      fc.property(records, (list) => {
        const book = new HolderBook();
        for (const record of list) {
          const before = new Map(book.byIp);
          const changed = book.take([record], known, 0);
          for (const [address, held] of book.byIp) {
            expect(held[0]?.term ?? 0).to.be.at.least(before.get(address)?.[0]?.term ?? 0);
            expect(changed.includes(address)).to.equal(before.get(address) !== held);
            expect(held.length).to.be.at.most(2);
          }
        }
      }),
    );
  });

  it("forgets after 15 min what is no sticky address here, and keeps what is", () => {
    const book = new HolderBook();
    const other = ip("192.0.2.2");
    book.take([by("n1", 1), by("n1", 1, other)], (address) => address === ADDRESS, 0);
    const isKnown = (address: Ip) => address === ADDRESS;
    book.forgetUnknown(isKnown, UNKNOWN_KEPT_MS - 1);
    expect([...book.byIp.keys()]).to.deep.equal([ADDRESS, other]);
    book.forgetUnknown(isKnown, UNKNOWN_KEPT_MS);
    expect([...book.byIp.keys()]).to.deep.equal([ADDRESS]);
  });

  it("counts the 15 min anew when the address was sticky meanwhile", () => {
    const book = new HolderBook();
    book.take([by("n1", 1)], unknown, 0);
    book.forgetUnknown(known, UNKNOWN_KEPT_MS - 1);
    book.forgetUnknown(unknown, UNKNOWN_KEPT_MS);
    expect(book.holderOf(ADDRESS)).to.not.equal(undefined);
    book.forgetUnknown(unknown, 2 * UNKNOWN_KEPT_MS);
    expect(book.holderOf(ADDRESS)).to.equal(undefined);
  });

  it("takes no more than 4,096 addresses that it does not know", () => {
    const book = new HolderBook();
    const addresses = Array.from({ length: 5_000 }, (_, index) => ip(`10.0.${index >> 8}.${index & 255}`));
    book.take([{ addresses, node: "n1", term: 1 }], unknown, 0);
    expect(book.byIp.size).to.equal(4_096);
    book.take([by("n1", 1)], known, 0);
    expect(book.byIp.size).to.equal(4_097);
  });
});
