/** The structs and type bytes of memberlist's protocol (memberlist v0.5.1 net.go:52-206), each in the order of its Go declaration. */
import { RecordCodec } from "./record-codec.ts";

/** First byte of every message. */
export const TYPE = {
  ping: 0,
  indirectPing: 1,
  ack: 2,
  suspect: 3,
  alive: 4,
  dead: 5,
  pushPull: 6,
  compound: 7,
  user: 8,
  compress: 9,
  encrypt: 10,
  nack: 11,
  crc: 12,
  error: 13,
  label: 244,
} as const;

const SOURCE = [
  { name: "SourceAddr", kind: "bytes", isOmittedWhenEmpty: true },
  { name: "SourcePort", kind: "u16", isOmittedWhenEmpty: true },
  { name: "SourceNode", kind: "text", isOmittedWhenEmpty: true },
] as const;

export const PING = new RecordCodec([{ name: "SeqNo", kind: "u32" }, { name: "Node", kind: "text" }, ...SOURCE]);

export const INDIRECT_PING = new RecordCodec([
  { name: "SeqNo", kind: "u32" },
  { name: "Target", kind: "bytes" },
  { name: "Port", kind: "u16" },
  { name: "Node", kind: "text" },
  { name: "Nack", kind: "bool" },
  ...SOURCE,
]);

export const ACK = new RecordCodec([
  { name: "SeqNo", kind: "u32" },
  { name: "Payload", kind: "bytes" },
]);

export const NACK = new RecordCodec([{ name: "SeqNo", kind: "u32" }]);

/** Suspect and dead have the same fields. */
export const ACCUSATION = new RecordCodec([
  { name: "Incarnation", kind: "u32" },
  { name: "Node", kind: "text" },
  { name: "From", kind: "text" },
]);

export const ALIVE = new RecordCodec([
  { name: "Incarnation", kind: "u32" },
  { name: "Node", kind: "text" },
  { name: "Addr", kind: "bytes" },
  { name: "Port", kind: "u16" },
  { name: "Meta", kind: "bytes" },
  { name: "Vsn", kind: "bytes" },
]);

export const PUSH_PULL_HEADER = new RecordCodec([
  { name: "Nodes", kind: "int" },
  { name: "UserStateLen", kind: "int" },
  { name: "Join", kind: "bool" },
]);

/** Unlike alive, suspect and dead it calls the node `Name`. */
export const PUSH_PULL_NODE = new RecordCodec([
  { name: "Name", kind: "text" },
  { name: "Addr", kind: "bytes" },
  { name: "Port", kind: "u16" },
  { name: "Meta", kind: "bytes" },
  { name: "Incarnation", kind: "u32" },
  { name: "State", kind: "int" },
  { name: "Vsn", kind: "bytes" },
]);

export const USER_HEADER = new RecordCodec([{ name: "UserMsgLen", kind: "int" }]);

export const COMPRESS = new RecordCodec([
  { name: "Algo", kind: "u8" },
  { name: "Buf", kind: "bytes" },
]);

export const ERROR = new RecordCodec([{ name: "Error", kind: "text" }]);
