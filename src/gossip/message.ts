/** The messages of hashicorp/memberlist as values. Bytes: the codecs beside this file; meaning: the swim machine. */
import type { Ip } from "../net/ip.ts";

/** Where a member listens, UDP and TCP alike. */
export interface Endpoint {
  readonly ip: Ip;
  readonly port: number;
}

/** Vsn: protocol and delegate versions, always six bytes on the wire. */
export interface Versions {
  readonly protocolMin: number;
  readonly protocolMax: number;
  readonly protocolCurrent: number;
  readonly delegateMin: number;
  readonly delegateMax: number;
  readonly delegateCurrent: number;
}

/** Who asks, so that the answer need not go to the datagram's source. */
export interface PingSource {
  readonly endpoint: Endpoint;
  readonly node: string;
}

export interface Ping {
  readonly kind: "ping";
  readonly seqNo: number;
  readonly node: string;
  readonly source?: PingSource;
}

export interface IndirectPing {
  readonly kind: "indirect-ping";
  readonly seqNo: number;
  readonly target: Endpoint;
  readonly node: string;
  readonly wantsNack: boolean;
  readonly source?: PingSource;
}

export interface Ack {
  readonly kind: "ack";
  readonly seqNo: number;
  /** Absent and empty are the same. */
  readonly payload: Uint8Array;
}

export interface Nack {
  readonly kind: "nack";
  readonly seqNo: number;
}

export interface Suspect {
  readonly kind: "suspect";
  readonly incarnation: number;
  readonly node: string;
  readonly from: string;
}

export interface Alive {
  readonly kind: "alive";
  readonly incarnation: number;
  readonly node: string;
  /** Port 0 means the receiver's own port. */
  readonly endpoint: Endpoint;
  readonly meta: Uint8Array;
  /** Absent when the sender wrote fewer than six bytes: such an alive is ignored. */
  readonly versions?: Versions;
}

/** `from` equal to `node` means that the node left by itself. */
export interface Dead {
  readonly kind: "dead";
  readonly incarnation: number;
  readonly node: string;
  readonly from: string;
}

export interface User {
  readonly kind: "user";
  readonly payload: Uint8Array;
}

/** States as they stand in a push/pull record: 0, 1, 2, 3. */
export const RECORD_STATES = ["alive", "suspect", "dead", "left"] as const;
export type RecordState = (typeof RECORD_STATES)[number];

export interface NodeRecord {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly meta: Uint8Array;
  readonly incarnation: number;
  readonly state: RecordState;
  readonly versions?: Versions;
}

export interface PushPull {
  readonly kind: "push-pull";
  readonly isJoin: boolean;
  readonly nodes: readonly NodeRecord[];
  readonly userState: Uint8Array;
}

export interface RemoteError {
  readonly kind: "error";
  readonly text: string;
}

/** What may stand in a datagram, compound and wrappers already taken apart. */
export type DatagramMessage = Ping | IndirectPing | Ack | Nack | Suspect | Alive | Dead | User;
/** What may stand on a stream. */
export type StreamMessage = Ping | Ack | User | PushPull | RemoteError;
