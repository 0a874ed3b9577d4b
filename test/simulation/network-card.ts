/** A machine's network card on one segment, with the part of the kernel that answers for the machine's own addresses. */
import type { Ip } from "../../src/net/ip.ts";
import type { Link } from "../../src/net/link.ts";
import { isGroupMac, type Mac } from "../../src/net/mac.ts";
import type { Prefix } from "../../src/net/prefix.ts";
import { multicastMacOf } from "../../src/packet/solicited-node.ts";
import type { EthernetSwitch, SwitchPort } from "./ethernet-switch.ts";
import { answerFrame, macsOf, readFrame } from "./frames.ts";

export interface CardSettings {
  readonly index: number;
  readonly name: string;
  readonly mac: Mac;
  readonly addresses: readonly Ip[];
  readonly prefixes: readonly Prefix[];
}

/** Who reads frames beside the kernel: a speaker's packet sockets. */
export type FrameReader = (card: NetworkCard, frame: Uint8Array) => void;

export class NetworkCard implements SwitchPort {
  readonly name: string;
  readonly segment: EthernetSwitch;
  readonly groups = new Set<Mac>();
  /** Addresses that are none of the machine's, and that its kernel answers for all the same. */
  readonly kernelAnswers = new Set<Ip>();
  index: number;
  mac: Mac;
  prefixes: readonly Prefix[];
  readonly addresses: readonly Ip[];
  readonly #linkName: string;
  readonly #read: FrameReader;
  hasCarrier = true;
  isPowered = true;

  constructor(owner: string, segment: EthernetSwitch, settings: CardSettings, read: FrameReader) {
    this.name = `${owner}.${settings.name}`;
    this.#linkName = settings.name;
    this.segment = segment;
    this.index = settings.index;
    this.mac = settings.mac;
    this.addresses = settings.addresses;
    this.prefixes = settings.prefixes;
    this.#read = read;
    segment.attach(this);
  }

  get isUp(): boolean {
    return this.hasCarrier && this.isPowered;
  }

  /** As rtnetlink would describe it. */
  get link(): Link {
    return {
      index: this.index,
      name: this.#linkName,
      mac: this.mac,
      isEthernet: true,
      isLoopback: false,
      isBroadcast: true,
      isNoArp: false,
      isAdminUp: true,
      hasCarrier: this.hasCarrier,
      masterKind: "none",
      addresses: this.addresses,
      prefixes: this.prefixes,
    };
  }

  setCarrier(isUp: boolean): void {
    this.hasCarrier = isUp;
    if (!isUp) this.segment.forget(this);
  }

  join(group: Ip): void {
    this.groups.add(multicastMacOf(group));
  }

  leave(group: Ip): void {
    this.groups.delete(multicastMacOf(group));
  }

  transmit(frame: Uint8Array): void {
    this.segment.transmit(this, frame);
  }

  receive(frame: Uint8Array): void {
    if (!this.accepts(macsOf(frame).destination)) return;
    this.#answerAsKernel(frame);
    this.#read(this, frame);
  }

  /** What the hardware filter lets in: us, everybody, and groups. */
  accepts(destination: Mac): boolean {
    return destination === this.mac || isGroupMac(destination);
  }

  #answerAsKernel(frame: Uint8Array): void {
    const asked = readFrame(frame);
    if (asked === undefined) return;
    if (!this.addresses.includes(asked.targetIp) && !this.kernelAnswers.has(asked.targetIp)) return;
    if (asked.form !== "arp-request" && asked.form !== "solicitation") return;
    this.transmit(answerFrame({ mac: this.mac, ip: asked.targetIp }, { mac: asked.source, ip: asked.senderIp }));
  }
}
