/** Ethernet addresses as branded canonical text, `02:00:00:00:00:01`. Pure. */
import { hexOfByte } from "../base/bytes.ts";

export type Mac = string & { readonly brand: unique symbol };

export const MAC_BYTES = 6;
export const BROADCAST_MAC = "ff:ff:ff:ff:ff:ff" as Mac;
export const ZERO_MAC = "00:00:00:00:00:00" as Mac;

/** Reads six bytes at `offset`; the caller has checked the bounds. */
export function macAt(bytes: Uint8Array, offset = 0): Mac {
  let text = hexOfByte(bytes[offset] ?? 0);
  for (let index = 1; index < MAC_BYTES; index++) text += `:${hexOfByte(bytes[offset + index] ?? 0)}`;
  return text as Mac;
}

/** Writes six bytes at `offset`. */
export function writeMac(mac: Mac, bytes: Uint8Array, offset = 0): void {
  for (let index = 0; index < MAC_BYTES; index++) {
    bytes[offset + index] = Number.parseInt(mac.slice(3 * index, 3 * index + 2), 16);
  }
}

export function macBytes(mac: Mac): Uint8Array {
  const bytes = new Uint8Array(MAC_BYTES);
  writeMac(mac, bytes);
  return bytes;
}

export function parseMac(text: string): Mac | undefined {
  return /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(text) ? (text.toLowerCase() as Mac) : undefined;
}

/** The group bit: set in broadcast and multicast addresses. */
export function isGroupMac(mac: Mac): boolean {
  return (Number.parseInt(mac.charAt(1), 16) & 1) === 1;
}
