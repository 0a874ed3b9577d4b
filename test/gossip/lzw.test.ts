import { createHash } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { hexOf } from "../../src/base/bytes.ts";
import { compressLzw, decompressLzw } from "../../src/gossip/lzw.ts";
import { atOffset, hex, LZW_CASES, type LzwCase } from "./recorded.ts";

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const widthAfter = (codes: number): number => Math.min(12, Math.floor(Math.log2(257 + codes)) + 1);

/** The input that the golden file describes. */
function inputOf({ id, length, inputHex }: LzwCase): Uint8Array {
  if (inputHex !== undefined) return hex(inputHex);
  if (id === "empty") return new Uint8Array(0);
  if (id === "run-300") return new Uint8Array(length).fill(0x61);
  const mask = Number.parseInt(id.split("-")[1] ?? "", 16);
  let x = 1n;
  return Uint8Array.from({ length }, () => {
    x = (x * 1_103_515_245n + 12_345n) & 0x7fff_ffffn;
    return Number(x >> 16n) & mask;
  });
}

describe("lzw", () => {
  it("has all the cases of Go", () => expect(LZW_CASES).to.have.length(16));
  for (const one of LZW_CASES) {
    it(`${one.id}: ${one.length} bytes become Go's, and come back`, () => {
      const input = inputOf(one);
      expect(sha256(input)).to.equal(one.inputSha256);
      const compressed = compressLzw(input);
      expect(compressed).to.have.length(one.compressedLength);
      if (one.compressedHex !== undefined) expect(hexOf(compressed)).to.equal(one.compressedHex);
      expect(sha256(compressed)).to.equal(one.compressedSha256);
      const output = decompressLzw(atOffset(compressed), one.length);
      expect(output.ok && sha256(output.value)).to.equal(one.inputSha256);
    });
  }

  it("stops at the limit of output", () => {
    const compressed = compressLzw(new Uint8Array(100_000));
    expect(compressed.length).to.be.lessThan(1_000);
    expect(decompressLzw(compressed, 99_999)).to.deep.equal({ ok: false, reason: "too-large" });
    expect(decompressLzw(compressed, 100_000)).to.deep.include({ ok: true });
  });

  for (const { name, bytes } of [
    { name: "no bytes", bytes: "" },
    { name: "no end code", bytes: "0083" },
    // Clear, 97, 259, end, though 258 is the first entry; clear, 258, end, though there is none yet.
    { name: "a code that has no entry yet", bytes: "00c30c0c08" },
    { name: "an entry right after the clear code", bytes: "00050604" },
  ]) {
    it(`refuses ${name}`, () =>
      expect(decompressLzw(hex(bytes), 100)).to.deep.equal({ ok: false, reason: "bad-compression" }));
  }

  it("goes on with a full table that is never cleared", () => {
    // 9,000 literals without a clear code: 254 codes of 9 bits, 512 of 10, 1,024 of 11, then 12 bits for ever.
    const bits: number[] = [];
    const put = (code: number, width: number): void => {
      for (let bit = 0; bit < width; bit++) bits.push((code >> bit) & 1);
    };
    put(256, 9);
    for (let codes = 0; codes < 9_000; codes++) put(codes % 251, widthAfter(codes));
    put(257, 12);
    const packed = new Uint8Array(Math.ceil(bits.length / 8));
    for (const [index, bit] of bits.entries()) packed[index >> 3] = (packed[index >> 3] ?? 0) | (bit << (index & 7));
    const output = decompressLzw(packed, 9_000);
    expect(output.ok && output.value).to.deep.equal(Uint8Array.from({ length: 9_000 }, (_, index) => index % 251));
  });

  it("brings every input back", () => {
    const repetitive = fc
      .tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat(400))
      .map(([bytes, times]) => Uint8Array.from({ length: times }, (_, index) => bytes[index % bytes.length] ?? 0));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 2_000 }), repetitive), (input) => {
        const output = decompressLzw(compressLzw(input), input.length);
        expect(output).to.deep.equal({ ok: true, value: input });
      }),
    );
  });

  it("never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(decompressLzw(bytes, 10_000).ok).to.be.a("boolean");
      }),
    );
  });
});
