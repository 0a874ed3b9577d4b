/** The label in front of packets and streams: f4, its length, its bytes (memberlist v0.5.1 label.go). It keeps clusters apart; it is no secret. */
import { bytesEqual, concatBytes } from "../base/bytes.ts";
import { type Decoded, decoded, dropped } from "../base/decoded.ts";
import { ArpeggioError } from "../base/errors.ts";
import { TYPE } from "./wire-records.ts";

const MAX_LABEL_BYTES = 255;
const NO_BYTES = new Uint8Array(0);

export type LabelDrop = "truncated" | "label-malformed" | "label-mismatch";

/** Bytes of a label, as they stand in the header and in the associated data. @throws ERR_INTERNAL_ARGUMENT over 255 bytes */
export function labelBytes(label: string): Uint8Array {
  if (label === "") return NO_BYTES;
  const bytes = new TextEncoder().encode(label);
  if (bytes.length > MAX_LABEL_BYTES) {
    throw new ArpeggioError("ERR_INTERNAL_ARGUMENT", `a label has at most ${MAX_LABEL_BYTES} bytes`);
  }
  return bytes;
}

/** Nothing for an empty label. */
export function encodeLabelHeader(label: string): Uint8Array {
  const bytes = labelBytes(label);
  return bytes.length === 0 ? NO_BYTES : concatBytes([Uint8Array.of(TYPE.label, bytes.length), bytes]);
}

/** How many bytes the header takes, when it names the expected label; 0 when there is none and none is expected. */
export function labelHeaderBytes(bytes: Uint8Array, expected: string): Decoded<number, LabelDrop> {
  if (bytes.length === 0) return dropped("truncated");
  if (bytes[0] !== TYPE.label) return expected === "" ? decoded(0) : dropped("label-mismatch");
  const length = bytes[1];
  if (length === undefined) return dropped("truncated");
  if (length === 0) return dropped("label-malformed");
  const end = 2 + length;
  if (bytes.length < end) return dropped("truncated");
  return bytesEqual(bytes.subarray(2, end), labelBytes(expected)) ? decoded(end) : dropped("label-mismatch");
}
