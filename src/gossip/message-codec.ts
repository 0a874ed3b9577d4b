/** memberlist's messages between values and bytes, wrappers (compound, compression, checksum, encryption) left to others. Pure. */
import { type Decoded, decoded, dropped } from "../base/decoded.ts";
import { type Ip, ipBytes, ipOfBytes } from "../net/ip.ts";
import { ByteWriter } from "./byte-writer.ts";
import type { GossipDrop } from "./drop.ts";
import {
  type Alive,
  type DatagramMessage,
  type Endpoint,
  type IndirectPing,
  type NodeRecord,
  type Ping,
  type PingSource,
  RECORD_STATES,
  type StreamMessage,
  type Versions,
} from "./message.ts";
import { MsgpackReader } from "./msgpack-reader.ts";
import {
  ACCUSATION,
  ACK,
  ALIVE,
  ERROR,
  INDIRECT_PING,
  NACK,
  PING,
  PUSH_PULL_HEADER,
  PUSH_PULL_NODE,
  TYPE,
  USER_HEADER,
} from "./wire-records.ts";

/** Fewer bytes crash or poison Go peers up to 0.6.0, so a member whose versions are unknown is given MetalLB's. */
const DEFAULT_VERSIONS = Uint8Array.of(1, 5, 2, 0, 0, 0);
const NO_BYTES = new Uint8Array(0);

/** A message as it stands in a datagram, from its type byte on. */
export function encodeMessage(message: DatagramMessage): Uint8Array {
  const writer = new ByteWriter();
  switch (message.kind) {
    case "ping":
      writePing(writer, message);
      break;
    case "indirect-ping":
      writer.u8(TYPE.indirectPing);
      INDIRECT_PING.encode(writer, {
        SeqNo: message.seqNo,
        Target: ipBytes(message.target.ip),
        Port: message.target.port,
        Node: message.node,
        Nack: message.wantsNack,
        ...sourceFields(message.source),
      });
      break;
    case "ack":
      writer.u8(TYPE.ack);
      ACK.encode(writer, { SeqNo: message.seqNo, Payload: message.payload });
      break;
    case "nack":
      writer.u8(TYPE.nack);
      NACK.encode(writer, { SeqNo: message.seqNo });
      break;
    case "suspect":
    case "dead":
      writer.u8(TYPE[message.kind]);
      ACCUSATION.encode(writer, { Incarnation: message.incarnation, Node: message.node, From: message.from });
      break;
    case "alive":
      writer.u8(TYPE.alive);
      ALIVE.encode(writer, {
        Incarnation: message.incarnation,
        Node: message.node,
        Addr: ipBytes(message.endpoint.ip),
        Port: message.endpoint.port,
        Meta: message.meta,
        Vsn: versionBytes(message.versions),
      });
      break;
    case "user":
      writer.u8(TYPE.user);
      writer.bytes(message.payload);
      break;
  }
  return writer.finish();
}

/** A message as it stands on a stream, from its type byte on. */
export function encodeStreamMessage(message: StreamMessage): Uint8Array {
  const writer = new ByteWriter();
  switch (message.kind) {
    case "ping":
      writePing(writer, message);
      break;
    case "ack":
      return encodeMessage(message);
    case "user":
      writer.u8(TYPE.user);
      USER_HEADER.encode(writer, { UserMsgLen: message.payload.length });
      writer.bytes(message.payload);
      break;
    case "push-pull":
      writer.u8(TYPE.pushPull);
      PUSH_PULL_HEADER.encode(writer, {
        Nodes: message.nodes.length,
        UserStateLen: message.userState.length,
        Join: message.isJoin,
      });
      for (const node of message.nodes) writeNode(writer, node);
      writer.bytes(message.userState);
      break;
    case "error":
      writer.u8(TYPE.error);
      ERROR.encode(writer, { Error: message.text });
      break;
  }
  return writer.finish();
}

/** Reads one bare message; bytes after it are ignored, as Go does. */
export function decodeDatagramMessage(bytes: Uint8Array): Decoded<DatagramMessage, GossipDrop> {
  const reader = new MsgpackReader(bytes, 1);
  const message = readMessage(bytes, reader);
  if (typeof message === "string") return dropped(reader.fault ?? message);
  return reader.fault === undefined ? decoded(message) : dropped(reader.fault);
}

function readMessage(bytes: Uint8Array, reader: MsgpackReader): DatagramMessage | GossipDrop {
  switch (bytes[0]) {
    case undefined:
      return "empty";
    case TYPE.ping:
      return readPing(reader);
    case TYPE.indirectPing:
      return readIndirectPing(reader);
    case TYPE.ack: {
      const { SeqNo, Payload } = ACK.decode(reader);
      return { kind: "ack", seqNo: SeqNo, payload: Payload };
    }
    case TYPE.nack:
      return { kind: "nack", seqNo: NACK.decode(reader).SeqNo };
    case TYPE.suspect:
    case TYPE.dead: {
      const { Incarnation, Node, From } = ACCUSATION.decode(reader);
      const kind = bytes[0] === TYPE.dead ? "dead" : "suspect";
      return { kind, incarnation: Incarnation, node: Node, from: From };
    }
    case TYPE.alive:
      return readAlive(reader);
    case TYPE.user:
      return { kind: "user", payload: new Uint8Array(bytes.subarray(1)) };
    default:
      return "unknown-type";
  }
}

