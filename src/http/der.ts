/** The few DER encodings (X.690) that a certificate is made of. Pure. */
import { concatBytes } from "../base/bytes.ts";

const LONG_FORM = 0x80;

/** A value with its tag and length. */
function tagged(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const content = concatBytes(parts);
  return concatBytes([Uint8Array.of(tag), lengthBytes(content.length), content]);
}

function lengthBytes(length: number): Uint8Array {
  if (length < LONG_FORM) return Uint8Array.of(length);
  const digits = length.toString(16);
  const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), "0"), "hex");
  return concatBytes([Uint8Array.of(LONG_FORM | bytes.length), bytes]);
}

export function derSequence(...parts: readonly Uint8Array[]): Uint8Array {
  return tagged(0x30, ...parts);
}

export function derSet(...parts: readonly Uint8Array[]): Uint8Array {
  return tagged(0x31, ...parts);
}

/** @param magnitude big-endian, not negative */
export function derInteger(magnitude: Uint8Array): Uint8Array {
  const first = magnitude.findIndex((byte) => byte !== 0);
  const shortest = first < 0 ? Uint8Array.of(0) : magnitude.subarray(first);
  // The highest bit would be a sign.
  return tagged(0x02, ...((shortest[0] ?? 0) >= 0x80 ? [Uint8Array.of(0)] : []), shortest);
}

/** @param dotted such as `2.5.4.3` */
export function derObjectIdentifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return tagged(0x06, Uint8Array.from([40 * first + second, ...rest].flatMap(base128)));
}

function base128(value: number): readonly number[] {
  const digits = [value % 128];
  for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128)) digits.unshift((left % 128) | 0x80);
  return digits;
}

/** UTCTime through 2049, GeneralizedTime from then on (RFC 5280 §4.1.2.5). @param wallMs since 1970 */
export function derTime(wallMs: number): Uint8Array {
  const iso = new Date(wallMs).toISOString();
  const digits = `${iso.slice(0, 19).replaceAll(/\D/g, "")}Z`;
  return iso < "2050" ? tagged(0x17, ascii(digits.slice(2))) : tagged(0x18, ascii(digits));
}

export function derUtf8(text: string): Uint8Array {
  return tagged(0x0c, Buffer.from(text));
}

export function derNull(): Uint8Array {
  return tagged(0x05);
}

export function derOctets(bytes: Uint8Array): Uint8Array {
  return tagged(0x04, bytes);
}

/** Whole bytes only. */
export function derBits(bytes: Uint8Array): Uint8Array {
  return tagged(0x03, Uint8Array.of(0), bytes);
}

/** A part that is known by its number, around a value with a tag of its own. */
export function derExplicit(number: number, value: Uint8Array): Uint8Array {
  return tagged(0xa0 | number, value);
}

/** A part that is known by its number, which stands for the value's own tag. */
export function derImplicit(number: number, content: Uint8Array): Uint8Array {
  return tagged(0x80 | number, content);
}

export function ascii(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}
