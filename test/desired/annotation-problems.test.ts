import { expect } from "chai";
import { annotationProblems } from "../../src/desired/annotation-problems.ts";

const at = (key: string) => `metadata.annotations["arpeggio.dev/${key}"]`;

describe("annotationProblems", () => {
  for (const [key, value, says] of [
    ["sticky", "yes", 'is "yes": must be false or true; the default, false, stands'],
    ["sticky", "", 'is "": must be false or true; the default, false, stands'],
    ["sticky", true, "is true: must be false or true; the default, false, stands"],
    ["uniqueness", "Strict", 'is "Strict": must be available or strict; the default, available, stands'],
    ["conflict-policy", "fight", 'is "fight": must be defend or yield; the default, defend, stands'],
  ] as const) {
    it(`names ${key}=${JSON.stringify(value)}`, () => {
      expect(annotationProblems({ [`arpeggio.dev/${key}`]: value })).to.deep.equal([`${at(key)} ${says}`]);
    });
  }

  it("names every bad one", () => {
    const annotations = {
      "arpeggio.dev/sticky": "1",
      "arpeggio.dev/uniqueness": "1",
      "arpeggio.dev/conflict-policy": "yield",
    };
    expect(annotationProblems(annotations)).to.have.length(2);
  });

  for (const annotations of [
    undefined,
    null,
    {},
    { "example.org/sticky": "yes" },
    { "arpeggio.dev/sticky": "true", "arpeggio.dev/uniqueness": "strict", "arpeggio.dev/conflict-policy": "defend" },
  ]) {
    it(`has nothing to say of ${JSON.stringify(annotations)}`, () =>
      expect(annotationProblems(annotations)).to.deep.equal([]));
  }
});
