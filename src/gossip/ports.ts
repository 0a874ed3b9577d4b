/** What the driver needs from the system, each with an in-memory twin in this folder. */
import type { Endpoint } from "./message.ts";
import type { DialFailure } from "./swim-event.ts";

/** One TCP connection. Nothing here throws; after `closed` nothing more is called back. */
export interface GossipStream {
  readonly remote: Endpoint;
  write(bytes: Uint8Array): void;
  /** Sends what was written, then ends both directions. Idempotent. */
  close(): void;
}

/** How a stream tells its user what happens on it. */
export interface StreamHandler {
  /** A dialled connection stands; never within `dial` itself. An accepted one is told by `accepted`. */
  opened?(): void;
  data(bytes: Uint8Array): void;
  /** The peer ended or reset the stream, or dialling failed; the last call. */
  closed(failure: DialFailure): void;
}

export interface TransportHandler {
  datagram(from: Endpoint, bytes: Uint8Array): void;
  /** An ICMP error or a send error that means the remote, such as EHOSTUNREACH or ECONNREFUSED. */
  sendFailed(to: Endpoint): void;
  /** A peer dialled; the returned handler hears what comes. */
  accepted(stream: GossipStream): StreamHandler;
}

/** UDP and TCP on one port of one address. Datagrams leave from the listening socket, because peers know us by its address. */
export interface Transport {
  /** The address bound, with the port really taken. */
  readonly local: Endpoint;
  /** Something has been read that the handler is given in the next turn only. */
  readonly hasUnread?: boolean;
  /** Called once, before anything is sent. */
  listen(handler: TransportHandler): void;
  sendDatagram(to: Endpoint, bytes: Uint8Array): void;
  /** Never fails at once: a failure is told to the handler later. */
  dial(to: Endpoint, handler: StreamHandler): GossipStream;
  close(): Promise<void>;
}

/** The part of an event loop that the driver rule needs (DESIGN D16). */
export interface Turns {
  /** Calls back once the sockets that are readable now have been offered for reading (setImmediate, in Node's loop). */
  afterReads(callback: () => void): void;
}
