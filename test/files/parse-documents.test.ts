import { expect } from "chai";
import fc from "fast-check";
import { parseChunk, splitDocuments } from "../../src/files/parse-documents.ts";

function valuesOf(text: string): unknown[] {
  return splitDocuments(text).flatMap((chunk) => {
    const parsed = parseChunk(chunk.text);
    return parsed.ok ? parsed.documents.map(({ value }) => value) : [`line ${chunk.firstLine + parsed.line - 1}`];
  });
}

describe("splitDocuments", () => {
  for (const { name, text, values } of [
    { name: "nothing", text: "", values: [] },
    { name: "comments only", text: "# a\n---\n  # b\n---\n", values: [] },
    { name: "one document", text: "a: 1\n", values: [{ a: 1 }] },
    { name: "two, with a marker first", text: "---\na: 1\n---\nb: 2", values: [{ a: 1 }, { b: 2 }] },
    { name: "a marker that carries content", text: "a: 1\n--- {b: 2}\n", values: [{ a: 1 }, { b: 2 }] },
    {
      name: "directive and document end",
      text: "%YAML 1.2\n---\na: 1\n...\n---\nb: 2\n",
      values: [{ a: 1 }, { b: 2 }],
    },
    { name: "carriage returns", text: "a: 1\r\n---\r\nb: 2\r\n", values: [{ a: 1 }, { b: 2 }] },
    { name: "a byte order mark", text: "\ufeffa: 1\n", values: [{ a: 1 }] },
    { name: "dashes inside text", text: "a: |\n  ---\n  x\nb: '--- '\n", values: [{ a: "---\nx\n", b: "--- " }] },
    { name: "JSON", text: '{"a": [1, 2]}\n', values: [{ a: [1, 2] }] },
    { name: "a broken document", text: "a: 1\n---\nb: [\nc: 2\n", values: [{ a: 1 }, "line 4"] },
    { name: "broken JSON", text: '{\n "a": 1\n "b": 2\n}\n', values: ["line 2"] },
    { name: "a repeated key", text: "a: 1\nb: 2\na: 3\n", values: ["line 3"] },
  ]) {
    it(`reads ${name}`, () => expect(valuesOf(text)).to.deep.equal(values));
  }

  it("knows the line of every piece", () => {
    expect(splitDocuments("a: 1\n---\n\nb: 2\n---\nc: 3\n").map(({ firstLine }) => firstLine)).to.deep.equal([1, 2, 5]);
  });
});

describe("parseChunk", () => {
  it("gives the line of a field, or of what there is of it", () => {
    for (const text of ["---\na:\n  - b: 1\n  - b: 2\n", '{"a": [\n {"b": 1},\n\n {"b": 2}]}']) {
      const parsed = parseChunk(text);
      const lines = parsed.ok
        ? [
            ["a", 1, "b"],
            ["a", 1, "x"],
          ].map((path) => parsed.documents[0]?.lineOf(path))
        : [];
      expect(lines).to.deep.equal([4, 4]);
    }
  });

  it("does not unfold aliases without end", () => {
    const bomb = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"];
    for (let level = 1; level < 9; level++) {
      bomb.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(",")}]`);
    }
    expect(parseChunk(bomb.join("\n")).ok).to.equal(false);
  });

  it("never throws", () => {
    const pieces = fc.array(
      fc.constantFrom(
        "---",
        "a: ",
        "- ",
        "[",
        "{",
        "}",
        "]",
        "&x",
        "*x",
        "!!t ",
        '"',
        "'",
        "|",
        "\n",
        "\t",
        " ",
        "%",
        ":",
        ",",
        "?",
      ),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          pieces.map((list) => list.join("")),
          fc.string({ unit: "binary" }),
        ),
        (text) => {
          for (const chunk of splitDocuments(text)) parseChunk(chunk.text);
        },
      ),
    );
  });
});
