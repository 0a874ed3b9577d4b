/** A network in memory, on a virtual clock: latency, loss, duplication, reordering, cuts, and hosts that die or stand still. */
import type { VirtualClock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Ip } from "../net/ip.ts";
import { endpointKey } from "./endpoint-key.ts";
import type { MemoryHost } from "./memory-host.ts";
import type { Endpoint } from "./message.ts";
import type { GossipStream, StreamHandler } from "./ports.ts";

export type Protocol = "udp" | "tcp";

export interface Quality {
  readonly latencyMs: number;
  /** Added to the latency, uniformly from 0 on. */
  readonly jitterMs: number;
  /** Shares of datagrams, 0 to 1. */
  readonly loss: number;
  readonly duplication: number;
  readonly reordering: number;
  /** How much later a reordered datagram comes, at most. */
  readonly reorderingMs: number;
}

export const GOOD_NETWORK: Quality = {
  latencyMs: 0.2,
  jitterMs: 0.2,
  loss: 0,
  duplication: 0,
  reordering: 0,
  reorderingMs: 0,
};

/** Linux sends a lost segment again after at least this. */
export const RETRANSMIT_MS = 200;

/** What is bound to one address and port. */
export interface Bound {
  readonly host: MemoryHost;
  datagram(from: Endpoint, bytes: Uint8Array): void;
  accept(stream: GossipStream): StreamHandler | undefined;
}

export class MemoryNetwork {
  readonly clock: VirtualClock;
  readonly #random: Random;
  readonly #bound = new Map<string, Bound>();
  readonly #cuts = new Set<string>();
  /** Machines that are off: not even a kernel answers. */
  readonly #off = new Set<Ip>();
  #quality: Quality;
  /** Datagrams handed to the network, for tests of silence and rates. */
  datagrams = 0;

  constructor(clock: VirtualClock, random: Random, quality: Quality = GOOD_NETWORK) {
    this.clock = clock;
    this.#random = random;
    this.#quality = quality;
  }

  setQuality(quality: Quality): void {
    this.#quality = quality;
  }

  /** Nothing gets from one to the other any more; the other direction is another cut. */
  cut(from: Ip, to: Ip, protocol: Protocol): void {
    this.#cuts.add(cutKey(from, to, protocol));
  }

  mend(from: Ip, to: Ip, protocol: Protocol): void {
    this.#cuts.delete(cutKey(from, to, protocol));
  }

  /** Cuts both ways, both protocols, between every pair of members of different groups. */
  partition(...groups: readonly (readonly Ip[])[]): void {
    for (const group of groups) {
      const others = groups.filter((other) => other !== group).flat();
      for (const from of group) for (const to of others) for (const protocol of PROTOCOLS) this.cut(from, to, protocol);
    }
  }

  mendAll(): void {
    this.#cuts.clear();
  }

  /** The machine dies with all its processes: silence, where a dead process would be refused by its kernel. */
  powerOff(ip: Ip): void {
    this.#off.add(ip);
    for (const [key, { host }] of this.#bound) if (key.startsWith(`${ip}|`)) host.kill();
  }

  powerOn(ip: Ip): void {
    this.#off.delete(ip);
  }

  isReachable(from: Ip, to: Ip, protocol: Protocol): boolean {
    return !this.#off.has(to) && !this.#off.has(from) && !this.#cuts.has(cutKey(from, to, protocol));
  }

  bind(endpoint: Endpoint, bound: Bound): void {
    this.#bound.set(endpointKey(endpoint), bound);
  }

  unbind(endpoint: Endpoint, bound: Bound): void {
    if (this.#bound.get(endpointKey(endpoint)) === bound) this.#bound.delete(endpointKey(endpoint));
  }

  /** A listener whose process lives. */
  listener(endpoint: Endpoint): Bound | undefined {
    const bound = this.#bound.get(endpointKey(endpoint));
    return bound === undefined || bound.host.isDead ? undefined : bound;
  }

  send(from: Endpoint, to: Endpoint, bytes: Uint8Array): void {
    this.datagrams++;
    const copies = this.#happens(this.#quality.duplication) ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      if (this.#happens(this.#quality.loss)) continue;
      const { reordering, reorderingMs } = this.#quality;
      const laterMs = this.#happens(reordering) ? this.#random.float() * reorderingMs : 0;
      this.clock.schedule(this.delayMs() + laterMs, () => this.#arrive(from, to, bytes));
    }
  }

  delayMs(): number {
    return this.#quality.latencyMs + this.#random.float() * this.#quality.jitterMs;
  }

  /** Delay of a segment that TCP repeats until it arrives. */
  segmentDelayMs(): number {
    let delayMs = this.delayMs();
    for (let tries = 0; tries < 10 && this.#happens(this.#quality.loss); tries++) delayMs += RETRANSMIT_MS << tries;
    return delayMs;
  }

  #arrive(from: Endpoint, to: Endpoint, bytes: Uint8Array): void {
    const bound = this.listener(to);
    if (bound === undefined || !this.isReachable(from.ip, to.ip, "udp")) return;
    bound.host.deliver(() => bound.datagram(from, bytes));
  }

  /** Draws nothing for what cannot happen, so that switching a fault off leaves the rest of a run as it was. */
  #happens(share: number): boolean {
    return share > 0 && this.#random.float() < share;
  }
}

const PROTOCOLS: readonly Protocol[] = ["udp", "tcp"];

function cutKey(from: Ip, to: Ip, protocol: Protocol): string {
  return `${protocol} ${from} ${to}`;
}
