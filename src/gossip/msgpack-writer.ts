/** MessagePack as go-msgpack writes it with default settings: text and bytes both in the raw form of the old specification. Pure. */
import type { ByteWriter } from "./byte-writer.ts";

const NIL = 0xc0;
/** A shorter raw has its length in its first byte. */
const SHORT_RAW_LIMIT = 32;
const utf8 = new TextEncoder();

export function writeNil(writer: ByteWriter): void {
  writer.u8(NIL);
}

export function writeBool(writer: ByteWriter, value: boolean): void {
  writer.u8(value ? 0xc3 : 0xc2);
}

/** @param count below 16: neither memberlist nor we have longer maps */
export function writeMapHeader(writer: ByteWriter, count: number): void {
  writer.u8(0x80 | count);
}

export function writeArrayHeader(writer: ByteWriter, count: number): void {
  if (count < 16) return writer.u8(0x90 | count);
  writer.u8(0xdc);
  writer.u16(count);
}

/** Shortest unsigned form, up to 2^53. */
export function writeUnsigned(writer: ByteWriter, value: number): void {
  if (value < 0x80) return writer.u8(value);
  if (value < 0x100) {
    writer.u8(0xcc);
    return writer.u8(value);
  }
  if (value < 0x1_0000) {
    writer.u8(0xcd);
    return writer.u16(value);
  }
  if (value < 0x1_0000_0000) {
    writer.u8(0xce);
    return writer.u32(value);
  }
  writer.u8(0xcf);
  writer.i64(value);
}

/** Signed fields as go-msgpack 2.x writes them: 200 is d1 00c8, though cc c8 would be shorter. */
export function writeSigned(writer: ByteWriter, value: number): void {
  if (value >= -32 && value < 0x80) return writer.u8(value & 0xff);
  if (value >= -0x80 && value < 0x80) {
    writer.u8(0xd0);
    return writer.u8(value & 0xff);
  }
  if (value >= -0x8000 && value < 0x8000) {
    writer.u8(0xd1);
    return writer.u16(value & 0xffff);
  }
  if (value >= -0x8000_0000 && value < 0x8000_0000) {
    writer.u8(0xd2);
    return writer.u32(value >>> 0);
  }
  writer.u8(0xd3);
  writer.i64(value);
}

/** Raw form: never str8 (d9) nor bin (c4), which go-msgpack 0.5.5 refuses in places. */
export function writeRaw(writer: ByteWriter, bytes: Uint8Array): void {
  const { length } = bytes;
  if (length < SHORT_RAW_LIMIT) {
    writer.u8(0xa0 | length);
  } else if (length < 0x1_0000) {
    writer.u8(0xda);
    writer.u16(length);
  } else {
    writer.u8(0xdb);
    writer.u32(length);
  }
  writer.bytes(bytes);
}

export function writeText(writer: ByteWriter, text: string): void {
  if (!isShortAscii(text)) return writeRaw(writer, utf8.encode(text));
  // Names of nodes in every ping: no array of their bytes is made.
  writer.u8(0xa0 | text.length);
  for (let index = 0; index < text.length; index++) writer.u8(text.charCodeAt(index));
}

function isShortAscii(text: string): boolean {
  if (text.length >= SHORT_RAW_LIMIT) return false;
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) >= 0x80) return false;
  return true;
}
