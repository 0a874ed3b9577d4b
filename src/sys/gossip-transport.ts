/** The real network under gossip: UDP and TCP on one address and port, for the driver in src/gossip. */
import { ArpeggioError, errnoOf } from "../base/errors.ts";
import type { Endpoint } from "../gossip/message.ts";
import type { GossipStream, StreamHandler, Transport, TransportHandler, Turns } from "../gossip/ports.ts";
import { StreamTransport } from "./stream-transport.ts";
import { UdpTransport } from "./udp-transport.ts";

/** With port 0 the kernel chooses UDP's; TCP's twin may be taken by somebody else. */
const PORT_TRIES = 10;

/** Node's loop offers readable sockets between timers and immediates. */
export const NODE_TURNS: Turns = { afterReads: (callback) => void setImmediate(callback) };

/** @throws ERR_BIND_ADDRESS when the address is none of this host, ERR_LISTEN when the port is taken or forbidden */
export async function openGossipTransport(at: Endpoint): Promise<Transport> {
  for (let tries = 1; ; tries++) {
    try {
      return await openBoth(at);
    } catch (cause) {
      const errno = errnoOf(cause);
      if (at.port === 0 && errno === "EADDRINUSE" && tries < PORT_TRIES) continue;
      if (errno === "EADDRNOTAVAIL") {
        throw new ArpeggioError("ERR_BIND_ADDRESS", `${at.ip} is no address of this host`, { cause });
      }
      throw new ArpeggioError("ERR_LISTEN", `cannot listen on ${at.ip} port ${at.port}: ${errno}`, { cause });
    }
  }
}

async function openBoth(at: Endpoint): Promise<Transport> {
  const udp = await UdpTransport.open(at);
  try {
    return new GossipTransport(udp, await StreamTransport.open(udp.local));
  } catch (error) {
    await udp.close();
    throw error;
  }
}

class GossipTransport implements Transport {
  readonly #udp: UdpTransport;
  readonly #streams: StreamTransport;

  constructor(udp: UdpTransport, streams: StreamTransport) {
    this.#udp = udp;
    this.#streams = streams;
  }

  get local(): Endpoint {
    return this.#udp.local;
  }

  get hasUnread(): boolean {
    return this.#udp.hasUnread;
  }

  listen(handler: TransportHandler): void {
    this.#udp.listen(handler);
    this.#streams.listen((stream) => handler.accepted(stream));
  }

  sendDatagram(to: Endpoint, bytes: Uint8Array): void {
    this.#udp.send(to, bytes);
  }

  dial(to: Endpoint, handler: StreamHandler): GossipStream {
    return this.#streams.dial(to, handler);
  }

  async close(): Promise<void> {
    await Promise.all([this.#udp.close(), this.#streams.close()]);
  }
}
