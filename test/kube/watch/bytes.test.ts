import { expect } from "chai";
import fc from "fast-check";
import { parseExactJson } from "../../../src/kube/watch/exact-json.ts";
import { LineReader } from "../../../src/kube/watch/line-reader.ts";
import { ListReader } from "../../../src/kube/watch/list-reader.ts";
import { parseWatchLine } from "../../../src/kube/watch/watch-event.ts";

/** As kube-apiserver writes lists of its own kinds, and of custom resources. */
const BUILT_IN = `{"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"12","continue":"a]}\\"b"},"items":[{"metadata":{"name":"a","labels":{"x":"}],{"}},"spec":{"ports":[{"port":80},{"port":81}]}},{"metadata":{"name":"ä"}}]}\n`;
const CUSTOM = `{"apiVersion":"metallb.io/v1beta1","items":[{"metadata":{"name":"a"}}],"kind":"IPAddressPoolList","metadata":{"continue":"","resourceVersion":"12"}}\n`;

function readList(text: string, sizes: readonly number[] = []): { items: unknown[]; envelope: unknown } {
  const reader = new ListReader();
  const items: unknown[] = [];
  for (const piece of pieces(Buffer.from(text), sizes)) items.push(...reader.push(piece));
  const end = reader.end();
  return { items, envelope: end.ok ? end.value : end.reason };
}

/** At a non-zero offset of a larger buffer, cut at the sizes, the rest whole. */
function* pieces(bytes: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  const around = Buffer.concat([Buffer.from("junk"), bytes, Buffer.from("junk")]);
  let begin = 4;
  const end = 4 + bytes.length;
  for (const size of sizes) {
    yield around.subarray(begin, Math.min(end, begin + size));
    begin = Math.min(end, begin + size);
  }
  yield around.subarray(begin, end);
}

const cuts = fc.array(fc.nat({ max: 40 }), { maxLength: 40 });

