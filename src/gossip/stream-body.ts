/** One message of a stream, read while its bytes arrive: an unencrypted push/pull does not say how long it is. Pure. */
import { type Decoded, decoded, dropped } from "../base/decoded.ts";
import { decodeCompressed } from "./compression.ts";
import type { GossipDrop } from "./drop.ts";
import type { NodeRecord, StreamMessage } from "./message.ts";
import { readNode, readPing } from "./message-codec.ts";
import { MsgpackReader } from "./msgpack-reader.ts";
import { ACK, ERROR, PUSH_PULL_HEADER, TYPE, USER_HEADER } from "./wire-records.ts";

/** memberlist 0.6 net.go:1244, 1258 and the limits of its user messages. */
const MAX_NODES = 2 ** 20;
const MAX_USER_BYTES = 20 * 2 ** 20;
/** One map of a stream; a longer one would be read again and again while it arrives. */
const MAX_RECORD_BYTES = 2 ** 16;

interface PushPullSoFar {
  readonly isJoin: boolean;
  readonly nodes: NodeRecord[];
  nodesLeft: number;
  readonly userBytes: number;
}

export class StreamBody {
  readonly #maxDecompressedBytes: number;
  readonly #isInner: boolean;
  #offset = 1;
  #pushPull: PushPullSoFar | undefined;
  #userBytes: number | undefined;

  /** @param isInner it was compressed: a second compression is refused, as Go does */
  constructor(maxDecompressedBytes: number, isInner = false) {
    this.#maxDecompressedBytes = maxDecompressedBytes;
    this.#isInner = isInner;
  }

  /** @param bytes all that has arrived of this message so far. "truncated": call again with more, as long as there is more. */
  read(bytes: Uint8Array): Decoded<StreamMessage, GossipDrop> {
    switch (bytes[0]) {
      case undefined:
        return dropped("truncated");
      case TYPE.ping:
        return this.#record(bytes, readPing);
      case TYPE.ack:
        return this.#record(bytes, (reader) => {
          const { SeqNo, Payload } = ACK.decode(reader);
          return { kind: "ack", seqNo: SeqNo, payload: Payload };
        });
      case TYPE.error:
        return this.#record(bytes, (reader) => ({ kind: "error", text: ERROR.decode(reader).Error }));
      case TYPE.pushPull:
        return this.#readPushPull(bytes);
      case TYPE.user:
        return this.#readUser(bytes);
      case TYPE.compress:
        return this.#isInner ? dropped("unknown-type") : this.#readCompressed(bytes);
      default:
        return dropped("unknown-type");
    }
  }

  #readPushPull(bytes: Uint8Array): Decoded<StreamMessage, GossipDrop> {
    if (this.#pushPull === undefined) {
      const header = this.#record(bytes, (reader) => PUSH_PULL_HEADER.decode(reader));
      if (!header.ok) return header;
      const { Nodes, UserStateLen, Join } = header.value;
      if (Nodes < 0 || UserStateLen < 0) return dropped("malformed");
      if (Nodes > MAX_NODES || UserStateLen > MAX_USER_BYTES) return dropped("too-large");
      this.#pushPull = { isJoin: Join, nodes: [], nodesLeft: Nodes, userBytes: UserStateLen };
    }
    const { nodes, isJoin, userBytes } = this.#pushPull;
    while (this.#pushPull.nodesLeft > 0) {
      const node = this.#record(bytes, readNode);
      if (!node.ok) return node;
      this.#pushPull.nodesLeft--;
      if (node.value !== undefined) nodes.push(node.value);
    }
    const userState = this.#tail(bytes, userBytes);
    return userState === undefined ? dropped("truncated") : decoded({ kind: "push-pull", isJoin, nodes, userState });
  }

  #readUser(bytes: Uint8Array): Decoded<StreamMessage, GossipDrop> {
    if (this.#userBytes === undefined) {
      const header = this.#record(bytes, (reader) => USER_HEADER.decode(reader).UserMsgLen);
      if (!header.ok) return header;
      if (header.value < 0) return dropped("malformed");
      if (header.value > MAX_USER_BYTES) return dropped("too-large");
      this.#userBytes = header.value;
    }
    const payload = this.#tail(bytes, this.#userBytes);
    return payload === undefined ? dropped("truncated") : decoded({ kind: "user", payload });
  }

  #readCompressed(bytes: Uint8Array): Decoded<StreamMessage, GossipDrop> {
    const plain = decodeCompressed(bytes, this.#maxDecompressedBytes);
    if (!plain.ok) return plain;
    const inner = new StreamBody(this.#maxDecompressedBytes, true).read(plain.value);
    // More bytes on the stream cannot complete what was inside the compressed buffer.
    return !inner.ok && inner.reason === "truncated" ? dropped("malformed") : inner;
  }

  /** Reads one map at the offset and moves past it, or leaves the offset where it is. */
  #record<Value>(bytes: Uint8Array, read: (reader: MsgpackReader) => Value): Decoded<Value, GossipDrop> {
    const reader = new MsgpackReader(bytes, this.#offset);
    const value = read(reader);
    if (reader.fault === "truncated" && bytes.length - this.#offset > MAX_RECORD_BYTES) return dropped("too-large");
    if (reader.fault !== undefined) return dropped(reader.fault);
    this.#offset = reader.offset;
    return decoded(value);
  }

  #tail(bytes: Uint8Array, count: number): Uint8Array | undefined {
    if (bytes.length - this.#offset < count) return undefined;
    return new Uint8Array(bytes.subarray(this.#offset, this.#offset + count));
  }
}
