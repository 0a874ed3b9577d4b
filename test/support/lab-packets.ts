/** A host of a test's lab that sends any frame and sees every answer. */
import { join } from "node:path";
import { HelperProcess } from "../../hack/netlab/helper-process.ts";
import type { Host } from "../../hack/netlab/topology.ts";
import { type Family, familyOf, type Ip } from "../../src/net/ip.ts";
import type { Mac } from "../../src/net/mac.ts";
import { type ArpPacket, buildArpRequest, decodeArp } from "../../src/packet/arp.ts";
import { decodeEthernet } from "../../src/packet/ethernet.ts";
import { decodeNdp, encodeNdpFrame, type NeighborAdvertisement } from "../../src/packet/ndp.ts";
import { ALL_NODES, multicastMacOf, solicitedNodeGroupOf } from "../../src/packet/solicited-node.ts";
import type { PacketsCommand, PacketsReport } from "./lab-packets-main.ts";

const PROGRAM = join(import.meta.dirname, "lab-packets-main.js");
/** A program that starts on a busy machine. */
const START_TIMEOUT_MS = 20_000;
/** On a machine with ten runnable threads to a processor a speaker has answered after more than three seconds. */
const ANSWER_TIMEOUT_MS = 15_000;
/** RFC 4861 §10, RETRANS_TIMER; Linux asks by ARP at the same pace. */
const RETRANSMIT_MS = 1_000;
const MAX_TRIES = 3;
/** Far more than a busy machine adds to a flood. */
const FLOOD_TIMEOUT_MS = 20_000;

/** A frame that claims an address: an answer, or an announcement. */
export interface Claim {
  readonly atMs: number;
  readonly source: Mac;
  readonly destination: Mac;
  readonly packet: ({ readonly kind: "arp" } & ArpPacket) | NeighborAdvertisement;
}

export class SegmentHost {
  readonly host: Host;
  readonly #process: HelperProcess<PacketsCommand, PacketsReport>;
  #markers = 0;

  private constructor(host: Host) {
    this.host = host;
    this.#process = new HelperProcess(host.namespace, PROGRAM);
  }

  static async open(host: Host): Promise<SegmentHost> {
    const opened = new SegmentHost(host);
    const report = await opened.#process.waitFor((one) => one.kind === "open", START_TIMEOUT_MS);
    if (report === undefined) throw new Error("the test's host does not start");
    return opened;
  }

  send(family: Family, frame: Uint8Array): void {
    this.#process.send({ kind: "send", family, frame: Buffer.from(frame).toString("hex") });
  }

  /** Sends the frame 55,000 times a second; gives how many left in how long. */
  async flood(family: Family, frame: Uint8Array, durationMs: number): Promise<{ frames: number; tookMs: number }> {
    const past = new Set(this.#process.reports);
    this.#process.send({ kind: "flood", family, frame: Buffer.from(frame).toString("hex"), durationMs });
    const report = await this.#process.waitFor(
      (one): one is PacketsReport & { kind: "flooded" } => one.kind === "flooded" && !past.has(one),
      durationMs + FLOOD_TIMEOUT_MS,
    );
    if (report === undefined) throw new Error("the flood does not end");
    return report;
  }

  /** Frames so far that claim the address, in order. */
  claims(address: Ip): readonly Claim[] {
    return this.#process.reports.flatMap((report) => (report.kind === "frame" ? claimsOf(report, address) : []));
  }

  /** The first claim of the address from now on that `isWanted`; undefined after the timeout. */
  async waitForClaim(
    address: Ip,
    isWanted: (claim: Claim) => boolean = () => true,
    timeoutMs: number = ANSWER_TIMEOUT_MS,
  ): Promise<Claim | undefined> {
    const past = new Set(this.#process.reports);
    const report = await this.#process.waitFor(
      (one): one is PacketsReport =>
        one.kind === "frame" && !past.has(one) && claimsOf(one, address).some((claim) => isWanted(claim)),
      timeoutMs,
    );
    return report?.kind === "frame" ? claimsOf(report, address)[0] : undefined;
  }

