/** A buffer that grows while values are appended; numbers stand in network order. */
import { unclearedBytes } from "../base/bytes.ts";

export class ByteWriter {
  #bytes: Uint8Array;
  #length = 0;

  /** @param capacity bytes to start with; it doubles as needed */
  constructor(capacity = 256) {
    this.#bytes = unclearedBytes(capacity);
  }

  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    const at = this.#take(1);
    this.#bytes[at] = value;
  }

  u16(value: number): void {
    const at = this.#take(2);
    this.#bytes[at] = value >>> 8;
    this.#bytes[at + 1] = value;
  }

  u32(value: number): void {
    const at = this.#take(4);
    this.#bytes[at] = value >>> 24;
    this.#bytes[at + 1] = value >>> 16;
    this.#bytes[at + 2] = value >>> 8;
    this.#bytes[at + 3] = value;
  }

  /** Two's complement for negative values; exact up to 2^53. */
  i64(value: number): void {
    const at = this.#take(8);
    new DataView(this.#bytes.buffer, this.#bytes.byteOffset).setBigInt64(at, BigInt(value));
  }

  bytes(values: Uint8Array): void {
    const at = this.#take(values.length);
    this.#bytes.set(values, at);
  }

  /** What was written, as a view; the writer is used up. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Starts over in the same buffer: what `finish` gave is no more. */
  clear(): void {
    this.#length = 0;
  }

  /** Reserves `count` bytes and returns where they start. It may replace the buffer, so it is called before that is read. */
  #take(count: number): number {
    const start = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const grown = unclearedBytes(Math.max(this.#length, 2 * this.#bytes.length));
      grown.set(this.#bytes.subarray(0, start));
      this.#bytes = grown;
    }
    return start;
  }
}
