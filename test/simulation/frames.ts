/**
 * Frames as the outside world builds and reads them: a second, small implementation on purpose, so that a fault of
 * src/packet cannot hide by being on both sides. ARP: RFC 826; Neighbor Discovery: RFC 4861 §4.3, §4.4. Pure.
 */
import { familyOf, type Ip, ipBytes, ipv4At, ipv6At } from "../../src/net/ip.ts";
import { BROADCAST_MAC, type Mac, macAt, writeMac, ZERO_MAC } from "../../src/net/mac.ts";
import { multicastMacOf, solicitedNodeGroupOf } from "../../src/packet/solicited-node.ts";

const ETHERNET_BYTES = 14;
const IPV6_HEADER_BYTES = 40;
const TYPE_ARP = 0x0806;
const TYPE_IPV6 = 0x86dd;
const SOLICITATION = 135;
const ADVERTISEMENT = 136;

/** What a frame says, whichever the family. */
export interface NeighbourFrame {
  readonly form: "arp-request" | "arp-reply" | "solicitation" | "advertisement";
  readonly source: Mac;
  readonly destination: Mac;
  /** Sender of an ARP packet; IPv6 source. */
  readonly senderIp: Ip;
  /** MAC inside the packet: ARP sender, or the link-layer option. Absent when there is no option. */
  readonly senderMac?: Mac;
  /** Who is asked for, or what is advertised. */
  readonly targetIp: Ip;
  readonly targetMac?: Mac;
  readonly isOverride?: boolean;
  readonly isSolicited?: boolean;
}

interface ReadFrame {
  readonly bytes: Uint8Array;
  readonly frame: NeighbourFrame | undefined;
}

/** A frame comes to all its ports within a short time: so many are remembered, until they are too many. */
const READ_FRAMES = 256;
const READ = new Map<Uint8Array, ReadFrame>();
/** Whoever passes a frame on asks several times. */
let last: ReadFrame | undefined;

/** Undefined for whatever is no ARP, NS or NA. One frame comes to many ports and is never changed: it is read once. */
export function readFrame(bytes: Uint8Array): NeighbourFrame | undefined {
  if (last?.bytes === bytes) return last.frame;
  last = READ.get(bytes);
  if (last === undefined) {
    last = { bytes, frame: read(bytes) };
    if (READ.size >= READ_FRAMES) READ.clear();
    READ.set(bytes, last);
  }
  return last.frame;
}

/** The addresses that switches and cards go by, whatever the frame is. */
export function macsOf(bytes: Uint8Array): { readonly source: Mac; readonly destination: Mac } {
  return readFrame(bytes) ?? { source: macAt(bytes, 6), destination: macAt(bytes, 0) };
}

function read(bytes: Uint8Array): NeighbourFrame | undefined {
  if (bytes.length < ETHERNET_BYTES + 28) return undefined;
  const destination = macAt(bytes, 0);
  const source = macAt(bytes, 6);
  const type = word(bytes, 12);
  if (type === TYPE_ARP) {
    const operation = word(bytes, 20);
    if (operation !== 1 && operation !== 2) return undefined;
    return {
      form: operation === 1 ? "arp-request" : "arp-reply",
      source,
      destination,
      senderMac: macAt(bytes, 22),
      senderIp: ipv4At(bytes, 28),
      targetMac: macAt(bytes, 32),
      targetIp: ipv4At(bytes, 38),
    };
  }
  return type === TYPE_IPV6 ? readNdp(bytes, source, destination) : undefined;
}

function readNdp(bytes: Uint8Array, source: Mac, destination: Mac): NeighbourFrame | undefined {
  const at = ETHERNET_BYTES + IPV6_HEADER_BYTES;
  if (bytes.length < at + 24 || bytes[20] !== 58 || bytes[21] !== 255) return undefined;
  const type = bytes[at];
  if (type !== SOLICITATION && type !== ADVERTISEMENT) return undefined;
  if (checksum(bytes.subarray(ETHERNET_BYTES)) !== 0) return undefined;
  const flags = bytes[at + 4] ?? 0;
  const common = { source, destination, senderIp: ipv6At(bytes, 22), targetIp: ipv6At(bytes, at + 8) };
  // Source option (1) in a solicitation, target option (2) in an advertisement; both one unit of eight bytes.
  const wanted = type === SOLICITATION ? 1 : 2;
  const option = bytes.length >= at + 32 && bytes[at + 24] === wanted ? { senderMac: macAt(bytes, at + 26) } : {};
  if (type === SOLICITATION) return { form: "solicitation", ...common, ...option };
  return {
    form: "advertisement",
    ...common,
    ...option,
    isSolicited: (flags & 0x40) !== 0,
    isOverride: (flags & 0x20) !== 0,
  };
}

