import { expect } from "chai";
import fc from "fast-check";
import { IntervalSet } from "../../src/allocator/interval-set.ts";

const steps = fc.array(fc.record({ adds: fc.boolean(), value: fc.bigInt(0n, 40n) }), { maxLength: 80 });

describe("IntervalSet", () => {
  it("finds the first free value as a plain set does, after any additions and deletions", () => {
    fc.assert(
      fc.property(steps, fc.bigInt(0n, 40n), (history, from) => {
        const set = new IntervalSet();
        const plain = new Set<bigint>();
        for (const { adds, value } of history) {
          if (adds) set.add(value);
          else set.delete(value);
          if (adds) plain.add(value);
          else plain.delete(value);
        }
        let free = from;
        while (plain.has(free)) free++;
        expect(set.firstFree(from)).to.equal(free);
        expect(set.has(from)).to.equal(plain.has(from));
        const found = [...set.within(5n, 30n)].flatMap(({ first, last }) => valuesOf(first, last));
        expect(found).to.deep.equal(valuesOf(5n, 30n).filter((value) => plain.has(value)));
      }),
      { numRuns: 300 },
    );
  });

  it("joins what touches: a full block is one interval", () => {
    const set = new IntervalSet([1n, 3n, 2n, 0n]);
    expect([...set.within(0n, 100n)]).to.deep.equal([{ first: 0n, last: 3n }]);
  });
});

function valuesOf(first: bigint, last: bigint): readonly bigint[] {
  return Array.from({ length: Number(last - first) + 1 }, (_value, index) => first + BigInt(index));
}
