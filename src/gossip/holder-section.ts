/**
 * Section 1 of the user state (docs/wire.md): who holds sticky addresses, as entries of kind 5 of a user message. Thousands of them are
 * written and read some at a time. Pure, but for their own state.
 */
import { type HolderRecord, type HoldersByIp } from "../election/holders.ts";
import type { Ip } from "../net/ip.ts";
import { ByteWriter } from "./byte-writer.ts";
import { encodeEntries, entriesOf } from "./user-message.ts";

export const HOLDER_SECTION = 1;
/** Room is left in the user state for the other sections. */
export const HOLDER_SECTION_MAX_BYTES = 224 * 1024;
/** Of one entry. */
const ADDRESSES_AT_ONCE = 24;

export class HolderSectionWriter {
  readonly #holders: ReturnType<HoldersByIp["entries"]>;
  readonly #isTold: (ip: Ip) => boolean;
  readonly #writer = new ByteWriter(4_096);
  /** Addresses of one holder and term that wait for more of them. */
  readonly #batches = new Map<string, HolderRecord & { readonly addresses: Ip[] }>();
  #isFull = false;

  /** `isTold`: others are to hear of the address. */
  constructor(holders: HoldersByIp, isTold: (ip: Ip) => boolean) {
    this.#holders = holders.entries();
    this.#isTold = isTold;
  }

  /** Takes so many addresses, or writes them; the section when all are in it, or when it is full. */
  go(addresses: number): Uint8Array | undefined {
    let left = addresses;
    for (; left > 0 && !this.#isFull; left--) {
      const { value, done } = this.#holders.next();
      if (done === true) break;
      const [ip, held] = value;
      if (this.#isTold(ip)) for (const { node, term } of held) this.#put(ip, node, term);
    }
    for (const [key, batch] of this.#batches) {
      if (left <= 0 || this.#isFull) break;
      left -= batch.addresses.length;
      this.#batches.delete(key);
      this.#write(batch);
    }
    return this.#isFull || (left > 0 && this.#batches.size === 0) ? this.#writer.finish() : undefined;
  }

  #put(ip: Ip, node: string, term: number): void {
    const key = `${term} ${node}`;
    const batch = this.#batches.get(key);
    if (batch === undefined) this.#batches.set(key, { node, term, addresses: [ip] });
    else if (batch.addresses.push(ip) === ADDRESSES_AT_ONCE) {
      this.#batches.delete(key);
      this.#write(batch);
    }
  }

  #write(record: HolderRecord): void {
    const left = HOLDER_SECTION_MAX_BYTES - this.#writer.length;
    const entry = encodeEntries([{ kind: "sticky", ...record }], left);
    this.#isFull = entry.length === 0;
    this.#writer.bytes(entry);
  }
}

export class HolderSectionReader {
  readonly #entries: ReturnType<typeof entriesOf>;
  #isDone = false;

  /** `bytes` must stay as they are until all is read. */
  constructor(bytes: Uint8Array) {
    this.#entries = entriesOf(bytes);
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** The next of them, of about so many addresses. What is no such entry is passed over. */
  read(addresses: number): readonly HolderRecord[] {
    const records: HolderRecord[] = [];
    for (let left = addresses; left > 0; ) {
      const entry = this.#entries.next();
      if (entry === undefined) {
        this.#isDone = true;
        break;
      }
      left--;
      if (typeof entry === "string" || entry.kind !== "sticky") continue;
      records.push(entry);
      left -= entry.addresses.length;
    }
    return records;
  }
}