/** Whether a frame tells of an address without having been asked: both gratuitous forms, and NA to a group. */
export function isUnsolicited(frame: NeighbourFrame): boolean {
  if (frame.form === "arp-request") return frame.senderIp === frame.targetIp;
  if (frame.form === "arp-reply") return frame.destination === BROADCAST_MAC;
  return frame.form === "advertisement" && frame.isSolicited !== true;
}

export interface Asker {
  readonly mac: Mac;
  readonly ip: Ip;
}

/** A request for `target`: broadcast, or to `to` alone. */
export function requestFrame(asker: Asker, target: Ip, to?: Mac): Uint8Array {
  if (familyOf(target) === 4) {
    return arpFrame(1, to ?? BROADCAST_MAC, asker, { mac: ZERO_MAC, ip: target });
  }
  const group = solicitedNodeGroupOf(target);
  return ndpFrame(
    SOLICITATION,
    to ?? multicastMacOf(group),
    asker.mac,
    asker.ip,
    to === undefined ? group : target,
    0,
    target,
  );
}

/** The answer of a kernel that holds `owner.ip`. */
export function answerFrame(owner: Asker, asker: Asker): Uint8Array {
  if (familyOf(owner.ip) === 4) return arpFrame(2, asker.mac, owner, asker);
  return ndpFrame(ADVERTISEMENT, asker.mac, owner.mac, owner.ip, asker.ip, 0x60, owner.ip);
}

function arpFrame(operation: number, to: Mac, sender: Asker, target: Asker): Uint8Array {
  const bytes = new Uint8Array(60);
  writeMac(to, bytes, 0);
  writeMac(sender.mac, bytes, 6);
  bytes.set([0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, operation], 12);
  writeMac(sender.mac, bytes, 22);
  bytes.set(ipBytes(sender.ip), 28);
  writeMac(target.mac, bytes, 32);
  bytes.set(ipBytes(target.ip), 38);
  return bytes;
}

function ndpFrame(
  type: number,
  to: Mac,
  from: Mac,
  source: Ip,
  destination: Ip,
  flags: number,
  target: Ip,
): Uint8Array {
  const at = ETHERNET_BYTES + IPV6_HEADER_BYTES;
  const bytes = new Uint8Array(at + 32);
  writeMac(to, bytes, 0);
  writeMac(from, bytes, 6);
  bytes.set([0x86, 0xdd, 0x60, 0, 0, 0, 0, 32, 58, 255], 12);
  bytes.set(ipBytes(source), 22);
  bytes.set(ipBytes(destination), 38);
  bytes[at] = type;
  bytes[at + 4] = flags;
  bytes.set(ipBytes(target), at + 8);
  bytes[at + 24] = type === SOLICITATION ? 1 : 2;
  bytes[at + 25] = 1;
  writeMac(from, bytes, at + 26);
  const sum = checksum(bytes.subarray(ETHERNET_BYTES));
  bytes.set([sum >>> 8, sum & 0xff], at + 2);
  return bytes;
}

/** Complement of the sum over pseudo header and message (RFC 8200 §8.1); zero for a packet that carries the right one. */
function checksum(packet: Uint8Array): number {
  const length = word(packet, 4);
  let sum = length + 58;
  for (let index = 8; index < IPV6_HEADER_BYTES; index += 2) sum += word(packet, index);
  for (let index = 0; index < length; index += 2) sum += word(packet, IPV6_HEADER_BYTES + index);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

function word(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset] ?? 0) << 8) | (bytes[offset + 1] ?? 0);
}
