/**
 * The JSON of a list as it comes: every item by itself, as soon as it is whole. So no page is ever whole in memory, and none stops
 * the event loop for as long as its parsing takes. Pure, but for the reader's own state.
 */
import { type Decoded, decoded, dropped } from "../../base/decoded.ts";

export type ParseJson = (text: string) => unknown;

/** etcd takes requests of 1.5 MB; what is larger than this is no object. */
export const MAX_OBJECT_BYTES = 8 * 1_024 * 1_024;
/** Of everything but the items. */
const MAX_ENVELOPE_BYTES = 1_024 * 1_024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Depth inside the array of a field of the list: the only such field is `items`. */
const IN_ITEMS = 2;

export class ListReader {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isInItems = false;
  #isBroken = false;
  readonly #envelope: Uint8Array[] = [];
  #envelopeBytes = 0;
  #item: Uint8Array[] = [];
  #itemBytes = 0;
  readonly #parse: ParseJson;

  /** `parse`: throws for what is none. */
  constructor(parse: ParseJson = JSON.parse) {
    this.#parse = parse;
  }

  /** The items that became whole with these bytes. */
  push(bytes: Uint8Array): readonly unknown[] {
    const items: unknown[] = [];
    /** Where the item, or the piece of the envelope, begins that the current byte belongs to. */
    let begin = 0;
    // Every byte of every list goes through this loop: its state is in variables.
    let depth = this.#depth;
    let isInString = this.#isInString;
    let isEscaped = this.#isEscaped;
    let isInItems = this.#isInItems;
    const { length } = bytes;
    for (let at = 0; at < length; at++) {
      const byte = bytes[at];
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInString = false;
      } else if (byte === QUOTE) {
        isInString = true;
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (byte === OPEN_ARRAY && depth === 1) {
          this.#keepEnvelope(bytes.subarray(begin, at + 1));
          isInItems = true;
          begin = at + 1;
        } else if (isInItems && depth === IN_ITEMS) {
          begin = at;
        }
        depth++;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        depth--;
        if (!isInItems) continue;
        if (depth === IN_ITEMS) {
          this.#keepItem(bytes.subarray(begin, at + 1));
          this.#endItem(items);
          begin = at + 1;
        } else if (depth < IN_ITEMS) {
          isInItems = false;
          begin = at;
        }
      }
    }
    this.#depth = depth;
    this.#isInString = isInString;
    this.#isEscaped = isEscaped;
    this.#isInItems = isInItems;
    const rest = bytes.subarray(begin);
    if (!isInItems) this.#keepEnvelope(rest);
    else if (depth > IN_ITEMS) this.#keepItem(rest);
    return this.#isBroken ? [] : items;
  }

  /** Everything but the items, which are left out of it. */
  end(): Decoded<unknown, "not-json"> {
    if (this.#isBroken || this.#depth !== 0) return dropped("not-json");
    return parsedJson(this.#envelope, this.#parse);
  }

  #keepEnvelope(bytes: Uint8Array): void {
    this.#envelopeBytes += bytes.length;
    if (this.#envelopeBytes > MAX_ENVELOPE_BYTES) this.#isBroken = true;
    else this.#envelope.push(bytes);
  }

  #keepItem(bytes: Uint8Array): void {
    this.#itemBytes += bytes.length;
    if (this.#itemBytes > MAX_OBJECT_BYTES) this.#isBroken = true;
    else this.#item.push(bytes);
  }

  #endItem(items: unknown[]): void {
    const item = parsedJson(this.#item, this.#parse);
    this.#item = [];
    this.#itemBytes = 0;
    if (item.ok) items.push(item.value);
    else this.#isBroken = true;
  }
}

function parsedJson(parts: readonly Uint8Array[], parse: ParseJson): Decoded<unknown, "not-json"> {
  try {
    return decoded(parse(Buffer.concat(parts).toString("utf8")));
  } catch {
    return dropped("not-json");
  }
}
