/** Several messages in one: 07, their count in a byte, their lengths of two bytes each, then the messages (memberlist v0.5.1 util.go:178-254). Pure. */
import { u16At } from "../base/bytes.ts";
import { ArpeggioError } from "../base/errors.ts";
import { ByteWriter } from "./byte-writer.ts";
import { TYPE } from "./wire-records.ts";

const MAX_COMPOUND_PARTS = 255;

/** @throws ERR_INTERNAL_ARGUMENT for more than 255 parts, an empty one (it crashes old Go peers) or one over 65,535 bytes */
export function encodeCompound(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length > MAX_COMPOUND_PARTS || parts.some(({ length }) => length === 0 || length > 0xffff)) {
    throw new ArpeggioError("ERR_INTERNAL_ARGUMENT", "a compound has at most 255 parts of 1 to 65,535 bytes");
  }
  const writer = new ByteWriter(1400);
  writer.u8(TYPE.compound);
  writer.u8(parts.length);
  for (const part of parts) writer.u16(part.length);
  for (const part of parts) writer.bytes(part);
  return writer.finish();
}

/** The parts that are complete, as views; `isTruncated` when there should be more. */
export function decodeCompound(bytes: Uint8Array): {
  readonly parts: readonly Uint8Array[];
  readonly isTruncated: boolean;
} {
  const parts: Uint8Array[] = [];
  const count = bytes[1] ?? 0;
  let start = 2 + 2 * count;
  if (bytes.length < start) return { parts, isTruncated: true };
  for (let index = 0; index < count; index++) {
    const length = u16At(bytes, 2 + 2 * index);
    if (length > bytes.length - start) return { parts, isTruncated: true };
    parts.push(bytes.subarray(start, start + length));
    start += length;
  }
  return { parts, isTruncated: false };
}
