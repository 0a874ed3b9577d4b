/**
 * Neighbor Solicitations and Advertisements over Ethernet (RFC 4861 §4.3, §4.4, §4.6.1; validity §7.1.1, §7.1.2; RFC 2464 §6).
 * Pure: bytes in, values out. A message here is the whole IPv6 packet, because half of its validity stands in the IPv6 header.
 */
import { type Decoded, decoded, dropped } from "../base/decoded.ts";
import { IPV6_BYTES, type Ip, ipBytes, ipv6At } from "../net/ip.ts";
import { MAC_BYTES, type Mac, macAt, writeMac } from "../net/mac.ts";
import { ETHERTYPE_IPV6, encodeEthernet } from "./ethernet.ts";
import { ICMPV6_CHECKSUM_OFFSET, icmpv6ChecksumAt } from "./icmpv6-checksum.ts";
import {
  encodeIpv6,
  IPV6_DESTINATION_OFFSET,
  IPV6_HEADER_BYTES,
  IPV6_SOURCE_OFFSET,
  type Ipv6Drop,
  ipv6DropOf,
  ipv6PayloadBytesAt,
  isMulticastIpv6At,
  isUnspecifiedIpv6At,
  NEXT_HEADER_ICMPV6,
} from "./ipv6.ts";
import { isSolicitedNodeAt } from "./solicited-node.ts";

/*
 * From the start of the IPv6 header: 40 type   41 code   42 checksum   44 flags (advertisement) or reserved
 *                                    48 target   64 options: type, length in units of 8 bytes, body
 */

export const NDP_TYPE_OFFSET = IPV6_HEADER_BYTES;
export const NDP_FLAGS_OFFSET = IPV6_HEADER_BYTES + 4;
export const NDP_TARGET_OFFSET = IPV6_HEADER_BYTES + 8;
export const NDP_OPTIONS_OFFSET = NDP_TARGET_OFFSET + IPV6_BYTES;
export const NEIGHBOR_SOLICITATION = 135;
export const NEIGHBOR_ADVERTISEMENT = 136;
export const OPTION_SOURCE_LINK_LAYER = 1;
export const OPTION_TARGET_LINK_LAYER = 2;
export const FLAG_ROUTER = 0x80;
export const FLAG_SOLICITED = 0x40;
export const FLAG_OVERRIDE = 0x20;
/** §7.1: no router has forwarded the packet. */
export const NDP_HOP_LIMIT = 255;
/** Type, code, checksum, four bytes of flags, target. */
const MESSAGE_MIN_BYTES = NDP_OPTIONS_OFFSET - IPV6_HEADER_BYTES;
const OPTION_UNIT_BYTES = 8;

export type NdpOption =
  | { readonly kind: "source-link-layer"; readonly mac: Mac }
  | { readonly kind: "target-link-layer"; readonly mac: Mac }
  /** Of no meaning to us; `body` is what follows type and length. */
  | { readonly kind: "other"; readonly type: number; readonly body: Uint8Array };

export interface NeighborSolicitation {
  readonly kind: "solicitation";
  readonly source: Ip;
  readonly destination: Ip;
  readonly target: Ip;
  readonly options: readonly NdpOption[];
}

export interface NeighborAdvertisement {
  readonly kind: "advertisement";
  readonly source: Ip;
  readonly destination: Ip;
  readonly target: Ip;
  readonly isRouter: boolean;
  readonly isSolicited: boolean;
  readonly isOverride: boolean;
  readonly options: readonly NdpOption[];
}

export type NeighborMessage = NeighborSolicitation | NeighborAdvertisement;

export type NdpDrop =
  | Ipv6Drop
  | "not-icmpv6"
  | "not-neighbor-message"
  /** §7.1.1, §7.1.2: hop limit other than 255. */
  | "hop-limit"
  | "checksum"
  | "code"
  /** Shorter than 24 bytes. */
  | "length"
  | "multicast-target"
  /** An option of length 0, or one that reaches beyond the message. */
  | "option-length"
  /** §7.1.1: from the unspecified address to something else than a solicited-node group. */
  | "probe-destination"
  /** §7.1.1: from the unspecified address with a source link-layer option. */
  | "probe-source-option"
  /** §7.1.2: to a multicast group with the Solicited flag. */
  | "solicited-multicast"
  /** RFC 4291 §2.7: a multicast address is no source. */
  | "multicast-source";

