/** The UDP half of gossip: one socket, bound to one address and port, that sends and receives. Nothing here throws after opening. */
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import type { Endpoint } from "../gossip/message.ts";
import { familyOf, parseIp } from "../net/ip.ts";
import { bareBytes } from "./bare-bytes.ts";

/** As memberlist asks for (net_transport.go:20-28): what arrives while the process stands still must not be lost. The kernel may give less. */
const RECEIVE_BUFFER_BYTES = 2 * 2 ** 20;
/** Node reads dozens of datagrams in one turn of its loop. What is not handled in this time waits for the next turn: whole turns have 10 ms (DESIGN §5). */
const HANDLED_IN_TURN_MS = 3;
/** Node reads the datagrams of one turn back to back. What comes after such a pause is of another one, which costs no immediate to find out. */
const PAUSE_MS = 1;
/** More are lost, as those for which a socket's buffer has no room. */
const WAITING_AT_MOST = 1_024;

interface Datagram {
  readonly bytes: Uint8Array;
  readonly from: RemoteInfo;
}

export interface UdpHandler {
  datagram(from: Endpoint, bytes: Uint8Array): void;
  sendFailed(to: Endpoint): void;
}

export class UdpTransport {
  readonly local: Endpoint;
  readonly #socket: Socket;
  #handler: UdpHandler | undefined;
  #waiting: Datagram[] = [];
  /** When the first datagram of this turn was handled, and when the last one was done with. */
  #turnBeganMs = Number.NEGATIVE_INFINITY;
  #doneMs = Number.NEGATIVE_INFINITY;

  private constructor(socket: Socket, local: Endpoint) {
    this.#socket = socket;
    this.local = local;
    socket.on("message", (bytes, from) => this.#received(bytes, from));
    // A receive error is about one datagram (an ICMP answer, no memory); a socket that fails for good shows as silence.
    socket.on("error", () => {});
  }

  /** @param at port 0: any free one. Rejects with the system's error when the address cannot be bound. */
  static async open(at: Endpoint): Promise<UdpTransport> {
    const isIpv6 = familyOf(at.ip) === 6;
    const socket = createSocket({
      type: isIpv6 ? "udp6" : "udp4",
      ipv6Only: isIpv6,
      recvBufferSize: RECEIVE_BUFFER_BYTES,
      // Addresses need no look-up; Node's own would wait for the next turn of the loop.
      lookup: (address, _options, callback) => callback(null, address, familyOf(at.ip)),
    });
    // `once` rejects on "error".
    const listening = once(socket, "listening");
    socket.bind({ address: at.ip, port: at.port, exclusive: true });
    await listening;
    return new UdpTransport(socket, { ip: at.ip, port: socket.address().port });
  }

  listen(handler: UdpHandler): void {
    this.#handler = handler;
  }

  /** Datagrams that were read and wait for the next turn. */
  get hasUnread(): boolean {
    return this.#waiting.length > 0;
  }

  /** A datagram that could not be handed to the kernel is told to the handler, never at once. */
  send(to: Endpoint, bytes: Uint8Array): void {
    if (to.port === 0 || familyOf(to.ip) !== familyOf(this.local.ip)) {
      // Node throws for the one, and fails unclearly for the other.
      setImmediate(() => this.#handler?.sendFailed(to));
      return;
    }
    this.#socket.send(bytes, to.port, to.ip, (error) => {
      if (error !== null) this.#handler?.sendFailed(to);
    });
  }

  async close(): Promise<void> {
    this.#handler = undefined;
    this.#waiting = [];
    const closed = once(this.#socket, "close");
    this.#socket.close();
    await closed;
  }

  #received(bytes: Uint8Array, from: RemoteInfo): void {
    if (this.#waiting.length > 0 || !this.#hasTime()) return this.#wait({ bytes, from });
    this.#handle({ bytes, from });
    this.#doneMs = performance.now();
  }

  #hasTime(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#doneMs > PAUSE_MS) this.#turnBeganMs = nowMs;
    return nowMs - this.#turnBeganMs < HANDLED_IN_TURN_MS;
  }

  #wait(datagram: Datagram): void {
    if (this.#waiting.length >= WAITING_AT_MOST) return;
    // Within an immediate another one is of the next turn.
    if (this.#waiting.length === 0) setImmediate(() => setImmediate(() => this.#handleWaiting()));
    this.#waiting.push(datagram);
  }

  /** In their order: what is read meanwhile comes after them. */
  #handleWaiting(): void {
    const waiting = this.#waiting.values();
    let handled = 0;
    this.#turnBeganMs = performance.now();
    while (performance.now() - this.#turnBeganMs < HANDLED_IN_TURN_MS) {
      const next = waiting.next();
      if (next.done === true) break;
      handled++;
      this.#handle(next.value);
    }
    this.#doneMs = performance.now();
    this.#waiting = this.#waiting.slice(handled);
    if (this.#waiting.length > 0) setImmediate(() => this.#handleWaiting());
  }

  #handle({ bytes, from }: Datagram): void {
    // A link-local sender has a zone in its address; members are never known by such.
    const ip = parseIp(from.address);
    if (ip !== undefined) this.#handler?.datagram({ ip, port: from.port }, bareBytes(bytes));
  }
}
