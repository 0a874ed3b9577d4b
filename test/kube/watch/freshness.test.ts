import { expect } from "chai";
import { freshnessOf } from "../../../src/kube/watch/freshness.ts";

describe("freshnessOf", () => {
  for (const { name, places, freshness } of [
    { name: "the smallest, as numbers", places: ["1000", "999", "20000"], freshness: 999 },
    { name: "nothing while a kind was never listed", places: ["1000", undefined], freshness: 0 },
    { name: "nothing of versions that are no decimal numbers", places: ["1000", "0x10"], freshness: 0 },
    { name: "nothing of a version with a sign or a point", places: ["1000", "+5"], freshness: 0 },
    { name: "nothing of a number too large to compare", places: ["1000", "9007199254740993"], freshness: 0 },
    { name: "nothing of version 0, which is any", places: ["1000", "0"], freshness: 0 },
    { name: "nothing without kinds", places: [], freshness: 0 },
  ]) {
    it(`is ${name}`, () => expect(freshnessOf(places)).to.equal(freshness));
  }
});
