/**
 * LZW as Go's compress/lzw does it with LSB order and 8-bit literals: codes of 9 to 12 bits, 256 clears, 257 ends,
 * a clear code first, and one more clear when the table is full. Pure.
 */
import { type Decoded, decoded, dropped } from "../base/decoded.ts";

const CLEAR = 256;
const END = 257;
const FIRST_WIDTH = 9;
const MAX_WIDTH = 12;
const TABLE_CODES = 1 << MAX_WIDTH;
/** The encoder starts over when the number of the next entry reaches this. */
const LAST_CODE = TABLE_CODES - 1;
/** Slots of the encoder's hash table, four for each code. */
const SLOTS = 4 * TABLE_CODES;
const NO_CODE = -1;

export function compressLzw(input: Uint8Array): Uint8Array {
  const codes = new CodeWriter(input.length);
  codes.write(CLEAR);
  if (input.length > 0) writeCodes(input, codes);
  codes.write(END);
  return codes.finish();
}

function writeCodes(input: Uint8Array, codes: CodeWriter): void {
  table.clear();
  let code = input[0] ?? 0;
  for (let index = 1; index < input.length; index++) {
    const byte = input[index] ?? 0;
    const longer = table.find(code, byte);
    if (longer !== NO_CODE) {
      code = longer;
      continue;
    }
    codes.write(code);
    if (codes.countEntry()) table.add(code, byte, codes.highest);
    else table.clear();
    code = byte;
  }
  codes.write(code);
  codes.countEntry();
}

/** Which code stands for a code followed by a byte: open addressing over one word, 20 bits of pair and 12 of code. */
class PairTable {
  /** 0 is free: no pair has a code below 258. */
  readonly #slots = new Uint32Array(SLOTS);

  find(code: number, byte: number): number {
    const pair = (code << 8) | byte;
    for (let slot = slotOf(pair); ; slot = (slot + 1) % SLOTS) {
      const entry = this.#slots[slot] ?? 0;
      if (entry === 0) return NO_CODE;
      if (entry >>> MAX_WIDTH === pair) return entry & LAST_CODE;
    }
  }

  add(code: number, byte: number, value: number): void {
    const pair = (code << 8) | byte;
    let slot = slotOf(pair);
    while (this.#slots[slot] !== 0) slot = (slot + 1) % SLOTS;
    this.#slots[slot] = ((pair << MAX_WIDTH) | value) >>> 0;
  }

  clear(): void {
    this.#slots.fill(0);
  }
}

/** One for all: of its 64 KiB a message uses little, and to make it anew costs more than to compress a datagram. */
const table = new PairTable();

function slotOf(pair: number): number {
  return ((pair >>> 12) ^ pair) % SLOTS;
}

/** Packs codes, least significant bit first, and keeps count of the table that the reader builds. */
class CodeWriter {
  #bytes: Uint8Array;
  #length = 0;
  #bits = 0;
  #bitCount = 0;
  #width = FIRST_WIDTH;
  #highest = END;

  constructor(inputBytes: number) {
    this.#bytes = new Uint8Array(16 + inputBytes);
  }

  /** Number of the newest entry. */
  get highest(): number {
    return this.#highest;
  }

  write(code: number): void {
    this.#bits |= code << this.#bitCount;
    this.#bitCount += this.#width;
    while (this.#bitCount >= 8) {
      this.#push(this.#bits & 0xff);
      this.#bits >>>= 8;
      this.#bitCount -= 8;
    }
  }