describe("kube: bytes of lists and watches", () => {
  it("reads items one by one, and everything else as one object", () => {
    const { items, envelope } = readList(BUILT_IN);
    expect(items).to.deep.equal((JSON.parse(BUILT_IN) as { items: unknown }).items);
    expect(envelope).to.deep.equal({ ...(JSON.parse(BUILT_IN) as object), items: [] });
    expect(readList(CUSTOM)).to.deep.equal({
      items: [{ metadata: { name: "a" } }],
      envelope: { ...(JSON.parse(CUSTOM) as object), items: [] },
    });
  });

  it("reads an empty list, and what is no list but an object", () => {
    expect(readList('{"items":[],"metadata":{}}').items).to.deep.equal([]);
    expect(readList('{"kind":"Status","code":410}').envelope).to.deep.equal({ kind: "Status", code: 410 });
  });

  for (const { name, text } of [
    { name: "a list that breaks off within an item", text: CUSTOM.slice(0, 60) },
    { name: "a list that breaks off after an item", text: CUSTOM.slice(0, CUSTOM.indexOf("]")) },
    { name: "nothing", text: "" },
    { name: "a page of HTML", text: "<html><body>down</body></html>" },
    { name: "an item that is no JSON", text: '{"items":[{nothing}]}' },
  ]) {
    it(`refuses ${name}`, () => expect(readList(text).envelope).to.equal("not-json"));
  }

  it("reads the same wherever the bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(fc.json(), { maxLength: 5 }), cuts, (texts, sizes) => {
        const list = {
          metadata: { resourceVersion: "1" },
          items: texts.map((text) => ({ value: JSON.parse(text) as unknown })),
        };
        const { items, envelope } = readList(JSON.stringify(list), sizes);
        expect(items).to.deep.equal(JSON.parse(JSON.stringify(list.items)));
        expect(envelope).to.deep.equal({ ...list, items: [] });
      }),
    );
  });

  it("never throws, whatever the bytes", () => {
    const pattern = fc
      .array(fc.constantFrom("{", "}", "[", "]", '"', ",", ":", "\\", "a", "1"), { maxLength: 60 })
      .map((parts) => parts.join(""));
    fc.assert(fc.property(pattern, cuts, (text, sizes) => void readList(text, sizes)));
    fc.assert(fc.property(pattern, (text) => void parseWatchLine(text)));
  });

  it("cuts lines wherever the bytes are cut", () => {
    const lines = ['{"a":"ä"}', "", "b", "c c"];
    fc.assert(
      fc.property(cuts, (sizes) => {
        const reader = new LineReader();
        const read = [...pieces(Buffer.from(`${lines.join("\n")}\nrest`), sizes)].flatMap(
          (piece) => reader.push(piece) ?? ["?"],
        );
        expect(read).to.deep.equal(lines.filter((line) => line !== ""));
      }),
    );
  });

  it("gives up a line that is too long to be an object", () => {
    const reader = new LineReader();
    const mebibyte = Buffer.alloc(1_024 * 1_024, "a");
    for (let count = 0; count < 8; count++) expect(reader.push(mebibyte)).to.deep.equal([]);
    expect(reader.push(mebibyte)).to.equal(undefined);
  });

  for (const { name, line, event } of [
    {
      name: "an object that is new",
      line: '{"type":"ADDED","object":{"metadata":{"resourceVersion":"7"}}}',
      event: "changed 7",
    },
    {
      name: "an object that changed",
      line: '{"type":"MODIFIED","object":{"metadata":{"resourceVersion":"8"}}}',
      event: "changed 8",
    },
    {
      name: "an object that is gone",
      line: '{"type":"DELETED","object":{"metadata":{"resourceVersion":"9"}}}',
      event: "deleted 9",
    },
    {
      name: "a bookmark",
      line: '{"type":"BOOKMARK","object":{"kind":"Node","metadata":{"resourceVersion":"99"}}}',
      event: "bookmark 99",
    },
    {
      name: "an error",
      line: '{"type":"ERROR","object":{"kind":"Status","message":"too old resource version: 5 (9)","reason":"Expired","code":410}}',
      event: "refused 410 too old resource version: 5 (9)",
    },
    {
      name: "a type of the future",
      line: '{"type":"NOVEL","object":{"metadata":{"resourceVersion":"9"}}}',
      event: "not-an-event",
    },
    { name: "an object without version", line: '{"type":"ADDED","object":{"metadata":{}}}', event: "not-an-event" },
    { name: "half a line", line: '{"type":"ADDED","obj', event: "not-json" },
  ]) {
    it(`reads ${name}`, () => {
      const parsed = parseWatchLine(line);
      if (!parsed.ok) expect(parsed.reason).to.equal(event);
      else if (parsed.value.kind === "refused") {
        const { status, message } = parsed.value.refusal;
        expect(`refused ${status} ${message}`).to.equal(event);
      } else expect(`${parsed.value.kind} ${parsed.value.resourceVersion}`).to.equal(event);
    });
  }

  it("knows a version that the server has not come to", () => {
    const cause = { reason: "ResourceVersionTooLarge", message: "Too large resource version" };
    const object = { code: 504, message: "Timeout", details: { causes: [cause], retryAfterSeconds: 1 } };
    const parsed = parseWatchLine(JSON.stringify({ type: "ERROR", object }));
    expect(parsed).to.have.nested.property("value.refusal.isVersionUnknown", true);
    expect(parsed).to.have.nested.property("value.refusal.retryAfterSeconds", 1);
  });
});

describe("kube: numbers above 2^53", () => {
  it("are read as text where a kind has such, and others as numbers", () => {
    const text = '{"a":9223372036854775807,"b":-9007199254740993,"c":9007199254740991,"d":1.5e300,"e":[1],"f":"7"}';
    expect(parseExactJson(text)).to.deep.equal({
      a: "9223372036854775807",
      b: "-9007199254740993",
      c: 9007199254740991,
      d: 1.5e300,
      e: [1],
      f: "7",
    });
    const list = Buffer.from('{"items":[{"n":9223372036854775807}]}');
    expect(new ListReader(parseExactJson).push(list)).to.deep.equal([{ n: "9223372036854775807" }]);
    const line = '{"type":"ADDED","object":{"metadata":{"resourceVersion":"7"},"n":9223372036854775807}}';
    const event = parseWatchLine(line, parseExactJson);
    expect(event.ok && event.value).to.deep.include({ kind: "changed" });
    expect(JSON.stringify(event)).to.contain('"9223372036854775807"');
  });
});
