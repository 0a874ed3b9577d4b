import { expect } from "chai";
import fc from "fast-check";
import { listDifference } from "../../src/base/list-difference.ts";

describe("listDifference", () => {
  it("names what is gone and what has come, whatever the order", () => {
    const items = Array.from({ length: 8 }, (_, number) => ({ number }));
    const list = fc.shuffledSubarray(items);
    fc.assert(
      fc.property(list, list, (before, after) => {
        const { gone, come } = listDifference(before, after);
        expect([...gone]).to.have.members(before.filter((item) => !after.includes(item)));
        expect([...come]).to.have.members(after.filter((item) => !before.includes(item)));
      }),
    );
  });
});
