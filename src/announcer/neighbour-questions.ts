/**
 * Unicast ARP requests and Neighbor Solicitations to one member (DESIGN D7), and the answers to them: for an address that it leads its
 * process answers, for its node address its kernel. Pure: frames out, frames in. RFC 826; RFC 4861 §7.3.1 (unicast solicitation).
 */
import { type Family, familyOf, type Ip, ipv4At, ipv6At, isLinkLocal } from "../net/ip.ts";
import { type Mac, macAt, ZERO_MAC } from "../net/mac.ts";
import {
  ARP_REPLY,
  ARP_SENDER_IP_OFFSET,
  ARP_SENDER_MAC_OFFSET,
  arpDropOf,
  arpOperationAt,
  encodeArp,
} from "../packet/arp.ts";
import { ETHERTYPE_ARP, ETHERTYPE_IPV6, encodeEthernet, payloadOffsetOf, vlanIdOf } from "../packet/ethernet.ts";
import {
  encodeNdpFrame,
  NDP_TARGET_OFFSET,
  NDP_TYPE_OFFSET,
  NEIGHBOR_ADVERTISEMENT,
  ndpDropOf,
} from "../packet/ndp.ts";

const DESTINATION_OFFSET = 0;
const SOURCE_OFFSET = 6;

export interface NeighbourQuestion {
  /** The member that is asked. */
  readonly node: string;
  readonly of: "led-address" | "node-address";
  readonly ip: Ip;
  readonly linkIndex: number;
  /** Whom the frame goes to. */
  readonly mac: Mac;
  /** Who asks: the link's MAC, and an address of it of the same family. */
  readonly own: { readonly mac: Mac; readonly ip: Ip };
}

export interface QuestionFrame {
  readonly linkIndex: number;
  readonly family: Family;
  readonly bytes: Uint8Array;
}

export class NeighbourQuestions {
  #questions: readonly NeighbourQuestion[] = [];

  /** All that may be asked from now on; their answers are known by them. */
  set(questions: readonly NeighbourQuestion[]): void {
    this.#questions = questions;
  }

  /** Addresses whose packets must wake us on a link, beside the announcer's. */
  addressesOn(linkIndex: number): readonly Ip[] {
    return [...new Set(this.#questions.flatMap((asked) => (asked.linkIndex === linkIndex ? [asked.ip] : [])))];
  }

  framesFor(node: string): readonly QuestionFrame[] {
    return this.#questions.filter((asked) => asked.node === node).map(frameOf);
  }

  /** The question that this frame answers: sent to us, by the MAC that we had asked. */
  answeredBy(
    linkIndex: number,
    family: Family,
    frame: Uint8Array,
    vlanTag: number | undefined,
  ): NeighbourQuestion | undefined {
    if (this.#questions.length === 0 || (vlanTag !== undefined && vlanIdOf(vlanTag) !== 0)) return undefined;
    const ip = family === 4 ? answeredIpv4(frame) : answeredIpv6(frame);
    if (ip === undefined) return undefined;
    return this.#questions.find(
      (asked) =>
        asked.linkIndex === linkIndex &&
        asked.ip === ip &&
        asked.mac === macAt(frame, SOURCE_OFFSET) &&
        asked.own.mac === macAt(frame, DESTINATION_OFFSET),
    );
  }
}

/** Which of a link's own addresses asks for `ip`; undefined when it has none of the family. */
export function askingAddress(ip: Ip, own: readonly Ip[]): Ip | undefined {
  const fitting = own.filter((address) => familyOf(address) === familyOf(ip));
  return fitting.find((address) => isLinkLocal(address) === isLinkLocal(ip)) ?? fitting[0];
}

export function frameOf({ linkIndex, ip, mac, own }: NeighbourQuestion): QuestionFrame {
  return { linkIndex, family: familyOf(ip), bytes: questionFrame(ip, mac, own) };
}

function questionFrame(ip: Ip, mac: Mac, own: NeighbourQuestion["own"]): Uint8Array {
  if (familyOf(ip) === 4) {
    const payload = encodeArp({
      operation: "request",
      senderMac: own.mac,
      senderIp: own.ip,
      targetMac: ZERO_MAC,
      targetIp: ip,
    });
    return encodeEthernet({ destination: mac, source: own.mac, etherType: ETHERTYPE_ARP, payload });
  }
  return encodeNdpFrame(mac, own.mac, {
    kind: "solicitation",
    source: own.ip,
    destination: ip,
    target: ip,
    options: [{ kind: "source-link-layer", mac: own.mac }],
  });
}

function answeredIpv4(frame: Uint8Array): Ip | undefined {
  const at = payloadOffsetOf(frame, ETHERTYPE_ARP);
  if (at === 0 || arpDropOf(frame, at) !== undefined || arpOperationAt(frame, at) !== ARP_REPLY) return undefined;
  const isOwnWord = macAt(frame, at + ARP_SENDER_MAC_OFFSET) === macAt(frame, SOURCE_OFFSET);
  return isOwnWord ? ipv4At(frame, at + ARP_SENDER_IP_OFFSET) : undefined;
}

function answeredIpv6(frame: Uint8Array): Ip | undefined {
  const at = payloadOffsetOf(frame, ETHERTYPE_IPV6);
  if (at === 0 || frame[at + NDP_TYPE_OFFSET] !== NEIGHBOR_ADVERTISEMENT || ndpDropOf(frame, at) !== undefined) {
    return undefined;
  }
  return ipv6At(frame, at + NDP_TARGET_OFFSET);
}
