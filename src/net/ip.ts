/** IP addresses as branded canonical text: dotted quads, and RFC 5952 for IPv6. Pure. */

import { isIPv4, isIPv6 } from "node:net";
import { u16At } from "../base/bytes.ts";

export type Ip = string & { readonly brand: unique symbol };
export type Family = 4 | 6;

export const IPV4_BYTES = 4;
export const IPV6_BYTES = 16;

const DIGIT_0 = 0x30;
const LETTER_A = 0x61;
const DOT = 0x2e;
const COLON = 0x3a;

export function familyOf(ip: Ip): Family {
  return ip.includes(":") ? 6 : 4;
}

/** Canonical form, or undefined for what is no address. An IPv4-mapped address is read as IPv4, as Go prints it; zones are refused. */
export function parseIp(text: string): Ip | undefined {
  if (isIPv4(text)) return text as Ip;
  if (!isIPv6(text) || text.includes("%")) return undefined;
  return ipOf(ipv6BytesOfText(text));
}

/** Address of 4 or 16 bytes; undefined for any other length. A mapped IPv4 address becomes IPv4. */
export function ipOfBytes(bytes: Uint8Array): Ip | undefined {
  return bytes.length === IPV4_BYTES || bytes.length === IPV6_BYTES ? ipOf(bytes) : undefined;
}

/** Reads an IPv4 address at `offset`; the caller has checked the bounds. */
export function ipv4At(bytes: Uint8Array, offset: number): Ip {
  return `${bytes[offset] ?? 0}.${bytes[offset + 1] ?? 0}.${bytes[offset + 2] ?? 0}.${bytes[offset + 3] ?? 0}` as Ip;
}

/** Reads an IPv6 address at `offset`, mapped form kept as IPv6 text; the caller has checked the bounds. */
export function ipv6At(bytes: Uint8Array, offset: number): Ip {
  return formatIpv6(bytes, offset);
}

/** 4 or 16 bytes in network order. */
export function ipBytes(ip: Ip): Uint8Array {
  return familyOf(ip) === 6 ? bytesOfIpv6(ip) : bytesOfIpv4(ip);
}

/** The 32 bits of an IPv4 address, unsigned. */
export function ipv4ToNumber(ip: Ip): number {
  let value = 0;
  let byte = 0;
  for (let at = 0; at < ip.length; at++) {
    const code = ip.charCodeAt(at);
    if (code !== DOT) byte = 10 * byte + code - DIGIT_0;
    else {
      value = (value << 8) | byte;
      byte = 0;
    }
  }
  return ((value << 8) | byte) >>> 0;
}

/** Order by family (IPv4 first), then by value. */
export function compareIps(a: Ip, b: Ip): number {
  const families = familyOf(a) - familyOf(b);
  if (families !== 0) return families;
  const x = ipToBigInt(a);
  const y = ipToBigInt(b);
  if (x === y) return 0;
  return x < y ? -1 : 1;
}

export function ipToBigInt(ip: Ip): bigint {
  if (familyOf(ip) === 4) return BigInt(ipv4ToNumber(ip));
  const { buffer } = bytesOfIpv6(ip);
  const view = new DataView(buffer);
  return (view.getBigUint64(0) << 64n) | view.getBigUint64(8);
}

export function ipOfBigInt(value: bigint, family: Family): Ip {
  const length = family === 4 ? IPV4_BYTES : IPV6_BYTES;
  const bytes = new Uint8Array(length);
  let rest = value;
  for (let index = length - 1; index >= 0; index--) {
    bytes[index] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return family === 4 ? ipv4At(bytes, 0) : ipv6At(bytes, 0);
}

/** fe80::/10 */
export function isLinkLocal(ip: Ip): boolean {
  return /^fe[89ab]/.test(ip) && ip.includes(":");
}

/** 224.0.0.0/4 and ff00::/8 */
export function isMulticast(ip: Ip): boolean {
  if (familyOf(ip) === 6) return ip.startsWith("ff");
  const first = Number.parseInt(ip, 10);
  return first >= 224 && first < 240;
}

function ipOf(bytes: Uint8Array): Ip {
  if (bytes.length === IPV4_BYTES) return ipv4At(bytes, 0);
  return isMapped(bytes) ? ipv4At(bytes, 12) : formatIpv6(bytes, 0);
}

/** ::ffff:0:0/96 */
function isMapped(bytes: Uint8Array): boolean {
  for (let index = 0; index < 10; index++) if (bytes[index] !== 0) return false;
  return bytes[10] === 0xff && bytes[11] === 0xff;
}

/** RFC 5952 §4: lower case, no leading zeros, the first longest run of two or more zero groups as "::". */
function formatIpv6(bytes: Uint8Array, offset: number): Ip {
  let bestStart = -1;
  let bestLength = 1;
  for (let start = 0; start < 8; ) {
    let length = 0;
    while (start + length < 8 && groupAt(bytes, offset, start + length) === 0) length++;
    if (length > bestLength) {
      bestStart = start;
      bestLength = length;
    }
    start += length + 1;
  }
  let text = "";
  for (let group = 0; group < 8; group++) {
    if (group === bestStart) {
      text += "::";
      group += bestLength - 1;
      continue;
    }
    if (text !== "" && !text.endsWith(":")) text += ":";
    text += groupAt(bytes, offset, group).toString(16);
  }
  return text as Ip;
}

function groupAt(bytes: Uint8Array, offset: number, group: number): number {
  return u16At(bytes, offset + 2 * group);
}

function bytesOfIpv4(ip: Ip): Uint8Array {
  const value = ipv4ToNumber(ip);
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}

/** Canonical text, read in one walk: lower-case groups, "::" at most once, no dots. */
function bytesOfIpv6(ip: Ip): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(IPV6_BYTES);
  let group = 0;
  let value = 0;
  let groupsBeforeGap = -1;
  for (let at = 0; at < ip.length; at++) {
    const code = ip.charCodeAt(at);
    if (code !== COLON) {
      value = 16 * value + code - (code < LETTER_A ? DIGIT_0 : LETTER_A - 10);
      continue;
    }
    // Of "::" the first colon ends a group, unless the text begins with it.
    if (ip.charCodeAt(at - 1) === COLON) groupsBeforeGap = group;
    else if (at > 0) writeGroup(bytes, group++, value);
    value = 0;
  }
  if (ip.charCodeAt(ip.length - 1) !== COLON) writeGroup(bytes, group++, value);
  if (groupsBeforeGap < 0) return bytes;
  const gapEnd = IPV6_BYTES - 2 * (group - groupsBeforeGap);
  bytes.copyWithin(gapEnd, 2 * groupsBeforeGap, 2 * group);
  return bytes.fill(0, 2 * groupsBeforeGap, gapEnd);
}

/** The text has passed `isIPv6`. */
function ipv6BytesOfText(text: string): Uint8Array {
  const bytes = new Uint8Array(IPV6_BYTES);
  const [head = "", tail] = text.split("::");
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  for (const [index, group] of before.entries()) writeGroup(bytes, index, group);
  for (const [index, group] of after.entries()) writeGroup(bytes, 8 - after.length + index, group);
  return bytes;
}

function groupsOf(part: string): number[] {
  if (part === "") return [];
  return part.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}

function writeGroup(bytes: Uint8Array, index: number, group: number): void {
  bytes[2 * index] = group >>> 8;
  bytes[2 * index + 1] = group & 0xff;
}
