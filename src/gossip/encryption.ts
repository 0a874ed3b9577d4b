/**
 * memberlist's AES-GCM payload: version, nonce of 12, ciphertext, tag of 16 (memberlist v0.5.1 security.go:30-140).
 * Version 1 carries the plaintext as it is; version 0, of protocol version 1, pads it to whole blocks. The version is not authenticated.
 */
import { createCipheriv, createDecipheriv } from "node:crypto";
import { concatBytes } from "../base/bytes.ts";

export const KEY_BYTES = [16, 24, 32] as const;
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const BLOCK_BYTES = 16;
/** What version 1 adds to the plaintext. */
export const ENCRYPTION_OVERHEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

type EncryptionVersion = 0 | 1;

/** @param key 16, 24 or 32 bytes @param associated authenticated beside the plaintext, not sent here */
export function sealPayload(
  plain: Uint8Array,
  key: Uint8Array,
  nonce: Uint8Array,
  associated: Uint8Array,
  version: EncryptionVersion = 1,
): Uint8Array {
  const cipher = createCipheriv(algorithmOf(key), key, nonce);
  cipher.setAAD(associated);
  const padded = version === 0 ? withPadding(plain) : plain;
  return concatBytes([Uint8Array.of(version), nonce, cipher.update(padded), cipher.final(), cipher.getAuthTag()]);
}

/** What keys there are, and who wants to know which of them fitted. */
export interface OpeningKeys {
  /** Tried in their order. */
  readonly keys: readonly Uint8Array[];
  opened(key: Uint8Array): void;
}

/** Undefined when no key opens it, or what it holds is not well formed. */
export function openPayload(sealed: Uint8Array, ring: OpeningKeys, associated: Uint8Array): Uint8Array | undefined {
  const version = sealed[0];
  if (version === undefined || version > 1) return undefined;
  const leastBytes = ENCRYPTION_OVERHEAD_BYTES + (version === 0 ? BLOCK_BYTES : 0);
  if (sealed.length < leastBytes) return undefined;
  for (const key of ring.keys) {
    const plain = openWith(key, sealed, associated);
    if (plain === undefined) continue;
    ring.opened(key);
    return version === 0 ? withoutPadding(plain) : plain;
  }
  return undefined;
}

function openWith(key: Uint8Array, sealed: Uint8Array, associated: Uint8Array): Uint8Array | undefined {
  const tagStart = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv(algorithmOf(key), key, sealed.subarray(1, 1 + NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(associated);
  decipher.setAuthTag(sealed.subarray(tagStart));
  const plain = decipher.update(sealed.subarray(1 + NONCE_BYTES, tagStart));
  try {
    // Node reports a tag that does not match by throwing, here and nowhere else.
    decipher.final();
  } catch {
    return undefined;
  }
  return plain;
}

function algorithmOf(key: Uint8Array): "aes-128-gcm" | "aes-192-gcm" | "aes-256-gcm" {
  if (key.length === 16) return "aes-128-gcm";
  return key.length === 24 ? "aes-192-gcm" : "aes-256-gcm";
}

/** PKCS #7 (RFC 5652 §6.3): 1 to 16 bytes, each of them their count. */
function withPadding(plain: Uint8Array): Uint8Array {
  const count = BLOCK_BYTES - (plain.length % BLOCK_BYTES);
  return concatBytes([plain, new Uint8Array(count).fill(count)]);
}

/** Undefined when the last byte is no padding length: Go peers crash on some of these. */
function withoutPadding(padded: Uint8Array): Uint8Array | undefined {
  const count = padded.at(-1) ?? 0;
  if (count < 1 || count > BLOCK_BYTES || count > padded.length) return undefined;
  return padded.subarray(0, padded.length - count);
}
