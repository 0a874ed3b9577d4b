/** The keys of an encrypted cluster: the primary encrypts, all of them are tried to decrypt (memberlist v0.5.1 keyring.go). */
import { createHash } from "node:crypto";
import { bytesEqual, concatBytes } from "../base/bytes.ts";
import { ArpeggioError } from "../base/errors.ts";
import { KEY_BYTES } from "./encryption.ts";

/** AES-256 */
const DERIVED_KEY_BYTES = 32;

/**
 * The key that MetalLB makes of its secret file: the bytes as they are, then the SHA-256 of no input, cut to 32
 * (internal/speakerlist/speakerlist.go:103). A line break at the end of the file counts.
 */
export function deriveKey(secretFileBytes: Uint8Array): Uint8Array {
  return concatBytes([secretFileBytes, createHash("sha256").digest()]).slice(0, DERIVED_KEY_BYTES);
}

export class Keyring {
  #keys: readonly Uint8Array[];
  readonly #onOther: ((key: Uint8Array) => void) | undefined;

  /**
   * @param onOther something was opened by another key than the primary
   * @throws ERR_INTERNAL_ARGUMENT when a key has not 16, 24 or 32 bytes
   */
  constructor(primary: Uint8Array, others: readonly Uint8Array[] = [], onOther?: (key: Uint8Array) => void) {
    this.#keys = [];
    this.#onOther = onOther;
    for (const key of [primary, ...others]) this.add(key);
  }

  /** Encrypts. */
  get primary(): Uint8Array {
    const [primary] = this.#keys;
    if (primary === undefined) throw new ArpeggioError("ERR_INTERNAL_ARGUMENT", "the keyring is empty");
    return primary;
  }

  /** In the order in which they are tried, the primary first. */
  get keys(): readonly Uint8Array[] {
    return this.#keys;
  }

  /** This one of `keys` has opened something. */
  opened(key: Uint8Array): void {
    if (key !== this.#keys[0]) this.#onOther?.(key);
  }

  /** A key that is there already changes nothing. @throws ERR_INTERNAL_ARGUMENT for a length that AES does not have */
  add(key: Uint8Array): void {
    if (!KEY_BYTES.some((length) => length === key.length)) {
      throw new ArpeggioError("ERR_INTERNAL_ARGUMENT", `a key has 16, 24 or 32 bytes, not ${key.length}`);
    }
    if (!this.#holds(key)) this.#keys = [...this.#keys, new Uint8Array(key)];
  }

  /** Makes a key the primary. @throws ERR_INTERNAL_ARGUMENT when it was not added before */
  use(key: Uint8Array): void {
    if (!this.#holds(key)) throw new ArpeggioError("ERR_INTERNAL_ARGUMENT", "the key to use is not in the keyring");
    this.#keys = [new Uint8Array(key), ...this.#without(key)];
  }

  /** @throws ERR_INTERNAL_ARGUMENT for the primary: use another one first */
  remove(key: Uint8Array): void {
    if (bytesEqual(key, this.primary)) {
      throw new ArpeggioError("ERR_INTERNAL_ARGUMENT", "the primary key cannot be removed");
    }
    this.#keys = this.#without(key);
  }

  #holds(key: Uint8Array): boolean {
    return this.#keys.some((other) => bytesEqual(other, key));
  }

  #without(key: Uint8Array): readonly Uint8Array[] {
    return this.#keys.filter((other) => !bytesEqual(other, key));
  }
}
