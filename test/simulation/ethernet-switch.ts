/** One segment: a learning switch with MLD snooping, latency, loss and cuts. It knows frames by their MACs only. */

import type { VirtualClock } from "../../src/base/clock.ts";
import type { Random } from "../../src/base/random.ts";
import { isGroupMac, type Mac } from "../../src/net/mac.ts";
import { macsOf } from "./frames.ts";

/** Linux bridge: entries age out after 300 s. */
const FDB_AGE_MS = 300_000;
const FRAME_LATENCY_MS = 0.05;
/** All-nodes is never snooped (RFC 4541 §3). */
const ALL_NODES_MAC = "33:33:00:00:00:01";

export interface SegmentFaults {
  /** Share of frames lost on each port, independently; 0 to 1. */
  lossRate: number;
  duplicateRate: number;
  /** Further delay, uniform from 0 to this. */
  jitterMs: number;
}

export interface SwitchPort {
  readonly name: string;
  /** Groups that a host behind this port has joined, as MACs. */
  readonly groups: ReadonlySet<Mac>;
  readonly isUp: boolean;
  receive(frame: Uint8Array): void;
}

export class EthernetSwitch {
  readonly name: string;
  readonly snoopsMld: boolean;
  readonly faults: SegmentFaults = { lossRate: 0, duplicateRate: 0, jitterMs: 0 };
  /** Frames from the first port's name to the second's do not pass: `from>to`. */
  readonly cuts = new Set<string>();
  readonly #clock: VirtualClock;
  readonly #random: Random;
  readonly #ports: SwitchPort[] = [];
  readonly #fdb = new Map<Mac, { readonly port: SwitchPort; readonly heardMs: number }>();
  /** Burst loss: frames of the named port are lost until then. */
  readonly #deafUntilMs = new Map<string, number>();
  framesCarried = 0;

  constructor(name: string, clock: VirtualClock, random: Random, snoopsMld: boolean) {
    this.name = name;
    this.#clock = clock;
    this.#random = random;
    this.snoopsMld = snoopsMld;
  }

  attach(port: SwitchPort): void {
    this.#ports.push(port);
  }

  /** The link went down: what was learned behind it is forgotten. */
  forget(port: SwitchPort): void {
    for (const [mac, entry] of this.#fdb) if (entry.port === port) this.#fdb.delete(mac);
  }

  loseAllOf(portName: string, durationMs: number): void {
    this.#deafUntilMs.set(portName, this.#clock.nowMs() + durationMs);
  }

  portOf(mac: Mac): string | undefined {
    return this.#fdb.get(mac)?.port.name;
  }

  /** Takes a frame from a port, and keeps it: nobody writes to it any more. */
  transmit(from: SwitchPort, frame: Uint8Array): void {
    if (!from.isUp || this.#isLost(from.name)) return;
    const { source, destination } = macsOf(frame);
    this.#learn(source, from);
    this.framesCarried++;
    for (const port of this.reach(from, destination)) this.#deliver(port, frame);
  }

  /** The ports that a frame to `destination` comes out of, loss apart. */
  reach(from: SwitchPort, destination: Mac): SwitchPort[] {
    const known = isGroupMac(destination) ? undefined : this.#fdb.get(destination);
    const isFresh = known !== undefined && this.#clock.nowMs() - known.heardMs < FDB_AGE_MS;
    return this.#ports.filter(
      (port) =>
        port !== from &&
        port.isUp &&
        (this.cuts.size === 0 || !this.cuts.has(`${from.name}>${port.name}`)) &&
        (isFresh ? port === known.port : this.#passesSnooping(port, destination)),
    );
  }

  #passesSnooping(port: SwitchPort, destination: Mac): boolean {
    const isSnooped = this.snoopsMld && destination.startsWith("33:33:") && destination !== ALL_NODES_MAC;
    return !isSnooped || port.groups.has(destination);
  }

  #learn(source: Mac, port: SwitchPort): void {
    if (!isGroupMac(source)) this.#fdb.set(source, { port, heardMs: this.#clock.nowMs() });
  }

  #deliver(port: SwitchPort, frame: Uint8Array): void {
    if (this.#isLost(port.name)) return;
    const copies = this.faults.duplicateRate > 0 && this.#random.float() < this.faults.duplicateRate ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      const jitterMs = this.faults.jitterMs > 0 ? this.#random.float() * this.faults.jitterMs : 0;
      this.#clock.schedule(FRAME_LATENCY_MS + jitterMs, () => {
        if (port.isUp) port.receive(frame);
      });
    }
  }

  #isLost(portName: string): boolean {
    if (this.#deafUntilMs.size > 0 && (this.#deafUntilMs.get(portName) ?? -1) > this.#clock.nowMs()) return true;
    return this.faults.lossRate > 0 && this.#random.float() < this.faults.lossRate;
  }
}
