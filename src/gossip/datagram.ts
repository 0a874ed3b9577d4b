/**
 * A gossip datagram, from the socket's bytes to messages and back. Layers from outside: label, encryption, checksum,
 * compression, compound (memberlist v0.5.1 net.go:377-433, 829-892). No clock; randomness is passed in.
 */
import { crc32 } from "node:zlib";
import { concatBytes } from "../base/bytes.ts";
import { ArpeggioError } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import { ByteWriter } from "./byte-writer.ts";
import { decodeCompound, encodeCompound } from "./compound.ts";
import { decodeCompressed, encodeCompressed } from "./compression.ts";
import type { GossipDrop } from "./drop.ts";
import { ENCRYPTION_OVERHEAD_BYTES, NONCE_BYTES, openPayload, sealPayload } from "./encryption.ts";
import type { Keyring } from "./keyring.ts";
import { encodeLabelHeader, labelBytes, labelHeaderBytes } from "./label.ts";
import type { DatagramMessage } from "./message.ts";
import { decodeDatagramMessage } from "./message-codec.ts";
import { TYPE } from "./wire-records.ts";

/** Type byte and CRC-32. */
const CRC_HEADER_BYTES = 5;
/** Senders make compress(compound(message)); Go itself has no limit, which invites a bomb. */
const MAX_DEPTH = 3;

export interface OpenDatagramOptions {
  /** Absent: nothing is encrypted. */
  readonly keyring?: Keyring;
  /** Empty: no label. */
  readonly label: string;
  /** False lets datagrams in the clear in though there are keys. */
  readonly verifyIncoming: boolean;
  /** Over all that one datagram holds. */
  readonly maxDecompressedBytes: number;
}

export interface SealDatagramOptions {
  /** Absent: sent in the clear. */
  readonly keyring?: Keyring;
  readonly label: string;
  /** Messages of so many bytes and more are compressed where that makes them shorter; infinite: none. */
  readonly compressFromBytes: number;
  /** Only receivers with `protocolMax` of 5 and more understand the checksum. */
  readonly withCrc: boolean;
  /** A cryptographic source: it makes the nonce. */
  readonly random: Random;
}

export interface OpenedDatagram {
  readonly messages: readonly DatagramMessage[];
  /** A datagram can give messages and drops: each part of a compound stands for itself. */
  readonly drops: readonly GossipDrop[];
}

export function openDatagram(bytes: Uint8Array, options: OpenDatagramOptions): OpenedDatagram {
  const collector = new Collector(options.maxDecompressedBytes);
  const plain = plainOf(bytes, options);
  if (typeof plain === "string") collector.drop(plain);
  else if (!isChecksummed(plain)) collector.take(plain, 0);
  else if (new DataView(plain.buffer, plain.byteOffset).getUint32(1) !== crc32(plain.subarray(CRC_HEADER_BYTES))) {
    collector.drop("checksum-mismatch");
  } else collector.take(plain.subarray(CRC_HEADER_BYTES), 0);
  return collector;
}

/**
 * One part stands bare, several as a compound. Compressed, from a size on, only where that is shorter.
 * @throws ERR_INTERNAL_ARGUMENT without parts, for an empty one, or for more than 255
 */
export function sealDatagram(parts: readonly Uint8Array[], options: SealDatagramOptions): Uint8Array {
  const [only] = parts;
  if (only === undefined || only.length === 0) {
    throw new ArpeggioError("ERR_INTERNAL_ARGUMENT", "a datagram without a message");
  }
  const message = parts.length === 1 ? only : encodeCompound(parts);
  const compressed = message.length < options.compressFromBytes ? message : encodeCompressed(message);
  const shorter = compressed.length < message.length ? compressed : message;
  const plain = options.withCrc ? checksummed(shorter) : shorter;
  const { keyring, label, random } = options;
  const sealed =
    keyring === undefined ? plain : sealPayload(plain, keyring.primary, random.bytes(NONCE_BYTES), labelBytes(label));
  return label === "" ? sealed : concatBytes([encodeLabelHeader(label), sealed]);
}

/** What label and encryption take from the bytes of a datagram; the checksum comes on top and is not counted (memberlist v0.5.1 net.go:805). */
export function overheadBytes(options: { readonly keyring?: Keyring; readonly label: string }): number {
  const encryption = options.keyring === undefined ? 0 : ENCRYPTION_OVERHEAD_BYTES;
  return encodeLabelHeader(options.label).length + encryption;
}

function plainOf(bytes: Uint8Array, options: OpenDatagramOptions): Uint8Array | GossipDrop {
  if (bytes.length === 0) return "empty";
  const header = labelHeaderBytes(bytes, options.label);
  if (!header.ok) return header.reason === "truncated" ? "label-malformed" : header.reason;
  const sealed = bytes.subarray(header.value);
  if (options.keyring === undefined) return sealed;
  const plain = openPayload(sealed, options.keyring, labelBytes(options.label));
  return plain ?? (options.verifyIncoming ? "not-authentic" : sealed);
}

function isChecksummed(plain: Uint8Array): boolean {
  return plain[0] === TYPE.crc && plain.length >= CRC_HEADER_BYTES;
}

function checksummed(message: Uint8Array): Uint8Array {
  const writer = new ByteWriter(CRC_HEADER_BYTES + message.length);
  writer.u8(TYPE.crc);
  writer.u32(crc32(message));
  writer.bytes(message);
  return writer.finish();
}

/** Takes compounds and compressed messages apart, with one budget of bytes for all of them. */
class Collector implements OpenedDatagram {
  readonly messages: DatagramMessage[] = [];
  readonly drops: GossipDrop[] = [];
  #bytesLeft: number;

  constructor(maxDecompressedBytes: number) {
    this.#bytesLeft = maxDecompressedBytes;
  }

  drop(reason: GossipDrop): void {
    this.drops.push(reason);
  }

  take(bytes: Uint8Array, depth: number): void {
    if (depth > MAX_DEPTH) return this.drop("too-deep");
    if (bytes[0] === TYPE.compound) return this.#takeCompound(bytes, depth);
    if (bytes[0] === TYPE.compress) return this.#takeCompressed(bytes, depth);
    const message = decodeDatagramMessage(bytes);
    if (message.ok) this.messages.push(message.value);
    else this.drop(message.reason);
  }

  #takeCompound(bytes: Uint8Array, depth: number): void {
    const { parts, isTruncated } = decodeCompound(bytes);
    for (const part of parts) this.take(part, depth + 1);
    if (isTruncated) this.drop("truncated");
    else if (parts.length === 0) this.drop("empty");
  }

  #takeCompressed(bytes: Uint8Array, depth: number): void {
    const plain = decodeCompressed(bytes, this.#bytesLeft);
    if (!plain.ok) return this.drop(plain.reason);
    this.#bytesLeft -= plain.value.length;
    this.take(plain.value, depth + 1);
  }
}
