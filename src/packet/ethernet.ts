/** Ethernet II frames with at most one 802.1Q tag (IEEE 802.3 §3, 802.1Q §9.6). Pure: bytes in, values out. */
import { u16At } from "../base/bytes.ts";
import { type Decoded, decoded, dropped } from "../base/decoded.ts";
import { type Mac, macAt, writeMac } from "../net/mac.ts";

export const ETHERNET_HEADER_BYTES = 14;
export const VLAN_TAG_BYTES = 4;
/** Shortest frame, without its check sequence: what is shorter is padded with zeros. */
export const ETHERNET_MIN_BYTES = 60;

export const ETHERTYPE_ARP = 0x0806;
export const ETHERTYPE_IPV6 = 0x86dd;
const ETHERTYPE_VLAN = 0x8100;

/** Tag control information: priority, drop eligibility, VLAN identifier. */
export interface VlanTag {
  /** 0 marks a frame that carries a priority only and belongs to no VLAN. */
  readonly id: number;
  readonly priority: number;
  readonly isDropEligible: boolean;
}

export interface EthernetFrame {
  readonly destination: Mac;
  readonly source: Mac;
  readonly etherType: number;
  readonly vlan?: VlanTag;
  /** With the padding that followed it: only the protocol inside knows its length. */
  readonly payload: Uint8Array;
}

export type EthernetDrop = "truncated" | "length-field";

/** Drops what is too short, and 802.3 frames that carry a length where Ethernet II carries a type. */
export function decodeEthernet(frame: Uint8Array): Decoded<EthernetFrame, EthernetDrop> {
  if (frame.length < ETHERNET_HEADER_BYTES) return dropped("truncated");
  const isTagged = u16At(frame, 12) === ETHERTYPE_VLAN;
  const payloadOffset = ETHERNET_HEADER_BYTES + (isTagged ? VLAN_TAG_BYTES : 0);
  if (frame.length < payloadOffset) return dropped("truncated");
  const etherType = u16At(frame, payloadOffset - 2);
  // 802.3 §3.2.6: below 1,536 the field is a length.
  if (etherType < 0x0600) return dropped("length-field");
  const header = { destination: macAt(frame, 0), source: macAt(frame, 6), etherType };
  const payload = frame.subarray(payloadOffset);
  return decoded(isTagged ? { ...header, vlan: vlanOf(u16At(frame, 14)), payload } : { ...header, payload });
}

/** The frame, padded to the shortest length that Ethernet carries. */
export function encodeEthernet(frame: EthernetFrame): Uint8Array {
  const payloadOffset = ETHERNET_HEADER_BYTES + (frame.vlan === undefined ? 0 : VLAN_TAG_BYTES);
  const bytes = new Uint8Array(Math.max(ETHERNET_MIN_BYTES, payloadOffset + frame.payload.length));
  writeMac(frame.destination, bytes, 0);
  writeMac(frame.source, bytes, 6);
  if (frame.vlan !== undefined) {
    const { priority, isDropEligible, id } = frame.vlan;
    writeU16(bytes, 12, ETHERTYPE_VLAN);
    writeU16(bytes, 14, (priority << 13) | (isDropEligible ? 0x1000 : 0) | id);
  }
  writeU16(bytes, payloadOffset - 2, frame.etherType);
  bytes.set(frame.payload, payloadOffset);
  return bytes;
}

/** VLAN identifier of tag control information; 0 for a tag that carries a priority only. */
export function vlanIdOf(tagControl: number): number {
  return tagControl & 0xfff;
}

/**
 * Where the payload of an untagged or priority-tagged frame begins if it is of `etherType`; 0 when it is of another type, of a
 * VLAN, or too short. For paths that make no value of the frame.
 */
export function payloadOffsetOf(frame: Uint8Array, etherType: number): number {
  if (frame.length < ETHERNET_HEADER_BYTES) return 0;
  const first = u16At(frame, 12);
  if (first === etherType) return ETHERNET_HEADER_BYTES;
  const tagged = ETHERNET_HEADER_BYTES + VLAN_TAG_BYTES;
  if (first !== ETHERTYPE_VLAN || frame.length < tagged || vlanIdOf(u16At(frame, 14)) !== 0) return 0;
  return u16At(frame, 16) === etherType ? tagged : 0;
}

function vlanOf(tagControl: number): VlanTag {
  return { id: vlanIdOf(tagControl), priority: tagControl >>> 13, isDropEligible: (tagControl & 0x1000) !== 0 };
}

function writeU16(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >>> 8;
  bytes[offset + 1] = value;
}
