/** Hexadecimal text and byte comparisons shared by every codec. Pure. */

const HEX_OF_BYTE: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Two lower-case digits of one byte: a table, because a MAC or address is formatted for every frame. */
export function hexOfByte(byte: number): string {
  return HEX_OF_BYTE[byte & 0xff] ?? "00";
}

export function hexOf(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += hexOfByte(byte);
  return text;
}

/** Bytes of hexadecimal text; white space is ignored. Undefined when the rest is not an even number of hex digits. */
export function bytesOfHex(text: string): Uint8Array | undefined {
  const digits = text.replaceAll(/\s/g, "");
  if (digits.length % 2 !== 0 || /[^0-9a-fA-F]/.test(digits)) return undefined;
  return Uint8Array.from({ length: digits.length / 2 }, (_, index) =>
    Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16),
  );
}

/** In network order; a DataView would cost more than all else that is done with a ping's bytes. */
export function u16At(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0);
}

export function u32At(bytes: Uint8Array, offset: number): number {
  return u16At(bytes, offset) * 0x1_0000 + u16At(bytes, offset + 2);
}

export function bytesEqual(a: Uint8Array, b: Uint8Array): boolean {
  return compareBytes(a, b) === 0;
}

/** Negative, zero or positive as `a` sorts before, with or after `b`, byte by byte; a prefix sorts first. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shorter = Math.min(a.length, b.length);
  for (let index = 0; index < shorter; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** For who writes every one of them: they hold what was there before, and small ones come out of Node's pool, which costs a tenth of a buffer each. */
export function unclearedBytes(length: number): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset } = Buffer.allocUnsafe(length);
  return new Uint8Array(buffer, byteOffset, length);
}

export function copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = unclearedBytes(bytes.length);
  copy.set(bytes);
  return copy;
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const joined = unclearedBytes(length);
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}
