/** The gossip sockets of one process: a `Transport` on the simulated network, read by the process's own loop. */
import type { Endpoint } from "../../src/gossip/message.ts";
import type { GossipStream, StreamHandler, Transport, TransportHandler } from "../../src/gossip/ports.ts";
import type { GossipNetwork, NetworkListener, Station, StreamEnd } from "./gossip-network.ts";
import type { ProcessLoop } from "./process-loop.ts";

/** Datagrams that a socket's receive buffer holds (about 208 KiB of small packets). */
const RECEIVE_QUEUE_DATAGRAMS = 256;

export class ProcessTransport implements Transport, NetworkListener {
  readonly local: Endpoint;
  readonly #isRefused: () => boolean;
  readonly #network: GossipNetwork;
  readonly #station: Station;
  readonly #loop: ProcessLoop;
  readonly #streams = new Set<ProcessStream>();
  #handler: TransportHandler | undefined;
  #queued = 0;
  #isClosed = false;

  /** `isRefused`: asked of every datagram, whether the kernel does not take it. */
  constructor(
    network: GossipNetwork,
    station: Station,
    loop: ProcessLoop,
    local: Endpoint,
    isRefused: () => boolean = () => false,
  ) {
    this.#network = network;
    this.#station = station;
    this.#loop = loop;
    this.local = local;
    this.#isRefused = isRefused;
  }

  get isListening(): boolean {
    return this.#handler !== undefined && !this.#isClosed;
  }

  listen(handler: TransportHandler): void {
    this.#handler = handler;
  }

  sendDatagram(to: Endpoint, bytes: Uint8Array): void {
    if (this.#isClosed) return;
    if (!this.#isRefused()) return this.#network.sendDatagram(this.#station, this.local, to, bytes);
    // As of any datagram that could not be sent, whatever the error.
    this.#loop.post(() => {
      if (this.isListening) this.#handler?.sendFailed(to);
    });
  }

  datagram(from: Endpoint, bytes: Uint8Array): void {
    if (!this.isListening || this.#queued >= RECEIVE_QUEUE_DATAGRAMS) return;
    this.#queued++;
    this.#loop.post(() => {
      this.#queued--;
      if (this.isListening) this.#handler?.datagram(from, bytes);
    });
  }

  /** The machine stood still and its buffers were lost. */
  forgetQueued(): void {
    this.#queued = 0;
  }

  dial(to: Endpoint, handler: StreamHandler): GossipStream {
    const stream = new ProcessStream(this.#network, this.#station, this.#loop, to, handler);
    this.#streams.add(stream);
    stream.connect(this.local);
    return stream;
  }

  accept(from: Endpoint, far: StreamEnd): StreamEnd {
    const stream = new ProcessStream(this.#network, this.#station, this.#loop, from, undefined);
    this.#streams.add(stream);
    stream.establish(far);
    this.#loop.postReliably(() => {
      if (this.isListening && this.#handler !== undefined) stream.handle(this.#handler.accepted(stream));
    });
    return stream;
  }

  /** The process was killed: its kernel resets every connection. */
  reset(): void {
    this.#isClosed = true;
    for (const stream of this.#streams) stream.reset();
  }

  close(): Promise<void> {
    this.#isClosed = true;
    for (const stream of this.#streams) stream.close();
    return Promise.resolve();
  }
}

class ProcessStream implements GossipStream, StreamEnd {
  readonly remote: Endpoint;
  readonly #network: GossipNetwork;
  readonly #station: Station;
  readonly #loop: ProcessLoop;
  #handler: StreamHandler | undefined;
  #far: StreamEnd | undefined;
  /** What could not be sent yet, and what arrived before somebody listened. */
  #outgoing: (() => void)[] = [];
  #unread: Uint8Array[] = [];
  #isSending = false;
  #isOver = false;

  constructor(
    network: GossipNetwork,
    station: Station,
    loop: ProcessLoop,
    remote: Endpoint,
    handler: StreamHandler | undefined,
  ) {
    this.#network = network;
    this.#station = station;
    this.#loop = loop;
    this.remote = remote;
    this.#handler = handler;
  }

  connect(local: Endpoint): void {
    this.#reliably((target) => {
      const listener = target.listener;
      if (listener === undefined) {
        this.#finish("refused");
        return;
      }
      this.establish(listener.accept(local, this));
      this.#loop.postReliably(() => this.#handler?.opened?.());
    });
  }

  establish(far: StreamEnd): void {
    this.#far = far;
    this.#pump();
  }

  handle(handler: StreamHandler): void {
    this.#handler = handler;
    for (const bytes of this.#unread.splice(0)) handler.data(bytes);
  }

  write(bytes: Uint8Array): void {
    const copy = bytes.slice();
    this.#network.onStream(this.#station.name, copy);
    this.#outgoing.push(() => this.#far?.data(copy));
    this.#pump();
  }

  close(): void {
    if (this.#isOver) return;
    this.#outgoing.push(() => {
      this.#far?.ended(false);
      this.#isOver = true;
    });
    this.#pump();
  }

  reset(): void {
    this.#far?.ended(true);
    this.#isOver = true;
  }

  data(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#loop.postReliably(() => {
      if (this.#handler === undefined) this.#unread.push(bytes);
      else this.#handler.data(bytes);
    });
  }

  ended(): void {
    this.#finish("closed");
  }

  #finish(failure: "closed" | "refused"): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#loop.postReliably(() => this.#handler?.closed(failure));
  }

  /** One segment after the other, in order. */
  #pump(): void {
    if (this.#isSending || this.#far === undefined) return;
    const next = this.#outgoing.shift();
    if (next === undefined) return;
    this.#isSending = true;
    this.#reliably(() => {
      this.#isSending = false;
      next();
      this.#pump();
    });
  }

  #reliably(arrive: (at: Station) => void): void {
    this.#network.deliverReliably(this.#station, this.remote, () => this.#isOver, arrive);
  }
}
