/** The transport of simulation and tests: one process's socket pair on a memory network. */
import type { MemoryHost } from "./memory-host.ts";
import { type Bound, type MemoryNetwork, RETRANSMIT_MS } from "./memory-network.ts";
import type { Endpoint } from "./message.ts";
import type { GossipStream, StreamHandler, Transport, TransportHandler } from "./ports.ts";
import type { DialFailure } from "./swim-event.ts";

/** Ports of dialling sockets; the number says nothing to anybody. */
const EPHEMERAL_PORT = 40_000;
/** Longer than any time limit of gossip. */
const MAX_TRIES = 300;

export class MemoryTransport implements Transport, Bound {
  readonly local: Endpoint;
  readonly host: MemoryHost;
  readonly #network: MemoryNetwork;
  readonly #streams = new Set<MemoryStream>();
  #handler: TransportHandler | undefined;

  constructor(network: MemoryNetwork, host: MemoryHost, local: Endpoint) {
    this.#network = network;
    this.host = host;
    this.local = local;
  }

  listen(handler: TransportHandler): void {
    this.#handler = handler;
    this.#network.bind(this.local, this);
    this.host.whenKilled(() => this.#reset());
  }

  sendDatagram(to: Endpoint, bytes: Uint8Array): void {
    if (!this.host.isDead) this.#network.send(this.local, to, bytes);
  }

  dial(to: Endpoint, handler: StreamHandler): GossipStream {
    const from: Endpoint = { ip: this.local.ip, port: EPHEMERAL_PORT };
    const near = new MemoryStream(this.#network, this.host, to, handler);
    this.#track(near);
    this.#connect(near, from, to);
    return near;
  }

  datagram(from: Endpoint, bytes: Uint8Array): void {
    this.#handler?.datagram(from, bytes);
  }

  accept(stream: GossipStream): StreamHandler | undefined {
    return this.#handler?.accepted(stream);
  }

  close(): Promise<void> {
    this.#network.unbind(this.local, this);
    for (const stream of this.#streams) stream.close();
    this.#handler = undefined;
    return Promise.resolve();
  }

  /** The kernel of a process that ended tells its peers; a machine without power tells nobody. */
  #reset(): void {
    this.#network.unbind(this.local, this);
    for (const stream of this.#streams) stream.reset();
  }

  /** SYN until somebody says something; the dialler's own time limit ends it. */
  #connect(near: MemoryStream, from: Endpoint, to: Endpoint): void {
    if (near.isClosed || this.host.isDead) return;
    this.#network.clock.schedule(this.#network.segmentDelayMs(), () => {
      if (!this.#network.isReachable(from.ip, to.ip, "tcp") || !this.#network.isReachable(to.ip, from.ip, "tcp")) {
        this.#network.clock.schedule(RETRANSMIT_MS, () => this.#connect(near, from, to));
        return;
      }
      const listener = this.#network.listener(to);
      if (!(listener instanceof MemoryTransport)) return near.end("refused");
      listener.#acceptFrom(near, from);
    });
  }

  /** The kernel accepts, whatever the process does; the process hears of it when it reads. */
  #acceptFrom(near: MemoryStream, from: Endpoint): void {
    const far = new MemoryStream(this.#network, this.host, from);
    this.#track(far);
    near.connect(far);
    far.connect(near);
    this.host.deliver(() => {
      const handler = this.accept(far);
      if (handler === undefined) far.close();
      else far.hear(handler);
    });
    near.opened();
  }

  #track(stream: MemoryStream): void {
    for (const old of this.#streams) if (old.isClosed) this.#streams.delete(old);
    this.#streams.add(stream);
  }
}

type Segment = { readonly bytes?: Uint8Array; readonly dueMs: number };

/** One end of a connection: what is written arrives at the other end, in order, and again after a cut was mended. */
class MemoryStream implements GossipStream {
  readonly remote: Endpoint;
  readonly #network: MemoryNetwork;
  readonly #host: MemoryHost;
  readonly #segments: Segment[] = [];
  #handler: StreamHandler | undefined;
  #peer: MemoryStream | undefined;
  #isSending = false;
  isClosed = false;

  constructor(network: MemoryNetwork, host: MemoryHost, remote: Endpoint, handler?: StreamHandler) {
    this.#network = network;
    this.#host = host;
    this.remote = remote;
    this.#handler = handler;
  }

  write(bytes: Uint8Array): void {
    if (!this.isClosed) this.#push({ bytes, dueMs: this.#dueMs() });
  }

  close(): void {
    if (this.isClosed) return;
    this.#push({ dueMs: this.#dueMs() });
    this.isClosed = true;
    this.#handler = undefined;
  }

  connect(peer: MemoryStream): void {
    this.#peer = peer;
    this.#send();
  }

  hear(handler: StreamHandler): void {
    this.#handler = handler;
  }

  opened(): void {
    this.#host.deliver(() => this.#handler?.opened?.());
  }

  reset(): void {
    this.#segments.length = 0;
    this.close();
  }

  end(failure: DialFailure): void {
    this.#host.deliver(() => {
      const handler = this.#handler;
      this.isClosed = true;
      this.#handler = undefined;
      handler?.closed(failure);
    });
  }

  #receive(bytes: Uint8Array): void {
    this.#host.deliver(() => this.#handler?.data(bytes));
  }

  #dueMs(): number {
    return this.#network.clock.nowMs() + this.#network.segmentDelayMs();
  }

  #push(segment: Segment): void {
    this.#segments.push(segment);
    this.#send();
  }

  #send(): void {
    const peer = this.#peer;
    const [first] = this.#segments;
    if (peer === undefined || first === undefined || this.#isSending) return;
    this.#isSending = true;
    this.#network.clock.schedule(first.dueMs - this.#network.clock.nowMs(), () => this.#arrive(peer, first));
  }

  #arrive(peer: MemoryStream, segment: Segment, tries = 0): void {
    if (!this.#network.isReachable(peer.remote.ip, this.remote.ip, "tcp")) {
      if (tries >= MAX_TRIES) return;
      this.#network.clock.schedule(RETRANSMIT_MS, () => this.#arrive(peer, segment, tries + 1));
      return;
    }
    this.#segments.shift();
    this.#isSending = false;
    if (segment.bytes === undefined) peer.end("closed");
    else peer.#receive(segment.bytes);
    this.#send();
  }
}
