/**
 * Netlink framing: messages and their attributes (RFC 3549 §2.2, linux/netlink.h). Integers are in the byte order of
 * the host; every machine that Node 24 runs on for us is little-endian. Pure: bytes in, values out.
 */

/** One message: its header and what follows it. */
export interface NetlinkMessage {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  readonly body: Uint8Array;
}

export const NLMSG_ERROR = 2;
export const NLMSG_DONE = 3;
export const NLM_F_REQUEST = 0x1;
/** The objects changed while they were listed: the list is not to be trusted. */
export const NLM_F_DUMP_INTR = 0x10;
/** NLM_F_ROOT and NLM_F_MATCH of a request. */
export const NLM_F_DUMP = 0x300;
/** Of a notification: the object took the place of one that is not reported as gone. */
export const NLM_F_REPLACE = 0x100;

const HEADER_BYTES = 16;
const ATTRIBUTE_HEADER_BYTES = 4;
const ALIGNMENT = 4;
/** NLA_F_NESTED and NLA_F_NET_BYTEORDER stand above the type. */
const ATTRIBUTE_TYPE_BITS = 0x3fff;

/** Messages one behind the other, as far as they are whole: a length that cannot be ends the reading. */
export function messagesOf(bytes: Uint8Array): NetlinkMessage[] {
  const messages: NetlinkMessage[] = [];
  const view = viewOf(bytes);
  for (let offset = 0; offset + HEADER_BYTES <= bytes.length; ) {
    const length = view.getUint32(offset, true);
    if (length < HEADER_BYTES || offset + length > bytes.length) break;
    messages.push({
      type: view.getUint16(offset + 4, true),
      flags: view.getUint16(offset + 6, true),
      sequence: view.getUint32(offset + 8, true),
      body: bytes.subarray(offset + HEADER_BYTES, offset + length),
    });
    offset += aligned(length);
  }
  return messages;
}

/** Attributes from `offset` on by their type; of one type the last stands. A length that cannot be ends the reading. */
export function attributesOf(bytes: Uint8Array, offset = 0): ReadonlyMap<number, Uint8Array> {
  const attributes = new Map<number, Uint8Array>();
  const view = viewOf(bytes);
  for (let at = offset; at + ATTRIBUTE_HEADER_BYTES <= bytes.length; ) {
    const length = view.getUint16(at, true);
    if (length < ATTRIBUTE_HEADER_BYTES || at + length > bytes.length) break;
    const type = view.getUint16(at + 2, true) & ATTRIBUTE_TYPE_BITS;
    attributes.set(type, bytes.subarray(at + ATTRIBUTE_HEADER_BYTES, at + length));
    at += aligned(length);
  }
  return attributes;
}

/** A request without attributes; the kernel fills in our port. */
export function encodeRequest(type: number, flags: number, sequence: number, body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + body.length);
  const view = viewOf(bytes);
  view.setUint32(0, bytes.length, true);
  view.setUint16(4, type, true);
  view.setUint16(6, flags, true);
  view.setUint32(8, sequence, true);
  bytes.set(body, HEADER_BYTES);
  return bytes;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** A 32-bit attribute; undefined when it is absent or has another size. */
export function wordOf(bytes: Uint8Array | undefined): number | undefined {
  return bytes?.length === 4 ? viewOf(bytes).getUint32(0, true) : undefined;
}

/** Text of an attribute, up to its terminating zero. */
export function textOf(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined) return undefined;
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}

function aligned(length: number): number {
  return (length + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}
