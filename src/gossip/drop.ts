/** Why bytes from another member were not taken: a closed set, counted by name and never logged one by one. */
export type GossipDrop =
  /** Nothing where a type byte should stand. */
  | "empty"
  /** It ends before its own lengths say so. */
  | "truncated"
  /** A value of another kind or out of its range. */
  | "malformed"
  | "unknown-type"
  /** An address of neither 4 nor 16 bytes. */
  | "bad-address"
  | "label-malformed"
  | "label-mismatch"
  /** No key opens it; a datagram in the clear looks the same. */
  | "not-authentic"
  /** A stream in the clear though encryption is required. */
  | "not-encrypted"
  /** An encrypted stream, and we have no key. */
  | "unexpected-encryption"
  | "checksum-mismatch"
  | "bad-compression"
  /** Wrappers within wrappers, more than any sender makes. */
  | "too-deep"
  | "too-large";
