/** The compressed wrapper: 09 and a map of algorithm (0 is LZW) and buffer. Pure. */
import { type Decoded, decoded, dropped } from "../base/decoded.ts";
import { ByteWriter } from "./byte-writer.ts";
import type { GossipDrop } from "./drop.ts";
import { compressLzw, decompressLzw } from "./lzw.ts";
import { MsgpackReader } from "./msgpack-reader.ts";
import { COMPRESS, TYPE } from "./wire-records.ts";

const LZW = 0;

/** @param message never empty: an empty result crashes Go peers before 0.6.0 */
export function encodeCompressed(message: Uint8Array): Uint8Array {
  const writer = new ByteWriter(64 + message.length);
  writer.u8(TYPE.compress);
  COMPRESS.encode(writer, { Algo: LZW, Buf: compressLzw(message) });
  return writer.finish();
}

/** The message inside; "truncated" when the map itself is incomplete. */
export function decodeCompressed(bytes: Uint8Array, maxBytes: number): Decoded<Uint8Array, GossipDrop> {
  const reader = new MsgpackReader(bytes, 1);
  const { Algo, Buf } = COMPRESS.decode(reader);
  if (reader.fault !== undefined) return dropped(reader.fault);
  if (Algo !== LZW) return dropped("bad-compression");
  const plain = decompressLzw(Buf, maxBytes);
  return plain.ok && plain.value.length === 0 ? dropped("empty") : plain.ok ? decoded(plain.value) : plain;
}
