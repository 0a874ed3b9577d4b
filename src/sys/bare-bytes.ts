/** The same bytes without Node's Buffer around them, whose `slice` shares memory where that of Uint8Array copies. */
export function bareBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
