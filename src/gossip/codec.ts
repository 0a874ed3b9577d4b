/** Messages to bytes and back, with the keys, the label and the compression of one node bound once. */
import type { Random } from "../base/random.ts";
import { type OpenedDatagram, openDatagram, overheadBytes, sealDatagram } from "./datagram.ts";
import type { Keyring } from "./keyring.ts";
import type { StreamMessage } from "./message.ts";
import { StreamDecoder, sealStream } from "./stream.ts";
import type { Timing } from "./timing.ts";

export interface CodecSettings {
  /** Absent: nothing is encrypted. */
  readonly keyring?: Keyring;
  /** Empty: no label, as with MetalLB. */
  readonly label: string;
  readonly timing: Timing;
  /** A cryptographic source: it makes nonces. */
  readonly random: Random;
}

/**
 * Go tries datagrams of any size, and understands what is not compressed all the same. LZW leaves a ping of short names longer, and
 * takes 46 bytes of 221 from one of the longest; the try costs more than to encrypt it, and the fast detector sends sixty a second.
 */
const COMPRESSED_FROM_BYTES = 256;
/** A datagram holds 64 KiB; what it decompresses to is bounded by what a sender of ours or Go's could have put in. */
const MAX_DATAGRAM_DECOMPRESSED_BYTES = 256 * 1024;
/** memberlist's own limit (net.go:94). */
const MAX_STREAM_DECOMPRESSED_BYTES = 40 * 2 ** 20;

export interface Codec {
  /** What label and encryption take from a datagram. */
  readonly overheadBytes: number;
  sealDatagram(parts: readonly Uint8Array[], withCrc: boolean): Uint8Array;
  openDatagram(bytes: Uint8Array): OpenedDatagram;
  /** The writes to make, in order. */
  sealStream(message: StreamMessage, isDialer: boolean): readonly Uint8Array[];
  openStream(isDialer: boolean): StreamDecoder;
}

export function createCodec({ keyring, label, timing, random }: CodecSettings): Codec {
  const ring = keyring === undefined ? {} : { keyring };
  const sealing = { ...(timing.verifiesOutgoing ? ring : {}), label, random };
  const opening = { ...ring, label, verifyIncoming: timing.verifiesIncoming };
  // Made once: an object that is spread and added to for each datagram gets a shape of its own from V8 each time.
  const bare = {
    ...sealing,
    compressFromBytes: timing.compresses ? COMPRESSED_FROM_BYTES : Number.POSITIVE_INFINITY,
    withCrc: false,
  };
  const checksummed = { ...bare, withCrc: true };
  const openingDatagrams = { ...opening, maxDecompressedBytes: MAX_DATAGRAM_DECOMPRESSED_BYTES };
  const sealingStreams = { ...sealing, compress: timing.compresses };
  return {
    overheadBytes: overheadBytes({ ...ring, label }),
    sealDatagram: (parts, withCrc) => sealDatagram(parts, withCrc ? checksummed : bare),
    openDatagram: (bytes) => openDatagram(bytes, openingDatagrams),
    sealStream: (message, isDialer) => sealStream(message, sealingStreams, { isDialer }),
    openStream: (isDialer) =>
      new StreamDecoder({ ...opening, maxDecompressedBytes: MAX_STREAM_DECOMPRESSED_BYTES, isDialer }),
  };
}