/** What forbids reading `bytes` from `offset` as a neighbor message; undefined when nothing does. Makes no value. */
export function ndpDropOf(bytes: Uint8Array, offset: number): NdpDrop | undefined {
  const ipv6Drop = ipv6DropOf(bytes, offset);
  if (ipv6Drop !== undefined) return ipv6Drop;
  if (bytes[offset + 6] !== NEXT_HEADER_ICMPV6) return "not-icmpv6";
  const messageBytes = ipv6PayloadBytesAt(bytes, offset);
  if (messageBytes === 0) return "length";
  const type = bytes[offset + NDP_TYPE_OFFSET];
  if (type !== NEIGHBOR_SOLICITATION && type !== NEIGHBOR_ADVERTISEMENT) return "not-neighbor-message";
  if (bytes[offset + 7] !== NDP_HOP_LIMIT) return "hop-limit";
  if (messageBytes < MESSAGE_MIN_BYTES) return "length";
  if (bytes[offset + NDP_TYPE_OFFSET + 1] !== 0) return "code";
  if (icmpv6ChecksumAt(bytes, offset, messageBytes) !== 0) return "checksum";
  if (isMulticastIpv6At(bytes, offset + IPV6_SOURCE_OFFSET)) return "multicast-source";
  if (isMulticastIpv6At(bytes, offset + NDP_TARGET_OFFSET)) return "multicast-target";
  if (!areOptionsWhole(bytes, offset, messageBytes)) return "option-length";
  return type === NEIGHBOR_SOLICITATION ? solicitationDropOf(bytes, offset) : advertisementDropOf(bytes, offset);
}

/** Offset of the MAC in the first option of `type`, or 0 when there is none; the caller has checked by `ndpDropOf`. */
export function linkLayerOptionAt(bytes: Uint8Array, offset: number, type: number): number {
  const end = offset + IPV6_HEADER_BYTES + ipv6PayloadBytesAt(bytes, offset);
  for (let at = offset + NDP_OPTIONS_OFFSET; at < end; at += optionBytesAt(bytes, at)) {
    // RFC 2464 §6: one unit on Ethernet; another length is another medium's.
    if (bytes[at] === type && bytes[at + 1] === 1) return at + 2;
  }
  return 0;
}

/** Reads an Ethernet payload; bytes after the packet are padding. */
export function decodeNdp(bytes: Uint8Array): Decoded<NeighborMessage, NdpDrop> {
  const reason = ndpDropOf(bytes, 0);
  if (reason !== undefined) return dropped(reason);
  const fields = {
    source: ipv6At(bytes, IPV6_SOURCE_OFFSET),
    destination: ipv6At(bytes, IPV6_DESTINATION_OFFSET),
    target: ipv6At(bytes, NDP_TARGET_OFFSET),
    options: optionsOf(bytes),
  };
  if (bytes[NDP_TYPE_OFFSET] === NEIGHBOR_SOLICITATION) return decoded({ kind: "solicitation", ...fields });
  const flags = bytes[NDP_FLAGS_OFFSET] ?? 0;
  return decoded({
    kind: "advertisement",
    ...fields,
    isRouter: (flags & FLAG_ROUTER) !== 0,
    isSolicited: (flags & FLAG_SOLICITED) !== 0,
    isOverride: (flags & FLAG_OVERRIDE) !== 0,
  });
}

/** The IPv6 packet, hop limit 255 and checksum included. Bodies of other options must fill units of 8 bytes with their 2 of header. */
export function encodeNdp(message: NeighborMessage): Uint8Array {
  const optionBytes = message.options.reduce((total, option) => total + encodedOptionBytes(option), 0);
  const payload = new Uint8Array(MESSAGE_MIN_BYTES + optionBytes);
  payload[0] = message.kind === "solicitation" ? NEIGHBOR_SOLICITATION : NEIGHBOR_ADVERTISEMENT;
  if (message.kind === "advertisement") payload[NDP_FLAGS_OFFSET - IPV6_HEADER_BYTES] = flagsOf(message);
  payload.set(ipBytes(message.target), NDP_TARGET_OFFSET - IPV6_HEADER_BYTES);
  let at = MESSAGE_MIN_BYTES;
  for (const option of message.options) at = writeOption(payload, at, option);
  const { source, destination } = message;
  const header = { trafficClass: 0, flowLabel: 0, nextHeader: NEXT_HEADER_ICMPV6, hopLimit: NDP_HOP_LIMIT };
  const bytes = encodeIpv6({ ...header, source, destination, payload });
  writeIcmpv6Checksum(bytes, 0);
  return bytes;
}

/** A neighbor message in its frame. */
export function encodeNdpFrame(destination: Mac, source: Mac, message: NeighborMessage): Uint8Array {
  return encodeEthernet({ destination, source, etherType: ETHERTYPE_IPV6, payload: encodeNdp(message) });
}

