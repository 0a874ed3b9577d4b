/**
 * A gossip stream: one request, one answer. The label stands in front of what the dialer sends, and only there; an encrypted
 * message is a frame of 0a, length and payload (memberlist v0.5.1 net.go:1100-1230). No clock; randomness is passed in.
 */
import { concatBytes, unclearedBytes } from "../base/bytes.ts";
import type { Random } from "../base/random.ts";
import { encodeCompressed } from "./compression.ts";
import type { GossipDrop } from "./drop.ts";
import { ENCRYPTION_OVERHEAD_BYTES, NONCE_BYTES, openPayload, sealPayload } from "./encryption.ts";
import type { Keyring } from "./keyring.ts";
import { encodeLabelHeader, labelBytes, labelHeaderBytes } from "./label.ts";
import type { StreamMessage } from "./message.ts";
import { encodeStreamMessage } from "./message-codec.ts";
import { StreamBody } from "./stream-body.ts";
import { TYPE } from "./wire-records.ts";

const NO_BYTES = new Uint8Array(0);
/** Type byte and length. */
const FRAME_HEADER_BYTES = 5;
/** memberlist refuses longer frames (net.go:1139). */
const MAX_FRAME_BYTES = 20 * 2 ** 20;
/** A whole stream, encrypted or not: a frame, its header and a label. */
const MAX_STREAM_BYTES = MAX_FRAME_BYTES + 1024;

export interface SealStreamOptions {
  readonly keyring?: Keyring;
  readonly label: string;
  readonly compress: boolean;
  readonly random: Random;
}

export interface OpenStreamOptions {
  readonly keyring?: Keyring;
  readonly label: string;
  /** False lets a stream in the clear in though there are keys. */
  readonly verifyIncoming: boolean;
  readonly maxDecompressedBytes: number;
  /** The side of ours: only the acceptor is sent a label header. */
  readonly isDialer: boolean;
}

/** The writes to make, in order: the dialer's label header goes out in one of its own. Compressed even where that is longer, as Go does. */
export function sealStream(
  message: StreamMessage,
  options: SealStreamOptions,
  { isDialer }: { readonly isDialer: boolean },
): readonly Uint8Array[] {
  const bare = encodeStreamMessage(message);
  const plain = options.compress ? encodeCompressed(bare) : bare;
  const sealed = options.keyring === undefined ? plain : sealFrame(plain, options.keyring, options);
  return isDialer && options.label !== "" ? [encodeLabelHeader(options.label), sealed] : [sealed];
}

function sealFrame(plain: Uint8Array, keyring: Keyring, { label, random }: SealStreamOptions): Uint8Array {
  const header = new Uint8Array(FRAME_HEADER_BYTES);
  header[0] = TYPE.encrypt;
  new DataView(header.buffer).setUint32(1, ENCRYPTION_OVERHEAD_BYTES + plain.length);
  const associated = concatBytes([header, labelBytes(label)]);
  return concatBytes([header, sealPayload(plain, keyring.primary, random.bytes(NONCE_BYTES), associated)]);
}

/** What Go writes when it cannot read a request; a dialer shows it as "remote error: …". */
export function errorTextOf(reason: GossipDrop): string {
  if (reason === "not-encrypted") return "encryption is configured but remote state is not encrypted";
  if (reason === "unexpected-encryption") return "remote state is encrypted and encryption is not configured";
  return `failed to read the request: ${reason}`;
}

export type StreamStep =
  | { readonly kind: "need-more" }
  | { readonly kind: "message"; readonly message: StreamMessage }
  | { readonly kind: "drop"; readonly reason: GossipDrop };

const NEED_MORE: StreamStep = { kind: "need-more" };

/** Reads the one message that the other side sends. After a message or a drop it wants no more. */
export class StreamDecoder {
  readonly #options: OpenStreamOptions;
  readonly #body: StreamBody;
  #buffer: Uint8Array = NO_BYTES;
  #length = 0;
  /** Where the frame or message starts, once the label is read. */
  #start: number | undefined;
  #isDone = false;

  constructor(options: OpenStreamOptions) {
    this.#options = options;
    this.#body = new StreamBody(options.maxDecompressedBytes);
    if (options.isDialer) this.#start = 0;
  }

  push(bytes: Uint8Array): StreamStep {
    if (this.#isDone) return NEED_MORE;
    this.#append(bytes);
    const step = this.#length > MAX_STREAM_BYTES ? dropStep("too-large") : this.#read();
    if (step.kind !== "need-more") this.#finish();
    return step;
  }

  #read(): StreamStep {
    if (this.#length === 0) return NEED_MORE;
    const all = this.#buffer.subarray(0, this.#length);
    if (this.#start === undefined) {
      const header = labelHeaderBytes(all, this.#options.label);
      if (!header.ok) return header.reason === "truncated" ? NEED_MORE : dropStep(header.reason);
      this.#start = header.value;
    }
    const rest = all.subarray(this.#start);
    if (rest.length === 0) return NEED_MORE;
    if (rest[0] === TYPE.encrypt) return this.#readFrame(rest);
    if (this.#options.keyring !== undefined && this.#options.verifyIncoming) return dropStep("not-encrypted");
    const message = this.#body.read(rest);
    if (message.ok) return { kind: "message", message: message.value };
    return message.reason === "truncated" ? NEED_MORE : dropStep(message.reason);
  }

  #readFrame(bytes: Uint8Array): StreamStep {
    const { keyring, label } = this.#options;
    if (keyring === undefined) return dropStep("unexpected-encryption");
    if (bytes.length < FRAME_HEADER_BYTES) return NEED_MORE;
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
    if (length > MAX_FRAME_BYTES) return dropStep("too-large");
    const end = FRAME_HEADER_BYTES + length;
    if (bytes.length < end) return NEED_MORE;
    const associated = concatBytes([bytes.subarray(0, FRAME_HEADER_BYTES), labelBytes(label)]);
    const plain = openPayload(bytes.subarray(FRAME_HEADER_BYTES, end), keyring, associated);
    if (plain === undefined) return dropStep("not-authentic");
    if (plain.length === 0) return dropStep("empty");
    const message = this.#body.read(plain);
    return message.ok ? { kind: "message", message: message.value } : dropStep(message.reason);
  }

  /** The buffer doubles with what has arrived, never by what a length announces. */
  #append(bytes: Uint8Array): void {
    const end = this.#length + bytes.length;
    if (end > this.#buffer.length) {
      const grown = unclearedBytes(Math.max(end, 2 * this.#buffer.length));
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = end;
  }

  #finish(): void {
    this.#isDone = true;
    this.#buffer = NO_BYTES;
    this.#length = 0;
  }
}

function dropStep(reason: GossipDrop): StreamStep {
  return { kind: "drop", reason };
}
