/** UDP and TCP between the nodes of a world: latency, loss, order, cuts, and the kernel's part of TCP. */
import { copyOf } from "../../src/base/bytes.ts";
import type { VirtualClock } from "../../src/base/clock.ts";
import type { Random } from "../../src/base/random.ts";
import type { Endpoint } from "../../src/gossip/message.ts";
import type { Ip } from "../../src/net/ip.ts";

export type GossipProtocol = "udp" | "tcp";

/** What the network knows of a machine. */
export interface Station {
  readonly name: string;
  /** Powered, and its link carries frames. */
  readonly isReachable: boolean;
  /** Who has the gossip port open; undefined: the kernel answers with RST. */
  readonly listener: NetworkListener | undefined;
}

export interface NetworkListener {
  datagram(from: Endpoint, bytes: Uint8Array): void;
  /** A peer dialled and the kernel accepted; gives the end of the stream that belongs to the process. */
  accept(from: Endpoint, far: StreamEnd): StreamEnd;
}

/** One end of an established connection, as the network calls it. */
export interface StreamEnd {
  data(bytes: Uint8Array): void;
  ended(isReset: boolean): void;
}

export interface NetworkFaults {
  lossRate: number;
  duplicateRate: number;
  /** Further delay, uniform from 0 to this, so that datagrams overtake each other. */
  jitterMs: number;
  /** One datagram in a hundred may be this late. */
  tailMs: number;
}

const LATENCY_MS = 0.2;
/** Linux: the first retransmission after 200 ms, then doubled. */
const RETRANSMIT_MS = 200;
const RETRANSMIT_MAX_MS = 6_400;

export class GossipNetwork {
  readonly faults: NetworkFaults = { lossRate: 0, duplicateRate: 0, jitterMs: 0, tailMs: 0 };
  /** `from>to:udp` or `from>to:tcp`, by node name. */
  readonly cuts = new Set<string>();
  readonly #clock: VirtualClock;
  readonly #random: Random;
  readonly #stations = new Map<Ip, Station>();
  readonly #deafUntilMs = new Map<string, number>();
  /** Every datagram that leaves, before any fault: for checkers and the trace. */
  onDatagram: (from: string, to: Endpoint, bytes: Uint8Array) => void = () => {};

  /** What processes write to their streams. */
  onStream: (from: string, bytes: Uint8Array) => void = () => {};

  constructor(clock: VirtualClock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** An address belongs to one station at a time. */
  assign(ip: Ip, station: Station): void {
    this.#stations.set(ip, station);
  }

  release(ip: Ip): void {
    this.#stations.delete(ip);
  }

  loseAllOf(name: string, durationMs: number): void {
    this.#deafUntilMs.set(name, this.#clock.nowMs() + durationMs);
  }

  isPassing(from: Station, to: Station, protocol: GossipProtocol): boolean {
    if (!from.isReachable || !to.isReachable) return false;
    if (this.#isDeaf(from) || this.#isDeaf(to)) return false;
    return this.cuts.size === 0 || !this.cuts.has(`${from.name}>${to.name}:${protocol}`);
  }

  sendDatagram(from: Station, local: Endpoint, to: Endpoint, bytes: Uint8Array): void {
    this.onDatagram(from.name, to, bytes);
    const { duplicateRate } = this.faults;
    const copies = duplicateRate > 0 && this.#random.float() < duplicateRate ? 2 : 1;
    const datagram = copyOf(bytes);
    for (let copy = 0; copy < copies; copy++) {
      const target = this.#stations.get(to.ip);
      if (target === undefined || !this.isPassing(from, target, "udp") || this.#isLost()) continue;
      this.#clock.schedule(this.#delayMs(), () => {
        if (this.#stations.get(to.ip) === target && target.isReachable) target.listener?.datagram(local, datagram);
      });
    }
  }

  /** Sends until it passes, later and later: TCP loses time, not bytes. `isGivenUp` stops it, or some 13 s in vain. */
  deliverReliably(
    from: Station,
    to: Endpoint,
    isGivenUp: () => boolean,
    arrive: (at: Station) => void,
    waitMs = RETRANSMIT_MS,
  ): void {
    const target = this.#stations.get(to.ip);
    if (target !== undefined && this.isPassing(from, target, "tcp") && !this.#isLost()) {
      this.#clock.schedule(LATENCY_MS, () => {
        if (!isGivenUp()) arrive(target);
      });
      return;
    }
    this.#clock.schedule(waitMs, () => {
      if (!isGivenUp() && waitMs < RETRANSMIT_MAX_MS) this.deliverReliably(from, to, isGivenUp, arrive, 2 * waitMs);
    });
  }

  #isDeaf(station: Station): boolean {
    return this.#deafUntilMs.size > 0 && (this.#deafUntilMs.get(station.name) ?? -1) > this.#clock.nowMs();
  }

  #isLost(): boolean {
    return this.faults.lossRate > 0 && this.#random.float() < this.faults.lossRate;
  }

  #delayMs(): number {
    const { jitterMs, tailMs } = this.faults;
    let delayMs = LATENCY_MS;
    if (jitterMs > 0) delayMs += this.#random.float() * jitterMs;
    if (tailMs > 0 && this.#random.float() < 0.01) delayMs += this.#random.float() * tailMs;
    return delayMs;
  }
}