/** Computes the checksum of the ICMPv6 message in the IPv6 packet at `offset`, and writes it. */
export function writeIcmpv6Checksum(bytes: Uint8Array, offset: number): void {
  const at = offset + IPV6_HEADER_BYTES + ICMPV6_CHECKSUM_OFFSET;
  bytes[at] = 0;
  bytes[at + 1] = 0;
  const checksum = icmpv6ChecksumAt(bytes, offset, ipv6PayloadBytesAt(bytes, offset));
  bytes[at] = checksum >>> 8;
  bytes[at + 1] = checksum;
}

function solicitationDropOf(bytes: Uint8Array, offset: number): NdpDrop | undefined {
  if (!isUnspecifiedIpv6At(bytes, offset + IPV6_SOURCE_OFFSET)) return undefined;
  if (!isSolicitedNodeAt(bytes, offset + IPV6_DESTINATION_OFFSET)) return "probe-destination";
  return hasOption(bytes, offset, OPTION_SOURCE_LINK_LAYER) ? "probe-source-option" : undefined;
}

function advertisementDropOf(bytes: Uint8Array, offset: number): NdpDrop | undefined {
  const isSolicited = ((bytes[offset + NDP_FLAGS_OFFSET] ?? 0) & FLAG_SOLICITED) !== 0;
  return isSolicited && isMulticastIpv6At(bytes, offset + IPV6_DESTINATION_OFFSET) ? "solicited-multicast" : undefined;
}

/** Whether every option has a length above 0 and ends within the message; the walks after this one rely on it. */
function areOptionsWhole(bytes: Uint8Array, offset: number, messageBytes: number): boolean {
  const end = offset + IPV6_HEADER_BYTES + messageBytes;
  let at = offset + NDP_OPTIONS_OFFSET;
  while (at < end) {
    const optionBytes = end - at < 2 ? 0 : optionBytesAt(bytes, at);
    if (optionBytes === 0 || optionBytes > end - at) return false;
    at += optionBytes;
  }
  return true;
}

function hasOption(bytes: Uint8Array, offset: number, type: number): boolean {
  const end = offset + IPV6_HEADER_BYTES + ipv6PayloadBytesAt(bytes, offset);
  for (let at = offset + NDP_OPTIONS_OFFSET; at < end; at += optionBytesAt(bytes, at)) {
    if (bytes[at] === type) return true;
  }
  return false;
}

function optionBytesAt(bytes: Uint8Array, at: number): number {
  return (bytes[at + 1] ?? 0) * OPTION_UNIT_BYTES;
}

function optionsOf(bytes: Uint8Array): NdpOption[] {
  const options: NdpOption[] = [];
  const end = IPV6_HEADER_BYTES + ipv6PayloadBytesAt(bytes, 0);
  for (let at = NDP_OPTIONS_OFFSET; at < end; at += optionBytesAt(bytes, at)) options.push(optionAt(bytes, at));
  return options;
}

function optionAt(bytes: Uint8Array, at: number): NdpOption {
  const type = bytes[at] ?? 0;
  if (bytes[at + 1] === 1 && type === OPTION_SOURCE_LINK_LAYER) {
    return { kind: "source-link-layer", mac: macAt(bytes, at + 2) };
  }
  if (bytes[at + 1] === 1 && type === OPTION_TARGET_LINK_LAYER) {
    return { kind: "target-link-layer", mac: macAt(bytes, at + 2) };
  }
  return { kind: "other", type, body: bytes.slice(at + 2, at + optionBytesAt(bytes, at)) };
}

function encodedOptionBytes(option: NdpOption): number {
  const bodyBytes = option.kind === "other" ? option.body.length : MAC_BYTES;
  return Math.ceil((bodyBytes + 2) / OPTION_UNIT_BYTES) * OPTION_UNIT_BYTES;
}

/** Writes one option and gives the offset after it. */
function writeOption(bytes: Uint8Array, at: number, option: NdpOption): number {
  const optionBytes = encodedOptionBytes(option);
  bytes[at + 1] = optionBytes / OPTION_UNIT_BYTES;
  if (option.kind === "other") {
    bytes[at] = option.type;
    bytes.set(option.body, at + 2);
  } else {
    bytes[at] = option.kind === "source-link-layer" ? OPTION_SOURCE_LINK_LAYER : OPTION_TARGET_LINK_LAYER;
    writeMac(option.mac, bytes, at + 2);
  }
  return at + optionBytes;
}

function flagsOf(message: NeighborAdvertisement): number {
  return (
    (message.isRouter ? FLAG_ROUTER : 0) |
    (message.isSolicited ? FLAG_SOLICITED : 0) |
    (message.isOverride ? FLAG_OVERRIDE : 0)
  );
}
