/** The TCP half of gossip: a listener and dialled connections. Nothing here throws after opening; time limits are the caller's. */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { errnoOf } from "../base/errors.ts";
import type { Endpoint } from "../gossip/message.ts";
import type { GossipStream, StreamHandler } from "../gossip/ports.ts";
import type { DialFailure } from "../gossip/swim-event.ts";
import { familyOf, parseIp } from "../net/ip.ts";
import { bareBytes } from "./bare-bytes.ts";

/** memberlist serves 127 push/pulls at a time; a few more connections may be open while they close. */
const MAX_CONNECTIONS = 160;
/** What peers may have sent on all open connections together: frames are held until they are whole and can be authenticated. */
const MAX_ACCEPTED_BYTES = 64 * 2 ** 20;
/** How long a peer may take to read what we sent before we closed: memberlist's TCPTimeout for local networks. */
const SEND_LIMIT_MS = 10_000;
/** How long a connection whose last byte left us waits for the peer's end, so that a reset does not overtake that byte. */
const LINGER_MS = 1_000;

/** Called for each connection that a peer dialled. */
export type Accept = (stream: GossipStream) => StreamHandler;

export class StreamTransport {
  readonly #server: Server;
  readonly #streams = new Set<SocketStream>();
  #accept: Accept | undefined;
  #acceptedBytes = 0;

  private constructor(server: Server) {
    this.#server = server;
    server.maxConnections = MAX_CONNECTIONS;
    server.on("connection", (socket) => this.#accepted(socket));
    // Accepting can fail for want of descriptors; the next connection tries again.
    server.on("error", () => {});
  }

  /** Rejects with the system's error when the address cannot be bound. */
  static async open(at: Endpoint): Promise<StreamTransport> {
    const server = createServer({ noDelay: true });
    const listening = once(server, "listening");
    server.listen({ host: at.ip, port: at.port, ipv6Only: familyOf(at.ip) === 6, exclusive: true });
    await listening;
    return new StreamTransport(server);
  }

  listen(accept: Accept): void {
    this.#accept = accept;
  }

  dial(to: Endpoint, handler: StreamHandler): GossipStream {
    const socket = connect({ host: to.ip, port: to.port, noDelay: true });
    const stream = this.#track(new SocketStream(socket, to));
    stream.hear(handler);
    return stream;
  }

  async close(): Promise<void> {
    this.#accept = undefined;
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const stream of this.#streams) stream.destroy();
    await closed;
  }

  #accepted(socket: Socket): void {
    const ip = parseIp(socket.remoteAddress ?? "");
    if (this.#accept === undefined || ip === undefined || this.#acceptedBytes > MAX_ACCEPTED_BYTES) {
      socket.destroy();
      return;
    }
    const stream = this.#track(new SocketStream(socket, { ip, port: socket.remotePort ?? 0 }));
    let received = 0;
    socket.on("data", (bytes) => {
      received += bytes.length;
      this.#acceptedBytes += bytes.length;
      if (this.#acceptedBytes > MAX_ACCEPTED_BYTES) stream.destroy();
    });
    socket.once("close", () => (this.#acceptedBytes -= received));
    stream.hear(this.#accept(stream));
  }

  #track(stream: SocketStream): SocketStream {
    this.#streams.add(stream);
    stream.whenOver(() => this.#streams.delete(stream));
    return stream;
  }
}

class SocketStream implements GossipStream {
  readonly remote: Endpoint;
  readonly #socket: Socket;
  #handler: StreamHandler | undefined;
  #hasOpened: boolean;
  #isClosed = false;

  constructor(socket: Socket, remote: Endpoint) {
    this.#socket = socket;
    this.remote = remote;
    this.#hasOpened = !socket.connecting;
    socket.on("data", (bytes) => this.#handler?.data(bareBytes(bytes)));
    socket.on("connect", () => this.#opened());
    socket.on("error", (error) => this.#end(this.#hasOpened ? "closed" : failureOf(errnoOf(error))));
    socket.on("end", () => this.#end("closed"));
    socket.on("close", () => this.#end("closed"));
  }

  hear(handler: StreamHandler): void {
    if (!this.#isClosed) this.#handler = handler;
  }

  write(bytes: Uint8Array): void {
    if (!this.#isClosed) this.#socket.write(bytes);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#handler = undefined;
    if (!this.#hasOpened) {
      this.#socket.destroy();
      return;
    }
    let timeout = setTimeout(() => this.#socket.destroy(), SEND_LIMIT_MS);
    this.#socket.once("close", () => clearTimeout(timeout));
    this.#socket.end(() => {
      clearTimeout(timeout);
      if (!this.#socket.destroyed) timeout = setTimeout(() => this.#socket.destroy(), LINGER_MS);
    });
  }

  /** Ends it without waiting for anything. */
  destroy(): void {
    this.#socket.destroy();
  }

  whenOver(callback: () => void): void {
    this.#socket.once("close", callback);
  }

  #opened(): void {
    this.#hasOpened = true;
    this.#handler?.opened?.();
  }

  /** The last call to the handler; the socket closes by itself after "end" and "error". */
  #end(failure: DialFailure): void {
    const handler = this.#handler;
    this.#isClosed = true;
    this.#handler = undefined;
    handler?.closed(failure);
  }
}

function failureOf(errno: string): DialFailure {
  if (errno === "ECONNREFUSED") return "refused";
  return errno === "ETIMEDOUT" ? "silent" : "unreachable";
}
