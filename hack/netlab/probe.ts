/**
 * Probes that tell who answers for an address, and what a frame claims. Pure.
 *
 * A probe is an ordinary broadcast ARP request, or a multicast solicitation. Its sender address carries the probe's number,
 * which the answer repeats: so an answer that was queued somewhere is not taken for one to a later probe.
 */
import type { Ip } from "../../src/net/ip.ts";
import { familyOf } from "../../src/net/ip.ts";
import type { Mac } from "../../src/net/mac.ts";
import { buildArpRequest, decodeArp } from "../../src/packet/arp.ts";
import { decodeEthernet, ETHERTYPE_ARP, ETHERTYPE_IPV6 } from "../../src/packet/ethernet.ts";
import { decodeNdp, encodeNdpFrame } from "../../src/packet/ndp.ts";
import { multicastMacOf, solicitedNodeGroupOf } from "../../src/packet/solicited-node.ts";

/** 192.0.2.200 to .254: no host of the lab has these. */
const IPV4_SENDERS = 55;
const FIRST_IPV4_SENDER = 200;
const IPV6_SENDERS = 0x10000;
const IPV6_SENDER_PREFIX = "2001:db8::f:";

export interface ClaimedFrame {
  readonly mac: Mac;
  /** Absent: the frame was not asked for by a probe. */
  readonly probe?: number;
}

export function buildProbe(mac: Mac, address: Ip, probe: number): Uint8Array {
  const source = senderOf(address, probe);
  if (familyOf(address) === 4) return buildArpRequest({ mac, ip: source }, address);
  const destination = solicitedNodeGroupOf(address);
  return encodeNdpFrame(multicastMacOf(destination), mac, {
    kind: "solicitation",
    source,
    destination,
    target: address,
    options: [{ kind: "source-link-layer", mac }],
  });
}

/** What the frame says of `address`: undefined when nothing. `lastProbe` is the newest one that was sent. */
export function readClaim(frame: Uint8Array, address: Ip, lastProbe: number): ClaimedFrame | undefined {
  const ethernet = decodeEthernet(frame);
  if (!ethernet.ok) return undefined;
  const { etherType, payload, source } = ethernet.value;
  if (etherType === ETHERTYPE_ARP) {
    const arp = decodeArp(payload);
    if (!arp.ok || arp.value.senderIp !== address) return undefined;
    return claimOf(source, arp.value.targetIp, address, lastProbe);
  }
  if (etherType !== ETHERTYPE_IPV6) return undefined;
  const ndp = decodeNdp(payload);
  if (!ndp.ok || ndp.value.kind !== "advertisement" || ndp.value.target !== address) return undefined;
  return claimOf(source, ndp.value.destination, address, lastProbe);
}

function claimOf(mac: Mac, toldTo: Ip, address: Ip, lastProbe: number): ClaimedFrame {
  const number = senderNumberOf(toldTo);
  if (number === undefined) return { mac };
  const senders = familyOf(address) === 4 ? IPV4_SENDERS : IPV6_SENDERS;
  const age = (((lastProbe - number) % senders) + senders) % senders;
  return { mac, probe: lastProbe - age };
}

function senderOf(address: Ip, probe: number): Ip {
  return familyOf(address) === 4
    ? (`192.0.2.${FIRST_IPV4_SENDER + (probe % IPV4_SENDERS)}` as Ip)
    : (`${IPV6_SENDER_PREFIX}${(probe % IPV6_SENDERS).toString(16)}` as Ip);
}

function senderNumberOf(sender: Ip): number | undefined {
  if (sender.startsWith(IPV6_SENDER_PREFIX)) return Number.parseInt(sender.slice(IPV6_SENDER_PREFIX.length), 16);
  const last = Number(/^192\.0\.2\.(\d+)$/.exec(sender)?.[1]);
  return last >= FIRST_IPV4_SENDER && last < FIRST_IPV4_SENDER + IPV4_SENDERS ? last - FIRST_IPV4_SENDER : undefined;
}
