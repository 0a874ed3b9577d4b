import { expect } from "chai";
import type { NodeResource } from "../../api/node.ts";
import { annotationProblems } from "../../src/desired/annotation-problems.ts";
import { nodeFacts } from "../../src/desired/resource-facts.ts";

/** An object with these annotations. */
const annotated = (annotations: unknown) => ({ metadata: { name: "a", annotations } });
const sentences = (kind: Parameters<typeof annotationProblems>[0], annotations: unknown) =>
  annotationProblems(kind, annotated(annotations)).map(({ sentence }) => sentence);
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
      const annotations = { [`arpeggio.dev/${key}`]: value };
      expect(sentences("advertisements", annotations)).to.deep.equal([`${at(key)} ${says}`]);
    });
  }

  for (const key of ["step-down", "ignore-cordon"]) {
    for (const value of ["yes", "", "True", "1"]) {
      it(`names ${key}=${JSON.stringify(value)} of a Node, which asks for nothing`, () => {
        const annotations = { [`arpeggio.dev/${key}`]: value };
        const says = `is ${JSON.stringify(value)}: must be false or true; the default, false, stands`;
        expect(sentences("nodes", annotations)).to.deep.equal([`${at(key)} ${says}`]);
        const { wantsStepDown, ignoresCordon } = nodeFacts({ metadata: { name: "n1", annotations } } as NodeResource);
        expect([wantsStepDown, ignoresCordon]).to.deep.equal([false, false]);
      });
    }
  }

  it("asks a Node's annotations of Nodes alone", () => {
    const annotations = { "arpeggio.dev/step-down": "yes", "arpeggio.dev/sticky": "yes" };
    expect(sentences("nodes", annotations)).to.have.length(1);
    expect(sentences("advertisements", annotations)).to.have.length(1);
    expect(sentences("services", annotations)).to.deep.equal([]);
  });

  it("names every bad one", () => {
    const annotations = {
      "arpeggio.dev/sticky": "1",
      "arpeggio.dev/uniqueness": "1",
      "arpeggio.dev/conflict-policy": "yield",
    };
    expect(sentences("advertisements", annotations)).to.have.length(2);
  });

  for (const annotations of [
    undefined,
    null,
    {},
    { "example.org/sticky": "yes" },
    { "arpeggio.dev/sticky": "true", "arpeggio.dev/uniqueness": "strict", "arpeggio.dev/conflict-policy": "defend" },
  ]) {
    it(`has nothing to say of ${JSON.stringify(annotations)}`, () =>
      expect(sentences("advertisements", annotations)).to.deep.equal([]));
  }
});
