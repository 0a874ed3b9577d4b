/** Addresses found by their bytes in a received frame, without making text of them. */
import { IPV4_BYTES, IPV6_BYTES } from "../net/ip.ts";

/** Entries are our own addresses, so nobody else can make the lists long. */
export class AddressTable<Entry extends { readonly bytes: Uint8Array }> {
  readonly #ipv4 = new Map<number, Entry>();
  readonly #ipv6 = new Map<number, readonly Entry[]>();

  set(entry: Entry): void {
    if (entry.bytes.length === IPV4_BYTES) {
      this.#ipv4.set(wordAt(entry.bytes, 0), entry);
      return;
    }
    const key = keyOfIpv6At(entry.bytes, 0);
    this.#ipv6.set(key, [...this.#othersOf(key, entry.bytes), entry]);
  }

  delete(bytes: Uint8Array): void {
    if (bytes.length === IPV4_BYTES) {
      this.#ipv4.delete(wordAt(bytes, 0));
      return;
    }
    const key = keyOfIpv6At(bytes, 0);
    const others = this.#othersOf(key, bytes);
    if (others.length === 0) this.#ipv6.delete(key);
    else this.#ipv6.set(key, others);
  }

  /** The entry of the four bytes at `offset`; the caller has checked the bounds. */
  ipv4At(frame: Uint8Array, offset: number): Entry | undefined {
    return this.#ipv4.get(wordAt(frame, offset));
  }

  /** The entry of the sixteen bytes at `offset`; the caller has checked the bounds. */
  ipv6At(frame: Uint8Array, offset: number): Entry | undefined {
    const entries = this.#ipv6.get(keyOfIpv6At(frame, offset));
    if (entries === undefined) return undefined;
    for (const entry of entries) if (isAt(entry.bytes, frame, offset)) return entry;
    return undefined;
  }

  #othersOf(key: number, bytes: Uint8Array): Entry[] {
    return (this.#ipv6.get(key) ?? []).filter((entry) => !isAt(entry.bytes, bytes, 0));
  }
}

/** Whether `bytes` stand in `frame` at `offset`. */
export function isAt(bytes: Uint8Array, frame: Uint8Array, offset: number): boolean {
  for (let index = 0; index < bytes.length; index++) if (bytes[index] !== frame[offset + index]) return false;
  return true;
}

/** Signed, because such numbers need no object. */
function wordAt(bytes: Uint8Array, offset: number): number {
  return (
    ((bytes[offset] ?? 0) << 24) |
    ((bytes[offset + 1] ?? 0) << 16) |
    ((bytes[offset + 2] ?? 0) << 8) |
    (bytes[offset + 3] ?? 0)
  );
}

function keyOfIpv6At(bytes: Uint8Array, offset: number): number {
  let key = 0;
  for (let index = 0; index < IPV6_BYTES; index += 4) key = Math.imul(key, 31) + wordAt(bytes, offset + index);
  return key | 0;
}
