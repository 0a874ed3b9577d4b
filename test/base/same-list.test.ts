import { expect } from "chai";
import { isSameList } from "../../src/base/same-list.ts";

describe("isSameList", () => {
  const [one, other] = [{ name: "a" }, { name: "a" }];
  for (const { name, a, b, isSame } of [
    { name: "two empty ones", a: [], b: [], isSame: true },
    { name: "the same items in the same order", a: [one, other], b: [one, other], isSame: true },
    { name: "the same items in another order", a: [one, other], b: [other, one], isSame: false },
    { name: "equal items that are not the same", a: [one], b: [other], isSame: false },
    { name: "one that begins like the other", a: [one, other], b: [one], isSame: false },
    { name: "one that goes on after the other", a: [one], b: [one, other], isSame: false },
  ]) {
    it(`says ${isSame} of ${name}`, () => expect(isSameList(a, b)).to.equal(isSame));
  }
});
