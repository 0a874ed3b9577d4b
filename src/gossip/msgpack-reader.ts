/** Reads MessagePack from strangers as leniently as go-msgpack does. Pure; never throws: the first fault stays, and reads after it give zeros. */

import { u16At, u32At } from "../base/bytes.ts";

/** "truncated" may turn into a value when more bytes arrive; "malformed" never does. */
export type MsgpackFault = "truncated" | "malformed";

/** A map or array header; nil is an empty map, as Go reads it. */
export interface Container {
  readonly kind: "map" | "array";
  /** Pairs of a map, items of an array. */
  readonly count: number;
}

const NIL = 0xc0;
const NO_BYTES = new Uint8Array(0);
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

export class MsgpackReader {
  readonly #bytes: Uint8Array;
  #offset: number;
  #fault: MsgpackFault | undefined;

  constructor(bytes: Uint8Array, offset = 0) {
    this.#bytes = bytes;
    this.#offset = offset;
  }

  /** Where the next value starts. */
  get offset(): number {
    return this.#offset;
  }

  get fault(): MsgpackFault | undefined {
    return this.#fault;
  }

  /** Passes over these very bytes, if they come next; the reader stays where it is if they do not. */
  passes(expected: Uint8Array): boolean {
    if (this.#fault !== undefined || expected.length > this.#bytes.length - this.#offset) return false;
    for (let index = 0; index < expected.length; index++) {
      if (this.#bytes[this.#offset + index] !== expected[index]) return false;
    }
    this.#offset += expected.length;
    return true;
  }

  readContainer(): Container {
    const code = this.#code();
    if (code === NIL) return { kind: "map", count: 0 };
    if (code >>> 4 === 0x8) return { kind: "map", count: code & 0x0f };
    if (code >>> 4 === 0x9) return { kind: "array", count: code & 0x0f };
    if (code === 0xde || code === 0xdf) return { kind: "map", count: this.#uint(code === 0xde ? 2 : 4) };
    if (code === 0xdc || code === 0xdd) return { kind: "array", count: this.#uint(code === 0xdc ? 2 : 4) };
    this.#fail("malformed");
    return { kind: "map", count: 0 };
  }

  /** Any width and signedness that fits between the bounds, both included; nil is 0. Numbers over 2^53 lose their last bits. */
  readInteger(least: number, most: number): number {
    const value = this.#integer(this.#code());
    if (value === undefined || value < least || value > most) {
      this.#fail("malformed");
      return 0;
    }
    return value;
  }

  readBool(): boolean {
    const code = this.#code();
    if (code === 0xc2 || code === 0xc3) return code === 0xc3;
    const value = this.#integer(code);
    if (value !== 0 && value !== 1) this.#fail("malformed");
    return value === 1;
  }

  /** A view into the input: text or bytes, in raw, str or bin form; nil is empty. */
  readRaw(): Uint8Array {
    const length = this.#rawLength(this.#code());
    if (length === undefined) this.#fail("malformed");
    return this.#span(length ?? 0);
  }

  /** A copy, for `slice` of a Node Buffer is none: what is kept must not hold on to the buffer it came in. Go also takes an array of numbers for bytes. */
  readBytes(): Uint8Array {
    const code = this.#peek();
    const isArray = code >>> 4 === 0x9 || code === 0xdc || code === 0xdd;
    if (!isArray) return new Uint8Array(this.readRaw());
    const { count } = this.readContainer();
    // Every number takes a byte at least, so a count beyond the input cannot make us allocate.
    if (count > this.#bytes.length - this.#offset) this.#fail("truncated");
    if (this.#fault !== undefined) return NO_BYTES;
    return Uint8Array.from({ length: count }, () => this.readInteger(0, 0xff));
  }

  /** Invalid UTF-8 becomes replacement characters; Go takes it too. */
  readText(): string {
    return utf8.decode(this.readRaw());
  }

  /** Passes over one value with all that it holds; a loop, because a stranger chooses the nesting. */
  skip(): void {
    for (let pending = 1; pending > 0 && this.#fault === undefined; pending--) pending += this.#skipOne();
  }

  /** Passes over a value, or over a container's header; returns how many values follow as its content. */
  #skipOne(): number {
    const code = this.#code();
    if (code < 0x80 || code >= 0xe0 || code === NIL || code === 0xc2 || code === 0xc3) return 0;
    if (code < 0x90) return 2 * (code & 0x0f);
    if (code < 0xa0) return code & 0x0f;
    if (code >= 0xdc) {
      const count = this.#uint(code === 0xdc || code === 0xde ? 2 : 4);
      return code >= 0xde ? 2 * count : count;
    }
    this.#span(this.#scalarLength(code));
    return 0;
  }

  /** Bytes that follow the code of a number, raw, bin or extension. */
  #scalarLength(code: number): number {
    const raw = this.#rawLength(code);
    if (raw !== undefined) return raw;
    if (code >= 0xca && code <= 0xcb) return code === 0xca ? 4 : 8;
    if (code >= 0xcc && code <= 0xcf) return 1 << (code - 0xcc);
    if (code >= 0xd0 && code <= 0xd3) return 1 << (code - 0xd0);
    // Extensions carry one more byte, their type.
    if (code >= 0xd4 && code <= 0xd8) return 1 + (1 << (code - 0xd4));
    if (code >= 0xc7 && code <= 0xc9) return 1 + this.#uint(1 << (code - 0xc7));
    this.#fail("malformed");
    return 0;
  }

  /** Undefined when the code starts neither text nor bytes. */
  #rawLength(code: number): number | undefined {
    if (code >>> 5 === 0b101) return code & 0x1f;
    if (code === NIL) return 0;
    if (code >= 0xd9 && code <= 0xdb) return this.#uint(1 << (code - 0xd9));
    if (code >= 0xc4 && code <= 0xc6) return this.#uint(1 << (code - 0xc4));
    return undefined;
  }

  #integer(code: number): number | undefined {
    if (code < 0x80) return code;
    if (code >= 0xe0) return code - 0x100;
    if (code === NIL) return 0;
    if (code >= 0xcc && code <= 0xcf) return this.#uint(1 << (code - 0xcc));
    if (code >= 0xd0 && code <= 0xd3) return this.#int(1 << (code - 0xd0));
    return undefined;
  }

  #uint(width: number): number {
    const at = this.#advance(width);
    if (at === undefined) return 0;
    if (width === 1) return this.#bytes[at] ?? 0;
    if (width === 2) return u16At(this.#bytes, at);
    if (width === 4) return u32At(this.#bytes, at);
    return Number(this.#viewOf(at, width).getBigUint64(0));
  }

  #int(width: number): number {
    const at = this.#advance(width);
    if (at === undefined) return 0;
    const view = this.#viewOf(at, width);
    if (width === 1) return view.getInt8(0);
    if (width === 2) return view.getInt16(0);
    if (width === 4) return view.getInt32(0);
    return Number(view.getBigInt64(0));
  }

  #viewOf(at: number, width: number): DataView {
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + at, width);
  }

  #span(length: number): Uint8Array {
    const at = this.#advance(length);
    return at === undefined ? NO_BYTES : this.#bytes.subarray(at, at + length);
  }

  /** The code of the next value; nil after a fault, so that every reader has something harmless to look at. */
  #code(): number {
    const at = this.#advance(1);
    return at === undefined ? NIL : (this.#bytes[at] ?? NIL);
  }

  #peek(): number {
    return this.#bytes[this.#offset] ?? NIL;
  }

  #advance(count: number): number | undefined {
    if (this.#fault !== undefined) return undefined;
    if (count > this.#bytes.length - this.#offset) {
      this.#fail("truncated");
      return undefined;
    }
    const at = this.#offset;
    this.#offset += count;
    return at;
  }

  #fail(fault: MsgpackFault): void {
    this.#fault ??= fault;
  }
}
