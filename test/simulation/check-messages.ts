/**
 * Part of invariant 14: what a Go member would choke on is never sent. Its library crashes on an empty part of a compound, takes on the
 * versions of an alive message or push/pull only when there are six, and refuses metadata of more than 512 bytes. Read bytewise.
 */
import type { Endpoint } from "../../src/gossip/message.ts";
import type { Findings, Witness } from "./witness.ts";

/** Ping, ping-req, ack, nack: most of all datagrams; no record of a member is in them. */
const BARE_KINDS: ReadonlySet<number | undefined> = new Set([0, 1, 2, 11]);
const COMPOUND = 7;
const CRC = 12;
const CRC_HEADER_BYTES = 5;
const VERSIONS = 6;
const MOST_META_BYTES = 512;
/** Keys of msgpack maps: a text of three and one of four bytes. */
const VERSIONS_KEY = Buffer.from("\xa3Vsn", "latin1");
const META_KEY = Buffer.from("\xa4Meta", "latin1");

export class MessageChecker implements Witness {
  readonly #speakers: ReadonlySet<string>;
  readonly #findings: Findings;

  /** `speakers`: whose bytes are judged; strangers may send what they like. */
  constructor(speakers: ReadonlySet<string>, findings: Findings) {
    this.#speakers = speakers;
    this.#findings = findings;
  }

  datagram(atMs: number, from: string, _to: Endpoint, bytes: Uint8Array): void {
    if (!this.#speakers.has(from)) return;
    const plain = bytes[0] === CRC ? bytes.subarray(CRC_HEADER_BYTES) : bytes;
    if (plain.length === 0) this.#findings.violated(14, atMs, `${from} sends an empty datagram`);
    if (BARE_KINDS.has(plain[0])) return;
    if (plain[0] === COMPOUND) this.#judgeParts(atMs, from, plain);
    this.#judgeRecords(atMs, from, plain, "datagram");
  }

  streamed(atMs: number, from: string, bytes: Uint8Array): void {
    if (this.#speakers.has(from)) this.#judgeRecords(atMs, from, bytes, "stream");
  }

  #judgeParts(atMs: number, from: string, compound: Uint8Array): void {
    const parts = compound[1] ?? 0;
    this.#findings.count("14 compound");
    if (parts === 0) this.#findings.violated(14, atMs, `${from} sends a compound of nothing`);
    for (let part = 0; part < parts; part++) {
      const at = 2 + 2 * part;
      if (compound[at] === 0 && compound[at + 1] === 0) {
        this.#findings.violated(14, atMs, `${from} sends a compound whose part ${part} is empty`);
      }
    }
  }

  #judgeRecords(atMs: number, from: string, bytes: Uint8Array, where: "datagram" | "stream"): void {
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (const length of lengthsAfter(all, VERSIONS_KEY)) {
      this.#findings.count(`14 versions in a ${where}`);
      if (length !== VERSIONS) this.#findings.violated(14, atMs, `${from} sends ${length} bytes of versions`);
    }
    for (const length of lengthsAfter(all, META_KEY)) {
      if (length > MOST_META_BYTES) this.#findings.violated(14, atMs, `${from} sends ${length} bytes of metadata`);
    }
  }
}

/** Lengths of the msgpack values behind each occurrence of a key. */
function lengthsAfter(bytes: Buffer, key: Buffer): readonly number[] {
  const lengths: number[] = [];
  for (let at = bytes.indexOf(key); at >= 0; at = bytes.indexOf(key, at + 1))
    lengths.push(lengthAt(bytes, at + key.length));
  return lengths;
}

/** Of nil, a short raw, and one with a length of one, two or four bytes (msgpack's old and new forms). */
function lengthAt(bytes: Buffer, at: number): number {
  const head = bytes[at] ?? 0xc0;
  if (head >= 0xa0 && head <= 0xbf) return head - 0xa0;
  const rest = bytes.subarray(at + 1);
  if ((head === 0xc4 || head === 0xd9) && rest.length >= 1) return rest.readUInt8();
  if ((head === 0xc5 || head === 0xda) && rest.length >= 2) return rest.readUInt16BE();
  if ((head === 0xc6 || head === 0xdb) && rest.length >= 4) return rest.readUInt32BE();
  return 0;
}
