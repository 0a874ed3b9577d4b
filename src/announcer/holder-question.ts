/**
 * The question to a whole segment who holds an address. Pure. It goes to all, for the holder's MAC is not known: a Go member says
 * nothing of its links.
 */
import { familyOf, type Ip } from "../net/ip.ts";
import { buildArpProbe } from "../packet/arp.ts";
import { encodeNdpFrame } from "../packet/ndp.ts";
import { multicastMacOf, solicitedNodeGroupOf } from "../packet/solicited-node.ts";
import { askingAddress } from "./neighbour-questions.ts";
import type { AnnounceLink } from "./ports.ts";

/**
 * IPv4: a probe (RFC 5227 §2.1.1), which changes nobody's cache. IPv6: a solicitation from an address of the link, with its MAC, for
 * MetalLB answers none without (RFC 4861 §7.2.2); undefined when the link has no address to ask from.
 */
export function holderQuestion(ip: Ip, { mac, addresses }: AnnounceLink): Uint8Array | undefined {
  if (familyOf(ip) === 4) return buildArpProbe(mac, ip);
  const source = askingAddress(ip, addresses);
  if (source === undefined) return undefined;
  const group = solicitedNodeGroupOf(ip);
  return encodeNdpFrame(multicastMacOf(group), mac, {
    kind: "solicitation",
    source,
    destination: group,
    target: ip,
    options: [{ kind: "source-link-layer", mac }],
  });
}
