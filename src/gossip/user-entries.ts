/**
 * What all our user messages have in common (docs/wire.md): A7 01, then entries of a kind byte and a msgpack map with small integers
 * as keys. Unknown keys are passed over, so a later version may add some. Pure.
 */
import { type Ip, ipBytes } from "../net/ip.ts";
import { ByteWriter } from "./byte-writer.ts";
import { type MsgpackFault, MsgpackReader } from "./msgpack-reader.ts";
import { writeArrayHeader, writeRaw, writeSigned, writeUnsigned } from "./msgpack-writer.ts";

/** Of one payload; with label, encryption and type byte it stays within memberlist's 1,400. */
export const USER_MESSAGE_MAX_BYTES = 1_200;
export const HEADER_BYTES = 2;
const MAGIC = 0xa7;
const FORMAT = 1;

/** With the header, without entries. */
export function newPayload(): ByteWriter {
  const writer = new ByteWriter(USER_MESSAGE_MAX_BYTES);
  writer.u8(MAGIC);
  writer.u8(FORMAT);
  return writer;
}

/** False: another program's user message. */
export function isOurPayload(payload: Uint8Array): boolean {
  return payload[0] === MAGIC && payload[1] === FORMAT;
}

/** Entries one after the other, as they stand in a message, and in a section of the user state. A broken one is the last. */
export class EntryReader<Entry> {
  readonly #bytes: Uint8Array;
  readonly #read: (kind: number, reader: MsgpackReader) => Entry;
  #offset: number;

  /** `read`: one entry, of which it must take all bytes; `offset`: where the first begins. */
  constructor(bytes: Uint8Array, read: (kind: number, reader: MsgpackReader) => Entry, offset = 0) {
    this.#bytes = bytes;
    this.#read = read;
    this.#offset = offset;
  }

  /** Undefined at the end. */
  next(): Entry | MsgpackFault | undefined {
    if (this.#offset >= this.#bytes.length) return undefined;
    const reader = new MsgpackReader(this.#bytes, this.#offset + 1);
    const entry = this.#read(this.#bytes[this.#offset] ?? 0, reader);
    this.#offset = reader.fault === undefined ? reader.offset : this.#bytes.length;
    return reader.fault ?? entry;
  }
}

/** Calls back for each key of a map; the value that follows is to be read, or skipped. */
export function readPairs(reader: MsgpackReader, readValue: (key: number) => void): void {
  const { kind, count } = reader.readContainer();
  for (let index = 0; index < count && reader.fault === undefined; index++) {
    // An array instead of a map has nothing that we know.
    readValue(kind === "map" ? reader.readInteger(0, Number.MAX_SAFE_INTEGER) : 0);
  }
}

export function putNumber(writer: ByteWriter, key: number, value: number): void {
  writeUnsigned(writer, key);
  if (value < 0) writeSigned(writer, value);
  else writeUnsigned(writer, value);
}

export function writeAddresses(writer: ByteWriter, addresses: readonly Ip[]): void {
  writeArrayHeader(writer, addresses.length);
  for (const ip of addresses) writeRaw(writer, ipBytes(ip));
}
