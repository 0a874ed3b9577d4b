/** The fixed IPv6 header (RFC 8200 §3). Pure: bytes in, values out. */
import { u16At } from "../base/bytes.ts";
import { type Decoded, decoded, dropped } from "../base/decoded.ts";
import { IPV6_BYTES, type Ip, ipBytes, ipv6At } from "../net/ip.ts";

/*
 *  0 version, traffic class, flow label   4 payload length   6 next header   7 hop limit   8 source   24 destination
 */

export const IPV6_HEADER_BYTES = 40;
export const IPV6_SOURCE_OFFSET = 8;
export const IPV6_DESTINATION_OFFSET = 24;
export const NEXT_HEADER_ICMPV6 = 58;

export interface Ipv6Packet {
  readonly trafficClass: number;
  readonly flowLabel: number;
  readonly nextHeader: number;
  readonly hopLimit: number;
  readonly source: Ip;
  readonly destination: Ip;
  /** As long as the header says: padding of the frame is left out. */
  readonly payload: Uint8Array;
}

export type Ipv6Drop = "truncated" | "not-ipv6";

/** What forbids reading `bytes` from `offset` as an IPv6 packet; undefined when nothing does. Makes no value. */
export function ipv6DropOf(bytes: Uint8Array, offset: number): Ipv6Drop | undefined {
  if (bytes.length - offset < IPV6_HEADER_BYTES) return "truncated";
  if ((bytes[offset] ?? 0) >>> 4 !== 6) return "not-ipv6";
  return bytes.length - offset - IPV6_HEADER_BYTES < ipv6PayloadBytesAt(bytes, offset) ? "truncated" : undefined;
}

/** Length that the header at `offset` says, in bytes. */
export function ipv6PayloadBytesAt(bytes: Uint8Array, offset: number): number {
  return u16At(bytes, offset + 4);
}

/** Reads an Ethernet payload; bytes after the packet are padding. */
export function decodeIpv6(bytes: Uint8Array): Decoded<Ipv6Packet, Ipv6Drop> {
  const reason = ipv6DropOf(bytes, 0);
  if (reason !== undefined) return dropped(reason);
  return decoded({
    trafficClass: (((bytes[0] ?? 0) & 0x0f) << 4) | ((bytes[1] ?? 0) >>> 4),
    flowLabel: (((bytes[1] ?? 0) & 0x0f) << 16) | ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0),
    nextHeader: bytes[6] ?? 0,
    hopLimit: bytes[7] ?? 0,
    source: ipv6At(bytes, IPV6_SOURCE_OFFSET),
    destination: ipv6At(bytes, IPV6_DESTINATION_OFFSET),
    payload: bytes.subarray(IPV6_HEADER_BYTES, IPV6_HEADER_BYTES + ipv6PayloadBytesAt(bytes, 0)),
  });
}

export function encodeIpv6(packet: Ipv6Packet): Uint8Array {
  const bytes = new Uint8Array(IPV6_HEADER_BYTES + packet.payload.length);
  bytes[0] = 0x60 | (packet.trafficClass >>> 4);
  bytes[1] = ((packet.trafficClass & 0x0f) << 4) | (packet.flowLabel >>> 16);
  bytes[2] = packet.flowLabel >>> 8;
  bytes[3] = packet.flowLabel;
  bytes[4] = packet.payload.length >>> 8;
  bytes[5] = packet.payload.length;
  bytes[6] = packet.nextHeader;
  bytes[7] = packet.hopLimit;
  bytes.set(ipBytes(packet.source), IPV6_SOURCE_OFFSET);
  bytes.set(ipBytes(packet.destination), IPV6_DESTINATION_OFFSET);
  bytes.set(packet.payload, IPV6_HEADER_BYTES);
  return bytes;
}

/** Whether the 16 bytes at `offset` are `::`. */
export function isUnspecifiedIpv6At(bytes: Uint8Array, offset: number): boolean {
  for (let index = 0; index < IPV6_BYTES; index++) if (bytes[offset + index] !== 0) return false;
  return true;
}

/** Whether the address at `offset` is of ff00::/8. */
export function isMulticastIpv6At(bytes: Uint8Array, offset: number): boolean {
  return bytes[offset] === 0xff;
}
