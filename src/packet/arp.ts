/** ARP for IPv4 over Ethernet (RFC 826), probes and announcements (RFC 5227). Pure: bytes in, values out. */
import { u16At } from "../base/bytes.ts";
import { type Decoded, decoded, dropped } from "../base/decoded.ts";
import { type Ip, ipBytes, ipv4At } from "../net/ip.ts";
import { BROADCAST_MAC, type Mac, macAt, writeMac, ZERO_MAC } from "../net/mac.ts";
import { ETHERNET_HEADER_BYTES, ETHERTYPE_ARP, encodeEthernet } from "./ethernet.ts";

/*
 *  0 hardware type   2 protocol type   4 hardware and protocol address length   6 operation
 *  8 sender MAC     14 sender IP      18 target MAC                            24 target IP
 */

/** Length of the packet in bytes, without the padding that fills a short Ethernet frame. */
export const ARP_BYTES = 28;
export const ARP_OPERATION_OFFSET = 6;
export const ARP_SENDER_MAC_OFFSET = 8;
export const ARP_SENDER_IP_OFFSET = 14;
export const ARP_TARGET_MAC_OFFSET = 18;
export const ARP_TARGET_IP_OFFSET = 24;
export const ARP_REQUEST = 1;
export const ARP_REPLY = 2;

export const UNSPECIFIED_IPV4 = "0.0.0.0" as Ip;

export type ArpOperation = "request" | "reply";

export interface ArpPacket {
  readonly operation: ArpOperation;
  readonly senderMac: Mac;
  readonly senderIp: Ip;
  readonly targetMac: Mac;
  readonly targetIp: Ip;
}

export type ArpDrop = "truncated" | "not-ethernet-ipv4" | "unknown-operation";

/** What forbids reading `bytes` from `offset` as an ARP packet; undefined when nothing does. Makes no value. */
export function arpDropOf(bytes: Uint8Array, offset: number): ArpDrop | undefined {
  if (bytes.length - offset < ARP_BYTES) return "truncated";
  if (
    bytes[offset] !== 0 ||
    bytes[offset + 1] !== 1 ||
    bytes[offset + 2] !== 0x08 ||
    bytes[offset + 3] !== 0 ||
    bytes[offset + 4] !== 6 ||
    bytes[offset + 5] !== 4
  ) {
    return "not-ethernet-ipv4";
  }
  const operation = arpOperationAt(bytes, offset);
  return operation === ARP_REQUEST || operation === ARP_REPLY ? undefined : "unknown-operation";
}

/** Operation code of the packet at `offset`; the caller has checked it by `arpDropOf`. */
export function arpOperationAt(bytes: Uint8Array, offset: number): number {
  return u16At(bytes, offset + ARP_OPERATION_OFFSET);
}

/** Reads an Ethernet payload; bytes after the packet are padding. */
export function decodeArp(bytes: Uint8Array): Decoded<ArpPacket, ArpDrop> {
  const reason = arpDropOf(bytes, 0);
  if (reason !== undefined) return dropped(reason);
  return decoded({
    operation: arpOperationAt(bytes, 0) === ARP_REQUEST ? "request" : "reply",
    senderMac: macAt(bytes, ARP_SENDER_MAC_OFFSET),
    senderIp: ipv4At(bytes, ARP_SENDER_IP_OFFSET),
    targetMac: macAt(bytes, ARP_TARGET_MAC_OFFSET),
    targetIp: ipv4At(bytes, ARP_TARGET_IP_OFFSET),
  });
}

export function encodeArp(packet: ArpPacket): Uint8Array {
  const bytes = new Uint8Array(ARP_BYTES);
  writeArpHeader(bytes, 0, packet.operation === "request" ? ARP_REQUEST : ARP_REPLY);
  writeMac(packet.senderMac, bytes, ARP_SENDER_MAC_OFFSET);
  bytes.set(ipBytes(packet.senderIp), ARP_SENDER_IP_OFFSET);
  writeMac(packet.targetMac, bytes, ARP_TARGET_MAC_OFFSET);
  bytes.set(ipBytes(packet.targetIp), ARP_TARGET_IP_OFFSET);
  return bytes;
}

/** Hardware and protocol types, their lengths, and the operation code. */
export function writeArpHeader(bytes: Uint8Array, offset: number, operation: number): void {
  bytes[offset + 1] = 1;
  bytes[offset + 2] = 0x08;
  bytes[offset + 4] = 6;
  bytes[offset + 5] = 4;
  bytes[offset + ARP_OPERATION_OFFSET + 1] = operation;
}

/** "Who has `targetIp`? Tell `sender`": a frame to all. */
export function buildArpRequest(sender: { readonly mac: Mac; readonly ip: Ip }, targetIp: Ip): Uint8Array {
  return arpFrame(BROADCAST_MAC, "request", sender, { mac: ZERO_MAC, ip: targetIp });
}

/** "`sender.ip` is at `sender.mac`": a frame to the one that asked. */
export function buildArpReply(
  sender: { readonly mac: Mac; readonly ip: Ip },
  requester: { readonly mac: Mac; readonly ip: Ip },
): Uint8Array {
  return arpFrame(requester.mac, "reply", sender, requester);
}

/** RFC 5227 §2.1.1: a request without sender address, so that no cache learns an address that may be another's. */
export function buildArpProbe(mac: Mac, targetIp: Ip): Uint8Array {
  return buildArpRequest({ mac, ip: UNSPECIFIED_IPV4 }, targetIp);
}

/**
 * A gratuitous ARP frame to all (RFC 5227 §2.3, RFC 5944 §4.6). The request form leaves the target MAC zero. The reply form
 * repeats the sender's MAC there: Linux takes a reply whose target MAC is its sender's for gratuitous and updates an entry at
 * once; one to ff:ff:ff:ff:ff:ff it ignores for a second after the last update (the lock time).
 */
export function buildArpAnnouncement(mac: Mac, ip: Ip, operation: ArpOperation): Uint8Array {
  const sender = { mac, ip };
  return arpFrame(BROADCAST_MAC, operation, sender, { mac: operation === "request" ? ZERO_MAC : mac, ip });
}

function arpFrame(
  destination: Mac,
  operation: ArpOperation,
  sender: { readonly mac: Mac; readonly ip: Ip },
  target: { readonly mac: Mac; readonly ip: Ip },
): Uint8Array {
  const payload = encodeArp({
    operation,
    senderMac: sender.mac,
    senderIp: sender.ip,
    targetMac: target.mac,
    targetIp: target.ip,
  });
  return encodeEthernet({ destination, source: sender.mac, etherType: ETHERTYPE_ARP, payload });
}

/** Where an untagged frame's ARP packet begins. */
export const ARP_OFFSET = ETHERNET_HEADER_BYTES;
