import { expect } from "chai";
import fc from "fast-check";
import { CANDIDATES_KEPT } from "../../src/election/decision.ts";
import { NO_PLACE } from "../../src/election/eligibility.ts";
import { pickBest } from "../../src/election/pick-best.ts";

/** Few places and heads, so that many are alike. */
const slots = fc.array(fc.tuple(fc.constantFrom(0, 1, 2, NO_PLACE), fc.constantFrom(0, 1, 7, 0xffff_ffff)), {
  maxLength: 60,
});

describe("pickBest", () => {
  it("finds what a sort puts first", () => {
    fc.assert(
      fc.property(slots, (list) => {
        const places = Uint16Array.from(list, ([place]) => place);
        const heads = Uint32Array.from(list, ([, head]) => head);
        const picked = new Uint32Array(CANDIDATES_KEPT);
        // Of the same place and head the higher slot comes first here, so that the order of slots proves nothing.
        const count = pickBest(places, heads, picked, (slot, other) => slot > other);
        const sorted = list
          .map(([place, head], slot) => ({ place, head, slot }))
          .filter(({ place }) => place !== NO_PLACE)
          .toSorted((a, b) => a.place - b.place || a.head - b.head || b.slot - a.slot);
        expect([...picked.subarray(0, count)]).to.deep.equal(sorted.slice(0, CANDIDATES_KEPT).map(({ slot }) => slot));
      }),
    );
  });
});
