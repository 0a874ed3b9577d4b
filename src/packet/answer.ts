/** Replies written straight from the request's bytes into a reused frame: the path that answers makes no value. Pure. */
import { IPV4_BYTES, IPV6_BYTES } from "../net/ip.ts";
import { MAC_BYTES } from "../net/mac.ts";
import {
  ARP_OFFSET,
  ARP_REPLY,
  ARP_SENDER_IP_OFFSET,
  ARP_SENDER_MAC_OFFSET,
  ARP_TARGET_IP_OFFSET,
  ARP_TARGET_MAC_OFFSET,
  writeArpHeader,
} from "./arp.ts";
import { ETHERNET_HEADER_BYTES, ETHERNET_MIN_BYTES, ETHERTYPE_ARP, ETHERTYPE_IPV6 } from "./ethernet.ts";
import {
  IPV6_DESTINATION_OFFSET,
  IPV6_HEADER_BYTES,
  IPV6_SOURCE_OFFSET,
  isUnspecifiedIpv6At,
  NEXT_HEADER_ICMPV6,
} from "./ipv6.ts";
import {
  FLAG_OVERRIDE,
  FLAG_SOLICITED,
  linkLayerOptionAt,
  NDP_FLAGS_OFFSET,
  NDP_HOP_LIMIT,
  NDP_OPTIONS_OFFSET,
  NDP_TARGET_OFFSET,
  NDP_TYPE_OFFSET,
  NEIGHBOR_ADVERTISEMENT,
  OPTION_SOURCE_LINK_LAYER,
  OPTION_TARGET_LINK_LAYER,
  writeIcmpv6Checksum,
} from "./ndp.ts";

const SOURCE_OFFSET = 6;
/** Where the IPv6 packet begins in the frames written here. */
const PACKET = ETHERNET_HEADER_BYTES;
const OPTION_BYTES = 8;
const ALL_NODES_BYTES: readonly number[] = [0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
const ALL_NODES_MAC_BYTES: readonly number[] = [0x33, 0x33, 0, 0, 0, 1];

/** A frame for `writeArpAnswer`: what is the same in every reply. */
export function arpAnswerTemplate(): Uint8Array {
  const frame = new Uint8Array(ETHERNET_MIN_BYTES);
  frame[12] = ETHERTYPE_ARP >>> 8;
  frame[13] = ETHERTYPE_ARP & 0xff;
  writeArpHeader(frame, ARP_OFFSET, ARP_REPLY);
  return frame;
}

/** "The address you ask for is at `mac`", to the sender's MAC in the request at `at`. The request has passed `arpDropOf`. */
export function writeArpAnswer(answer: Uint8Array, mac: Uint8Array, request: Uint8Array, at: number): void {
  copyBytes(answer, 0, request, at + ARP_SENDER_MAC_OFFSET, MAC_BYTES);
  copyBytes(answer, SOURCE_OFFSET, mac, 0, MAC_BYTES);
  copyBytes(answer, ARP_OFFSET + ARP_SENDER_MAC_OFFSET, mac, 0, MAC_BYTES);
  copyBytes(answer, ARP_OFFSET + ARP_SENDER_IP_OFFSET, request, at + ARP_TARGET_IP_OFFSET, IPV4_BYTES);
  copyBytes(answer, ARP_OFFSET + ARP_TARGET_MAC_OFFSET, request, at + ARP_SENDER_MAC_OFFSET, MAC_BYTES);
  copyBytes(answer, ARP_OFFSET + ARP_TARGET_IP_OFFSET, request, at + ARP_SENDER_IP_OFFSET, IPV4_BYTES);
}

/** A frame for `writeNdpAnswer`: an advertisement with one option. */
export function ndpAnswerTemplate(): Uint8Array {
  const frame = new Uint8Array(PACKET + NDP_OPTIONS_OFFSET + OPTION_BYTES);
  frame[12] = ETHERTYPE_IPV6 >>> 8;
  frame[13] = ETHERTYPE_IPV6 & 0xff;
  frame[PACKET] = 0x60;
  frame[PACKET + 5] = NDP_OPTIONS_OFFSET + OPTION_BYTES - IPV6_HEADER_BYTES;
  frame[PACKET + 6] = NEXT_HEADER_ICMPV6;
  frame[PACKET + 7] = NDP_HOP_LIMIT;
  frame[PACKET + NDP_TYPE_OFFSET] = NEIGHBOR_ADVERTISEMENT;
  frame[PACKET + NDP_OPTIONS_OFFSET] = OPTION_TARGET_LINK_LAYER;
  frame[PACKET + NDP_OPTIONS_OFFSET + 1] = 1;
  return frame;
}

/**
 * "The address you solicit is at `mac`" for the solicitation at `at`, which has passed `ndpDropOf` (RFC 4861 §7.2.4): from the
 * address itself, Override, not a router, target option always. It goes to the solicitation's source at the MAC of its option,
 * or at the frame's source when it has none; from the unspecified address to all nodes, then without Solicited.
 */
export function writeNdpAnswer(answer: Uint8Array, mac: Uint8Array, solicitation: Uint8Array, at: number): void {
  const isProbe = isUnspecifiedIpv6At(solicitation, at + IPV6_SOURCE_OFFSET);
  if (isProbe) {
    copyBytes(answer, 0, ALL_NODES_MAC_BYTES, 0, MAC_BYTES);
    copyBytes(answer, PACKET + IPV6_DESTINATION_OFFSET, ALL_NODES_BYTES, 0, IPV6_BYTES);
  } else {
    copyBytes(answer, 0, solicitation, solicitorMacAt(solicitation, at), MAC_BYTES);
    copyBytes(answer, PACKET + IPV6_DESTINATION_OFFSET, solicitation, at + IPV6_SOURCE_OFFSET, IPV6_BYTES);
  }
  copyBytes(answer, SOURCE_OFFSET, mac, 0, MAC_BYTES);
  copyBytes(answer, PACKET + IPV6_SOURCE_OFFSET, solicitation, at + NDP_TARGET_OFFSET, IPV6_BYTES);
  copyBytes(answer, PACKET + NDP_TARGET_OFFSET, solicitation, at + NDP_TARGET_OFFSET, IPV6_BYTES);
  copyBytes(answer, PACKET + NDP_OPTIONS_OFFSET + 2, mac, 0, MAC_BYTES);
  answer[PACKET + NDP_FLAGS_OFFSET] = isProbe ? FLAG_OVERRIDE : FLAG_SOLICITED | FLAG_OVERRIDE;
  writeIcmpv6Checksum(answer, PACKET);
}

/** Offset of the MAC that an answer to the solicitation goes to: its source link-layer option, else the frame's source. */
export function solicitorMacAt(solicitation: Uint8Array, at: number): number {
  const option = linkLayerOptionAt(solicitation, at, OPTION_SOURCE_LINK_LAYER);
  return option === 0 ? SOURCE_OFFSET : option;
}

/** `TypedArray.set` with a subarray would make an object for each of these few bytes. */
function copyBytes(to: Uint8Array, toOffset: number, from: ArrayLike<number>, fromOffset: number, count: number): void {
  for (let index = 0; index < count; index++) to[toOffset + index] = from[fromOffset + index] ?? 0;
}
