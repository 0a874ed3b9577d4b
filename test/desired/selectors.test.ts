import { expect } from "chai";
import { anySelectorMatches, selectorMatches } from "../../src/desired/selectors.ts";
import type { LabelExpression } from "../../src/desired/snapshot.ts";
import { labels } from "./facts.ts";

const NODE = { zone: "a", empty: "" };

describe("selectorMatches", () => {
  for (const { key, operator, values, matches } of [
    { key: "zone", operator: "In", values: ["a", "b"], matches: true },
    { key: "zone", operator: "In", values: ["b"], matches: false },
    { key: "missing", operator: "In", values: ["a"], matches: false },
    { key: "zone", operator: "NotIn", values: ["a"], matches: false },
    { key: "zone", operator: "NotIn", values: ["b"], matches: true },
    { key: "missing", operator: "NotIn", values: ["a"], matches: true },
    { key: "empty", operator: "Exists", values: [], matches: true },
    { key: "constructor", operator: "Exists", values: [], matches: false },
    { key: "missing", operator: "DoesNotExist", values: [], matches: true },
    { key: "empty", operator: "DoesNotExist", values: [], matches: false },
  ] as const satisfies readonly (LabelExpression & { matches: boolean })[]) {
    it(`${key} ${operator} [${values.join(", ")}] is ${matches}`, () => {
      const expression = { key, operator, values };
      expect(selectorMatches({ matchLabels: {}, matchExpressions: [expression] }, NODE)).to.equal(matches);
    });
  }

  it("wants every label and every expression", () => {
    const matchExpressions = [{ key: "zone", operator: "Exists", values: [] }] as const;
    expect(selectorMatches({ matchLabels: { zone: "a" }, matchExpressions }, NODE)).to.equal(true);
    expect(selectorMatches({ matchLabels: { zone: "b" }, matchExpressions }, NODE)).to.equal(false);
    expect(selectorMatches({ matchLabels: { zone: "a", other: "x" }, matchExpressions }, NODE)).to.equal(false);
  });

  it("matches everything when it says nothing", () => {
    expect(selectorMatches(labels({}), {})).to.equal(true);
  });
});

describe("anySelectorMatches", () => {
  it("takes no selector as everything, and several as alternatives", () => {
    expect(anySelectorMatches([], NODE)).to.equal(true);
    expect(anySelectorMatches([labels({ zone: "b" }), labels({ zone: "a" })], NODE)).to.equal(true);
    expect(anySelectorMatches([labels({ zone: "b" })], NODE)).to.equal(false);
  });
});