  /**
   * What is answered to the frame. An ordinary request follows it on the same socket and waits for its own answer, so "nothing"
   * needs no wait: what came before that answer is all there will be. Both are sent again when both may have been lost.
   */
  async answersTo(frame: Uint8Array, address: Ip): Promise<readonly Claim[]> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const seen = this.claims(address).length;
      this.send(familyOf(address), frame);
      const marker = await this.#askFor(address, ANSWER_TIMEOUT_MS / MAX_TRIES, 1);
      if (marker === undefined) continue;
      return this.claims(address)
        .slice(seen)
        .filter(({ atMs, packet }) => atMs <= marker.atMs && toldTo(packet) !== toldTo(marker.packet));
    }
    throw new Error(`nobody answers for ${address}`);
  }

  /**
   * An ordinary question for the address, and its answer; undefined when there is none within the timeout. Asked again every
   * second, as a host does: a speaker that stood still throws away what was asked meanwhile, and a link that has just come up loses frames.
   */
  ask(address: Ip, timeoutMs: number = ANSWER_TIMEOUT_MS): Promise<Claim | undefined> {
    return this.#askFor(address, timeoutMs, Number.POSITIVE_INFINITY);
  }

  async #askFor(address: Ip, timeoutMs: number, mostTimes: number): Promise<Claim | undefined> {
    const { mac } = this.host;
    const number = this.#markers++ % 50;
    const isIpv4 = familyOf(address) === 4;
    const asker = (isIpv4 ? `192.0.2.${150 + number}` : `2001:db8::e:${(number + 1).toString(16)}`) as Ip;
    const answer = this.waitForClaim(address, ({ packet }) => toldTo(packet) === asker, timeoutMs);
    const frame = isIpv4 ? buildArpRequest({ mac, ip: asker }, address) : buildSolicitation(mac, asker, address);
    this.send(familyOf(address), frame);
    let times = 1;
    const again = setInterval(() => {
      if (times++ < mostTimes) this.send(familyOf(address), frame);
    }, RETRANSMIT_MS);
    try {
      return await answer;
    } finally {
      clearInterval(again);
    }
  }

  close(): void {
    this.#process.close();
  }
}

/** Gratuitous ARP, or an unsolicited Neighbor Advertisement to all nodes. */
export function isAnnouncement({ packet }: Claim): boolean {
  return packet.kind === "arp" ? packet.senderIp === packet.targetIp : packet.destination === ALL_NODES;
}

/** As a host sends it that has no neighbour entry: to the solicited-node group, with its MAC. */
export function buildSolicitation(mac: Mac, source: Ip, target: Ip): Uint8Array {
  const destination = solicitedNodeGroupOf(target);
  const options = [{ kind: "source-link-layer", mac }] as const;
  return encodeNdpFrame(multicastMacOf(destination), mac, {
    kind: "solicitation",
    source,
    destination,
    target,
    options,
  });
}

/** Whom the packet is for: the asker, or the address itself or all nodes when it was not asked for. */
function toldTo(packet: Claim["packet"]): Ip {
  return packet.kind === "arp" ? packet.targetIp : packet.destination;
}

function claimsOf({ atMs, frame }: { readonly atMs: number; readonly frame: string }, address: Ip): readonly Claim[] {
  const ethernet = decodeEthernet(Uint8Array.from(Buffer.from(frame, "hex")));
  if (!ethernet.ok) return [];
  const { source, destination, payload } = ethernet.value;
  const arp = decodeArp(payload);
  if (arp.ok && arp.value.senderIp === address) {
    return [{ atMs, source, destination, packet: { kind: "arp", ...arp.value } }];
  }
  const ndp = decodeNdp(payload);
  if (!ndp.ok || ndp.value.kind !== "advertisement" || ndp.value.target !== address) return [];
  return [{ atMs, source, destination, packet: ndp.value }];
}
