/**
 * The user state of a push/pull between our members (DESIGN D4, docs/wire.md): A7 01, then sections of kind u8, length u32 in
 * network order, and bytes. A Go member ignores it. Pure.
 */
import { type Decoded, decoded, dropped } from "../base/decoded.ts";
import { ByteWriter } from "./byte-writer.ts";

export const USER_STATE_MAX_BYTES = 256 * 1024;
const MAGIC = 0xa7;
const FORMAT = 1;
const HEADER_BYTES = 2;
const SECTION_HEADER_BYTES = 5;

/** What a section holds is its owner's affair. */
export interface UserStateSection {
  /** 0 to 255; a kind that is not known is left alone. */
  readonly kind: number;
  readonly bytes: Uint8Array;
}

/** "not-ours": nothing, or another program's. */
export type UserStateDrop = "not-ours" | "truncated" | "too-large";

/** In ascending order of kind. A section that does not fit into 256 KiB beside those of lower kind is left out. */
export function encodeUserState(sections: readonly UserStateSection[]): Uint8Array {
  const writer = new ByteWriter(1024);
  writer.u8(MAGIC);
  writer.u8(FORMAT);
  for (const { kind, bytes } of sections.toSorted((a, b) => a.kind - b.kind)) {
    if (writer.length + SECTION_HEADER_BYTES + bytes.length > USER_STATE_MAX_BYTES) continue;
    writer.u8(kind);
    writer.u32(bytes.length);
    writer.bytes(bytes);
  }
  return writer.finish();
}

/** Sections as views, in their order on the wire. */
export function decodeUserState(bytes: Uint8Array): Decoded<readonly UserStateSection[], UserStateDrop> {
  if (bytes[0] !== MAGIC || bytes[1] !== FORMAT) return dropped("not-ours");
  if (bytes.length > USER_STATE_MAX_BYTES) return dropped("too-large");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sections: UserStateSection[] = [];
  for (let offset = HEADER_BYTES; offset < bytes.length; ) {
    if (bytes.length - offset < SECTION_HEADER_BYTES) return dropped("truncated");
    const start = offset + SECTION_HEADER_BYTES;
    const end = start + view.getUint32(offset + 1);
    if (end > bytes.length) return dropped("truncated");
    sections.push({ kind: view.getUint8(offset), bytes: bytes.subarray(start, end) });
    offset = end;
  }
  return decoded(sections);
}
