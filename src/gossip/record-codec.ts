/**
 * Go structs as go-msgpack puts them on the wire: maps from field names to values, names in byte order. Pure.
 * The schema decides what is text and what is bytes, because the wire's raw form does not say.
 */
import { bytesEqual } from "../base/bytes.ts";
import { ByteWriter } from "./byte-writer.ts";
import type { MsgpackReader } from "./msgpack-reader.ts";
import {
  writeBool,
  writeMapHeader,
  writeNil,
  writeRaw,
  writeSigned,
  writeText,
  writeUnsigned,
} from "./msgpack-writer.ts";

type FieldKind = "text" | "bytes" | "bool" | "u8" | "u16" | "u32" | "int";

export interface Field {
  /** The Go field's name, capital first. */
  readonly name: string;
  readonly kind: FieldKind;
  /** Left out of the map when zero or empty (`omitempty`). */
  readonly isOmittedWhenEmpty?: true;
}

type ValueOf<Kind extends FieldKind> = Kind extends "text"
  ? string
  : Kind extends "bytes"
    ? Uint8Array
    : Kind extends "bool"
      ? boolean
      : number;

type RecordOf<Fields extends readonly Field[]> = {
  readonly [Item in Fields[number] as Item["name"]]: ValueOf<Item["kind"]>;
};

interface KeyedField extends Field {
  readonly key: Uint8Array;
  /** The key as it stands on the wire, with its length. */
  readonly rawKey: Uint8Array;
}

type Value = string | Uint8Array | boolean | number;

const NO_BYTES = new Uint8Array(0);
const UNSIGNED_LIMIT = { u8: 0xff, u16: 0xffff, u32: 0xffff_ffff } as const;
/** Go's int has 64 bits; every limit that matters is far below 2^53. */
const INT_LIMIT = 2 ** 63;

export class RecordCodec<const Fields extends readonly Field[]> {
  /** In the order of the Go declaration: an array instead of a map is read in this order. */
  readonly #declared: readonly KeyedField[];
  readonly #sorted: readonly KeyedField[];
  readonly #zero: Readonly<Record<string, Value>>;

  constructor(fields: Fields) {
    const ascii = new TextEncoder();
    this.#declared = fields.map((field) => {
      const key = ascii.encode(field.name);
      const writer = new ByteWriter();
      writeRaw(writer, key);
      return { ...field, key, rawKey: writer.finish() };
    });
    this.#zero = Object.fromEntries(fields.map(({ name, kind }) => [name, zeroOf(kind)]));
    this.#sorted = this.#declared.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  encode(writer: ByteWriter, record: RecordOf<Fields>): void {
    const values: Readonly<Record<string, Value>> = record;
    const present = this.#sorted.filter(
      ({ name, isOmittedWhenEmpty }) => isOmittedWhenEmpty !== true || !isEmpty(values[name]),
    );
    writeMapHeader(writer, present.length);
    for (const { name, rawKey, kind } of present) {
      writer.bytes(rawKey);
      writeValue(writer, kind, values[name]);
    }
  }

  /** Missing fields are zero, unknown ones are passed over. The caller looks at `reader.fault` before it uses the values. */
  decode(reader: MsgpackReader): RecordOf<Fields> {
    const values: Record<string, Value> = { ...this.#zero };
    const { kind, count } = reader.readContainer();
    for (let index = 0; index < count && reader.fault === undefined; index++) {
      const field = kind === "map" ? this.#readKey(reader, index) : this.#declared[index];
      if (field === undefined) reader.skip();
      else values[field.name] = readValue(reader, field.kind);
    }
    return values as RecordOf<Fields>;
  }

  /** Go and we write keys in one order: the one at this place is looked for first. */
  #readKey(reader: MsgpackReader, index: number): KeyedField | undefined {
    const likely = this.#sorted[index];
    if (likely !== undefined && reader.passes(likely.rawKey)) return likely;
    const key = reader.readRaw();
    return this.#sorted.find((field) => bytesEqual(field.key, key));
  }
}

function isEmpty(value: Value | undefined): boolean {
  return value === undefined || value === 0 || value === "" || (value instanceof Uint8Array && value.length === 0);
}

function zeroOf(kind: FieldKind): Value {
  if (kind === "text") return "";
  if (kind === "bytes") return NO_BYTES;
  return kind === "bool" ? false : 0;
}

function readValue(reader: MsgpackReader, kind: FieldKind): Value {
  if (kind === "text") return reader.readText();
  if (kind === "bytes") return reader.readBytes();
  if (kind === "bool") return reader.readBool();
  if (kind === "int") return reader.readInteger(-INT_LIMIT, INT_LIMIT);
  return reader.readInteger(0, UNSIGNED_LIMIT[kind]);
}

/** Empty bytes are nil: Go leaves Meta and Payload nil when unset. */
function writeValue(writer: ByteWriter, kind: FieldKind, value: Value | undefined): void {
  if (typeof value === "string") writeText(writer, value);
  else if (typeof value === "boolean") writeBool(writer, value);
  else if (typeof value === "number" && kind === "int") writeSigned(writer, value);
  else if (typeof value === "number") writeUnsigned(writer, value);
  else if (value === undefined || value.length === 0) writeNil(writer);
  else writeRaw(writer, value);
}
