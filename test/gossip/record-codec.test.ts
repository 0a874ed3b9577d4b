import { expect } from "chai";
import fc from "fast-check";
import { hexOf } from "../../src/base/bytes.ts";
import { ByteWriter } from "../../src/gossip/byte-writer.ts";
import { MsgpackReader } from "../../src/gossip/msgpack-reader.ts";
import { RecordCodec } from "../../src/gossip/record-codec.ts";
import { atOffset, hex } from "./recorded.ts";

/** Declared in another order than the wire's, as Go structs are. */
const RECORD = new RecordCodec([
  { name: "Num", kind: "u16" },
  { name: "Big", kind: "u32" },
  { name: "Int", kind: "int" },
  { name: "Flag", kind: "bool" },
  { name: "Text", kind: "text" },
  { name: "Bytes", kind: "bytes" },
  { name: "Extra", kind: "u16", isOmittedWhenEmpty: true },
]);
const ZERO = { Num: 0, Big: 0, Int: 0, Flag: false, Text: "", Bytes: new Uint8Array(0), Extra: 0 };

const KEY = {
  Num: "a34e756d",
  Big: "a3426967",
  Int: "a3496e74",
  Flag: "a4466c6167",
  Text: "a454657874",
  Bytes: "a54279746573",
};

function decode(text: string) {
  const reader = new MsgpackReader(atOffset(hex(text)));
  const record = RECORD.decode(reader);
  return reader.fault ?? record;
}