  /** After each code: one more entry. False when the table was full: a clear code was written and the pair is not entered. */
  countEntry(): boolean {
    this.#highest++;
    if (this.#highest === 1 << this.#width) this.#width++;
    if (this.#highest < LAST_CODE) return true;
    this.write(CLEAR);
    this.#width = FIRST_WIDTH;
    this.#highest = END;
    return false;
  }

  finish(): Uint8Array {
    if (this.#bitCount > 0) this.#push(this.#bits & 0xff);
    return this.#bytes.slice(0, this.#length);
  }

  #push(byte: number): void {
    if (this.#length === this.#bytes.length) this.#bytes = enlarged(this.#bytes, 2 * this.#bytes.length);
    this.#bytes[this.#length++] = byte;
  }
}

/** "too-large" past `maxBytes` of output; what follows the end code is ignored. */
export function decompressLzw(
  input: Uint8Array,
  maxBytes: number,
): Decoded<Uint8Array, "bad-compression" | "too-large"> {
  const expander = new Expander(input.length, maxBytes);
  let bits = 0;
  let bitCount = 0;
  for (const byte of input) {
    bits |= byte << bitCount;
    bitCount += 8;
    if (bitCount < expander.width) continue;
    const { width } = expander;
    const outcome = expander.take(bits & ((1 << width) - 1));
    if (outcome === "end") return decoded(expander.output());
    if (outcome !== "more") return dropped(outcome);
    bits >>>= width;
    bitCount -= width;
  }
  return dropped("bad-compression");
}

/** The reader's table: entry n is entry `prefix[n]` followed by `suffix[n]`. */
class Expander {
  readonly #maxBytes: number;
  readonly #prefix = new Uint16Array(TABLE_CODES);
  readonly #suffix = new Uint8Array(TABLE_CODES);
  #bytes: Uint8Array;
  #length = 0;
  #width = FIRST_WIDTH;
  #highest = END;
  #last = NO_CODE;

  constructor(inputBytes: number, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#bytes = new Uint8Array(Math.min(maxBytes, 64 + 4 * inputBytes));
  }

  get width(): number {
    return this.#width;
  }

  output(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  take(code: number): "more" | "end" | "bad-compression" | "too-large" {
    if (code === END) return "end";
    if (code === CLEAR) {
      this.#width = FIRST_WIDTH;
      this.#highest = END;
      this.#last = NO_CODE;
      return "more";
    }
    if (code > this.#highest) return "bad-compression";
    if (this.#last !== NO_CODE) this.#enter(code);
    const length = this.#lengthOf(code);
    if (this.#length + length > this.#maxBytes) return "too-large";
    this.#append(code, length);
    this.#count(code);
    return "more";
  }

  /** The new entry is the last one and the first byte of this one, which may be the new entry itself. */
  #enter(code: number): void {
    this.#prefix[this.#highest] = this.#last;
    this.#suffix[this.#highest] = this.#firstByteOf(code === this.#highest ? this.#last : code);
  }

  /** A full table without a clear code goes on unchanged. */
  #count(code: number): void {
    this.#last = code;
    this.#highest++;
    if (this.#highest < 1 << this.#width) return;
    if (this.#width < MAX_WIDTH) {
      this.#width++;
      return;
    }
    this.#last = NO_CODE;
    this.#highest--;
  }

  #firstByteOf(code: number): number {
    let entry = code;
    while (entry >= CLEAR) entry = this.#prefix[entry] ?? 0;
    return entry;
  }

  #lengthOf(code: number): number {
    let length = 1;
    for (let entry = code; entry >= CLEAR; entry = this.#prefix[entry] ?? 0) length++;
    return length;
  }

  #append(code: number, length: number): void {
    const end = this.#length + length;
    if (end > this.#bytes.length) {
      this.#bytes = enlarged(this.#bytes, Math.min(this.#maxBytes, Math.max(end, 2 * this.#bytes.length)));
    }
    let entry = code;
    for (let index = end - 1; entry >= CLEAR; index--) {
      this.#bytes[index] = this.#suffix[entry] ?? 0;
      entry = this.#prefix[entry] ?? 0;
    }
    this.#bytes[this.#length] = entry;
    this.#length = end;
  }
}

function enlarged(bytes: Uint8Array, capacity: number): Uint8Array {
  const larger = new Uint8Array(capacity);
  larger.set(bytes);
  return larger;
}