export function readPing(reader: MsgpackReader): Ping {
  const fields = PING.decode(reader);
  return { kind: "ping", seqNo: fields.SeqNo, node: fields.Node, ...sourceOf(fields) };
}

function readIndirectPing(reader: MsgpackReader): IndirectPing | GossipDrop {
  const fields = INDIRECT_PING.decode(reader);
  const target = endpointOf(fields.Target, fields.Port);
  if (target === undefined) return "bad-address";
  return {
    kind: "indirect-ping",
    seqNo: fields.SeqNo,
    target,
    node: fields.Node,
    wantsNack: fields.Nack,
    ...sourceOf(fields),
  };
}

function readAlive(reader: MsgpackReader): Alive | GossipDrop {
  const { Incarnation, Node, Addr, Port, Meta, Vsn } = ALIVE.decode(reader);
  const endpoint = endpointOf(Addr, Port);
  if (endpoint === undefined) return "bad-address";
  return { kind: "alive", incarnation: Incarnation, node: Node, endpoint, meta: Meta, ...versionsOf(Vsn) };
}

/** Undefined for a record without a usable address or with a state that nobody knows: it is passed over, as it tells nothing. */
export function readNode(reader: MsgpackReader): NodeRecord | undefined {
  const { Name, Addr, Port, Meta, Incarnation, State, Vsn } = PUSH_PULL_NODE.decode(reader);
  const endpoint = endpointOf(Addr, Port);
  const state = RECORD_STATES[State];
  if (endpoint === undefined || state === undefined) return undefined;
  return { name: Name, endpoint, meta: Meta, incarnation: Incarnation, state, ...versionsOf(Vsn) };
}

function writePing(writer: ByteWriter, { seqNo, node, source }: Ping): void {
  writer.u8(TYPE.ping);
  PING.encode(writer, { SeqNo: seqNo, Node: node, ...sourceFields(source) });
}

function writeNode(writer: ByteWriter, node: NodeRecord): void {
  PUSH_PULL_NODE.encode(writer, {
    Name: node.name,
    Addr: ipBytes(node.endpoint.ip),
    Port: node.endpoint.port,
    Meta: node.meta,
    Incarnation: node.incarnation,
    State: RECORD_STATES.indexOf(node.state),
    Vsn: versionBytes(node.versions),
  });
}

interface SourceFields {
  readonly SourceAddr: Uint8Array;
  readonly SourcePort: number;
  readonly SourceNode: string;
}

function sourceFields(source: PingSource | undefined): SourceFields {
  if (source === undefined) return { SourceAddr: NO_BYTES, SourcePort: 0, SourceNode: "" };
  return { SourceAddr: ipBytes(source.endpoint.ip), SourcePort: source.endpoint.port, SourceNode: source.node };
}

/** Go answers to the datagram's source unless address and port are both given (net.go:582-587). */
function sourceOf(fields: SourceFields): { readonly source?: PingSource } {
  const endpoint = fields.SourcePort === 0 ? undefined : endpointOf(fields.SourceAddr, fields.SourcePort);
  return endpoint === undefined ? {} : { source: { endpoint, node: fields.SourceNode } };
}

/** A mapped IPv4 address becomes IPv4: Go sends it so when bound to 0.0.0.0. */
function endpointOf(address: Uint8Array, port: number): Endpoint | undefined {
  const ip: Ip | undefined = ipOfBytes(address);
  return ip === undefined ? undefined : { ip, port };
}

/** Go reads the first six bytes of a longer field. */
function versionsOf(bytes: Uint8Array): { readonly versions?: Versions } {
  const [protocolMin, protocolMax, protocolCurrent, delegateMin, delegateMax, delegateCurrent] = bytes;
  if (
    protocolMin === undefined ||
    protocolMax === undefined ||
    protocolCurrent === undefined ||
    delegateMin === undefined ||
    delegateMax === undefined ||
    delegateCurrent === undefined
  ) {
    return {};
  }
  return { versions: { protocolMin, protocolMax, protocolCurrent, delegateMin, delegateMax, delegateCurrent } };
}

function versionBytes(versions: Versions | undefined): Uint8Array {
  if (versions === undefined) return DEFAULT_VERSIONS;
  const { protocolMin, protocolMax, protocolCurrent, delegateMin, delegateMax, delegateCurrent } = versions;
  return Uint8Array.of(protocolMin, protocolMax, protocolCurrent, delegateMin, delegateMax, delegateCurrent);
}