describe("RecordCodec", () => {
  it("writes a map with sorted keys, nil for empty bytes, and leaves out what is empty and optional", () => {
    const writer = new ByteWriter(1);
    RECORD.encode(writer, { ...ZERO, Num: 200, Int: 200, Text: "é" });
    expect(hexOf(writer.finish())).to.equal(
      `86${KEY.Big}00${KEY.Bytes}c0${KEY.Flag}c2${KEY.Int}d100c8${KEY.Num}ccc8${KEY.Text}a2c3a9`,
    );
  });

  for (const { value, bytes } of [
    { value: 127, bytes: "7f" },
    { value: 128, bytes: "d10080" },
    { value: 32_767, bytes: "d17fff" },
    { value: 32_768, bytes: "d200008000" },
    { value: 2 ** 31, bytes: "d30000000080000000" },
    { value: -1, bytes: "ff" },
    { value: -33, bytes: "d0df" },
    { value: -129, bytes: "d1ff7f" },
    { value: -32_769, bytes: "d2ffff7fff" },
  ]) {
    it(`writes the signed ${value} as go-msgpack 2 does`, () => {
      const writer = new ByteWriter();
      RECORD.encode(writer, { ...ZERO, Int: value });
      expect(hexOf(writer.finish())).to.contain(`${KEY.Int}${bytes}`);
    });
  }

  for (const { length, header } of [
    { length: 31, header: "bf" },
    { length: 32, header: "da0020" },
    { length: 65_535, header: "daffff" },
    { length: 65_536, header: "db00010000" },
  ]) {
    it(`writes ${length} bytes in the raw form`, () => {
      const writer = new ByteWriter();
      RECORD.encode(writer, { ...ZERO, Bytes: new Uint8Array(length) });
      expect(hexOf(writer.finish())).to.contain(`${KEY.Bytes}${header}00`);
    });
  }

  for (const { name, bytes, fields } of [
    { name: "keys in any order", bytes: `82${KEY.Num}01${KEY.Big}02`, fields: { Num: 1, Big: 2 } },
    {
      name: "unknown keys with nested values",
      bytes: `83a15892019203c0${KEY.Num}01a15981a15ac403010203`,
      fields: { Num: 1 },
    },
    {
      name: "unknown keys with floats, extensions and long strings",
      bytes: `84a158cb0000000000000000a159d601aabbccdda15ac70201aabb${KEY.Num}01`,
      fields: { Num: 1 },
    },
    { name: "missing keys", bytes: "80", fields: {} },
    { name: "keys of other case as unknown", bytes: "81a36e756d01", fields: {} },
    {
      name: "str8 for text, keys and bytes",
      bytes: `82d90454657874d902c3a9${KEY.Bytes}d902ff00`,
      fields: { Text: "é", Bytes: Uint8Array.of(255, 0) },
    },
    { name: "bin for bytes", bytes: `81${KEY.Bytes}c40180`, fields: { Bytes: Uint8Array.of(128) } },
    {
      name: "an array of numbers for bytes",
      bytes: `81${KEY.Bytes}9301cc8002`,
      fields: { Bytes: Uint8Array.of(1, 128, 2) },
    },
    { name: "map16", bytes: `de0001${KEY.Num}01`, fields: { Num: 1 } },
    {
      name: "an array in the order of declaration",
      bytes: "9401020304".replace("04", "c3"),
      fields: { Num: 1, Big: 2, Int: 3, Flag: true },
    },
    {
      name: "an array longer than the record",
      bytes: "980102fdc3a178c0059101",
      fields: { Num: 1, Big: 2, Int: -3, Flag: true, Text: "x", Extra: 5 },
    },
    {
      name: "any width that fits",
      bytes: `83${KEY.Num}cf0000000000000005${KEY.Big}d30000000000000006${KEY.Int}d0f9`,
      fields: { Num: 5, Big: 6, Int: -7 },
    },
    {
      name: "nil for anything",
      bytes: `86${KEY.Big}c0${KEY.Bytes}c0${KEY.Flag}c0${KEY.Int}c0${KEY.Num}c0${KEY.Text}c0`,
      fields: {},
    },
    { name: "nil for the record", bytes: "c0", fields: {} },
    { name: "0 and 1 for a boolean", bytes: `81${KEY.Flag}01`, fields: { Flag: true } },
    { name: "trailing bytes", bytes: `81${KEY.Num}01ffff`, fields: { Num: 1 } },
    {
      name: "invalid UTF-8, and a byte order mark as it is",
      bytes: `81${KEY.Text}a4ffefbbbf`,
      fields: { Text: "\ufffd\ufeff" },
    },
  ]) {
    it(`takes ${name}, as Go does`, () => expect(decode(bytes)).to.deep.equal({ ...ZERO, ...fields }));
  }

  for (const { name, bytes, fault } of [
    { name: "a float for a number", bytes: `81${KEY.Num}ca3f800000`, fault: "malformed" },
    { name: "a negative unsigned", bytes: `81${KEY.Num}ff`, fault: "malformed" },
    { name: "over 16 bits", bytes: `81${KEY.Num}ce00010000`, fault: "malformed" },
    { name: "over 32 bits", bytes: `81${KEY.Big}cf0000000100000000`, fault: "malformed" },
    { name: "text for a number", bytes: `81${KEY.Num}a131`, fault: "malformed" },
    { name: "a number for text", bytes: `81${KEY.Text}01`, fault: "malformed" },
    { name: "a number for a key", bytes: "810101", fault: "malformed" },
    { name: "2 for a boolean", bytes: `81${KEY.Flag}02`, fault: "malformed" },
    { name: "the unused code c1", bytes: "81a158c1", fault: "malformed" },
    { name: "no bytes", bytes: "", fault: "truncated" },
    { name: "a pair too few", bytes: `82${KEY.Num}01`, fault: "truncated" },
    { name: "text cut short", bytes: `81${KEY.Text}a2c3`, fault: "truncated" },
    { name: "four thousand million pairs", bytes: "dfffffffff", fault: "truncated" },
    { name: "four thousand million numbers for bytes", bytes: `81${KEY.Bytes}ddffffffff01`, fault: "truncated" },
    { name: "nesting without an end", bytes: `81a158${"91".repeat(50_000)}`, fault: "truncated" },
  ]) {
    it(`refuses ${name} as ${fault}`, () => expect(decode(bytes)).to.equal(fault));
  }

  for (const { name, text, bytes } of [
    { name: "31 letters", text: "a".repeat(31), bytes: `bf${"61".repeat(31)}` },
    { name: "32 letters", text: "a".repeat(32), bytes: `da0020${"61".repeat(32)}` },
    { name: "30 letters and one of two bytes", text: `${"a".repeat(30)}é`, bytes: `da0020${"61".repeat(30)}c3a9` },
  ]) {
    it(`writes a text of ${name} in the raw form, by its bytes`, () => {
      const writer = new ByteWriter();
      RECORD.encode(writer, { ...ZERO, Text: text });
      expect(hexOf(writer.finish())).to.contain(`${KEY.Text}${bytes}`);
    });
  }

  it("brings every record back", () => {
    const record = fc.record({
      Num: fc.nat(0xffff),
      Big: fc.nat(0xffff_ffff),
      Int: fc.maxSafeInteger(),
      Flag: fc.boolean(),
      Text: fc.string({ unit: "grapheme", maxLength: 70_000 }),
      Bytes: fc.uint8Array({ maxLength: 300 }),
      Extra: fc.nat(0xffff),
    });
    fc.assert(
      fc.property(record, (values) => {
        const writer = new ByteWriter();
        RECORD.encode(writer, values);
        expect(RECORD.decode(new MsgpackReader(atOffset(writer.finish())))).to.deep.equal(values);
      }),
    );
  });

  it("never throws", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void RECORD.decode(new MsgpackReader(bytes))));
  });
});
