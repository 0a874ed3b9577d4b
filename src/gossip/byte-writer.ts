/** A buffer that grows while values are appended; numbers stand in network order. */

export class ByteWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;

  /** @param capacity bytes to start with; it doubles as needed */
  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
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
    this.#view.setUint16(at, value);
  }

  u32(value: number): void {
    const at = this.#take(4);
    this.#view.setUint32(at, value);
  }

  /** Two's complement for negative values; exact up to 2^53. */
  i64(value: number): void {
    const at = this.#take(8);
    this.#view.setBigInt64(at, BigInt(value));
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

  /** Reserves `count` bytes and returns where they start. It may replace buffer and view, so it is called before they are read. */
  #take(count: number): number {
    const start = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#length, 2 * this.#bytes.length));
      grown.set(this.#bytes.subarray(0, start));
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    return start;
  }
}
