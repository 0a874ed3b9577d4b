/** The recorded exchanges of test/golden/memberlist as the values that our codecs should make of them. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { bytesOfHex } from "../../src/base/bytes.ts";
import type { Random } from "../../src/base/random.ts";
import type { DatagramMessage, NodeRecord, StreamMessage, Versions } from "../../src/gossip/message.ts";
import { RECORD_STATES } from "../../src/gossip/message.ts";
import { parseIp } from "../../src/net/ip.ts";

const FOLDER = resolve(import.meta.dirname, "../../../test/golden/memberlist");

interface Bytes {
  readonly hex: string;
  readonly ip?: string;
}

interface Fields {
  readonly SeqNo: number;
  readonly Node: string;
  readonly Name: string;
  readonly From: string;
  readonly Port: number;
  readonly Nack: boolean;
  readonly Incarnation: number;
  readonly State: number;
  readonly Error: string;
  readonly SourceNode: string;
  readonly SourcePort: number;
  readonly SourceAddr?: Bytes;
  readonly Target: Bytes;
  readonly Addr: Bytes;
  readonly Payload: Bytes | null;
  readonly Meta: Bytes | null;
  readonly Vsn: Bytes;
}

export interface Layer {
  readonly layer: "label" | "encrypt" | "message";
  readonly name?: string;
  readonly version?: 0 | 1;
  readonly nonce?: string;
  readonly aad?: string;
  readonly key?: string;
  readonly plain?: string;
  readonly hex?: string;
  readonly fields?: Fields;
  readonly header?: { readonly Join: boolean };
  readonly nodes?: readonly Fields[];
  readonly userState?: Bytes;
  readonly payload?: Bytes;
  readonly parts?: readonly Layer[];
  readonly inner?: Layer;
}

export interface Side {
  readonly hex: string;
  readonly layers: readonly Layer[];
  readonly writes?: readonly number[];
}

export interface Recording {
  readonly id: string;
  readonly transport: "udp" | "tcp";
  readonly label: string | null;
  readonly hex: string;
  readonly layers: readonly Layer[];
  readonly dialerSends?: Side;
  readonly acceptorSends?: Side;
}

export interface LzwCase {
  readonly id: string;
  readonly generator: string;
  readonly length: number;
  readonly inputHex?: string;
  readonly inputSha256: string;
  readonly compressedLength: number;
  readonly compressedHex?: string;
  readonly compressedSha256: string;
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(join(FOLDER, name), "utf8"));
}

export const RECORDINGS: readonly Recording[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".json") && name !== "index.json" && name !== "lzw.json")
  .map((name) => readJson(name) as Recording);

export const LZW_CASES = readJson("lzw.json") as readonly LzwCase[];

export function recording(id: string): Recording {
  return RECORDINGS.find((one) => one.id === id) ?? expect.fail(id);
}

export const hex = (text: string): Uint8Array => bytesOfHex(text) ?? expect.fail(text);

/** The same bytes in the middle of a larger buffer, as Node's pooled buffers have them. */
export function atOffset(bytes: Uint8Array): Uint8Array {
  const larger = new Uint8Array(bytes.length + 16).fill(0xee);
  larger.set(bytes, 7);
  return larger.subarray(7, 7 + bytes.length);
}

/** Gives out one recorded nonce. */
export function nonceOf(layers: readonly Layer[]): Random {
  const nonce = hex(encryptionOf(layers)?.nonce ?? "");
  return { float: () => 0, below: () => 0, bytes: () => nonce };
}

export function encryptionOf(layers: readonly Layer[]): Layer | undefined {
  return layers.find(({ layer }) => layer === "encrypt");
}

export function outermostMessage(layers: readonly Layer[]): Layer {
  return layers.find(({ layer }) => layer === "message") ?? expect.fail("no message");
}

/** The layer named so, looking inwards. */
export function innerLayer(layer: Layer | undefined, name: string): Layer | undefined {
  return layer === undefined || layer.name === name ? layer : innerLayer(layer.inner, name);
}

/** Bare messages, wrappers taken apart. */
export function bareLayers(layer: Layer): readonly Layer[] {
  if (layer.parts !== undefined) return layer.parts.flatMap(bareLayers);
  return layer.inner === undefined ? [layer] : bareLayers(layer.inner);
}

export function datagramMessageOf(layer: Layer): DatagramMessage {
  const { name, fields } = layer;
  if (name === "user") return { kind: "user", payload: hex(layer.payload?.hex ?? "") };
  if (fields === undefined) return expect.fail(name);
  switch (name ?? "") {
    case "ping":
      return { kind: "ping", seqNo: fields.SeqNo, node: fields.Node, ...sourceOf(fields) };
    case "indirectPing":
      return {
        kind: "indirect-ping",
        seqNo: fields.SeqNo,
        target: { ip: ipOf(fields.Target), port: fields.Port },
        node: fields.Node,
        wantsNack: fields.Nack,
        ...sourceOf(fields),
      };
    case "ackResp":
      return { kind: "ack", seqNo: fields.SeqNo, payload: hex(fields.Payload?.hex ?? "") };
    case "nackResp":
      return { kind: "nack", seqNo: fields.SeqNo };
    case "suspect":
    case "dead":
      return {
        kind: name === "dead" ? "dead" : "suspect",
        incarnation: fields.Incarnation,
        node: fields.Node,
        from: fields.From,
      };
    case "alive":
      return {
        kind: "alive",
        incarnation: fields.Incarnation,
        node: fields.Node,
        endpoint: { ip: ipOf(fields.Addr), port: fields.Port },
        meta: hex(fields.Meta?.hex ?? ""),
        versions: versionsOf(fields.Vsn),
      };
    default:
      return expect.fail(name);
  }
}

export function streamMessageOf(layer: Layer): StreamMessage {
  if (layer.name === "err") return { kind: "error", text: layer.fields?.Error ?? expect.fail("error") };
  if (layer.name === "pushPull") {
    return {
      kind: "push-pull",
      isJoin: layer.header?.Join ?? expect.fail("Join"),
      nodes: (layer.nodes ?? []).map(nodeOf),
      userState: hex(layer.userState?.hex ?? ""),
    };
  }
  return datagramMessageOf(layer) as StreamMessage;
}

function nodeOf(fields: Fields): NodeRecord {
  return {
    name: fields.Name,
    endpoint: { ip: ipOf(fields.Addr), port: fields.Port },
    meta: hex(fields.Meta?.hex ?? ""),
    incarnation: fields.Incarnation,
    state: RECORD_STATES[fields.State] ?? expect.fail("State"),
    versions: versionsOf(fields.Vsn),
  };
}

function sourceOf(fields: Fields) {
  if (fields.SourceAddr === undefined) return {};
  return { source: { endpoint: { ip: ipOf(fields.SourceAddr), port: fields.SourcePort }, node: fields.SourceNode } };
}

function ipOf(bytes: Bytes) {
  return parseIp(bytes.ip ?? "") ?? expect.fail("no address");
}

function versionsOf(bytes: Bytes): Versions {
  const [protocolMin = 0, protocolMax = 0, protocolCurrent = 0, delegateMin = 0, delegateMax = 0, delegateCurrent = 0] =
    hex(bytes.hex);
  return { protocolMin, protocolMax, protocolCurrent, delegateMin, delegateMax, delegateCurrent };
}
