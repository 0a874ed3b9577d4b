/** Address prefixes and ranges as canonical values. Pure. */
import { type Family, familyOf, type Ip, ipOfBigInt, ipToBigInt, parseIp } from "./ip.ts";

/** `network` has its host bits cleared. */
export interface Prefix {
  readonly network: Ip;
  readonly length: number;
}

/** First and last address, both included, of one family. */
export interface Range {
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
}

export function formatPrefix(prefix: Prefix): string {
  return `${prefix.network}/${prefix.length}`;
}

/** "192.0.2.9/24" gives 192.0.2.0/24: host bits are masked off. A bare address is refused, as MetalLB does. */
export function parsePrefix(text: string): Prefix | undefined {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text);
  const ip = parseIp(match?.[1] ?? "");
  if (ip === undefined) return undefined;
  const length = Number(match?.[2]);
  return length > bitsOf(familyOf(ip)) ? undefined : prefixOf(ip, length);
}

/** The prefix of `length` bits that holds `ip`. */
export function prefixOf(ip: Ip, length: number): Prefix {
  const family = familyOf(ip);
  const hostBits = BigInt(bitsOf(family) - length);
  return { network: ipOfBigInt((ipToBigInt(ip) >> hostBits) << hostBits, family), length };
}

export function rangeOfPrefix(prefix: Prefix): Range {
  const family = familyOf(prefix.network);
  const first = ipToBigInt(prefix.network);
  return { family, first, last: first + (1n << BigInt(bitsOf(family) - prefix.length)) - 1n };
}

/** The fewest prefixes that together hold the range and nothing else, in ascending order. */
export function prefixesOfRange({ family, first, last }: Range): Prefix[] {
  const bits = bitsOf(family);
  const prefixes: Prefix[] = [];
  for (let start = first; start <= last; ) {
    let hostBits = 0;
    while (
      hostBits < bits &&
      start % (2n << BigInt(hostBits)) === 0n &&
      start + (2n << BigInt(hostBits)) - 1n <= last
    ) {
      hostBits++;
    }
    prefixes.push({ network: ipOfBigInt(start, family), length: bits - hostBits });
    start += 1n << BigInt(hostBits);
  }
  return prefixes;
}

export function prefixHolds(prefix: Prefix, ip: Ip): boolean {
  const family = familyOf(ip);
  if (family !== familyOf(prefix.network)) return false;
  const hostBits = BigInt(bitsOf(family) - prefix.length);
  return ipToBigInt(ip) >> hostBits === ipToBigInt(prefix.network) >> hostBits;
}

export function rangeHolds(range: Range, ip: Ip): boolean {
  if (range.family !== familyOf(ip)) return false;
  const value = ipToBigInt(ip);
  return value >= range.first && value <= range.last;
}

export function rangesOverlap(a: Range, b: Range): boolean {
  return a.family === b.family && a.first <= b.last && b.first <= a.last;
}

/** Width of an address in bits. */
export function bitsOf(family: Family): 32 | 128 {
  return family === 4 ? 32 : 128;
}
