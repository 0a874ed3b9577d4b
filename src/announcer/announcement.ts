/** The unsolicited frames for an address (DESIGN D11). Pure. */
import { familyOf, type Ip } from "../net/ip.ts";
import type { Mac } from "../net/mac.ts";
import { buildArpAnnouncement } from "../packet/arp.ts";
import { encodeNdpFrame } from "../packet/ndp.ts";
import { ALL_NODES, ALL_NODES_MAC } from "../packet/solicited-node.ts";

/** IPv4: a gratuitous request, then a gratuitous reply: each is what some clients ignore. IPv6: one advertisement. */
export function framesPerBurst(ip: Ip): number {
  return familyOf(ip) === 4 ? 2 : 1;
}

/** Frame number `frame` of a burst. */
export function announcementFrame(ip: Ip, mac: Mac, frame: number): Uint8Array {
  if (familyOf(ip) === 4) return buildArpAnnouncement(mac, ip, frame === 0 ? "request" : "reply");
  // RFC 4861 §7.2.6. The source is the address itself, as in the kernel's own unsolicited advertisements: a switch that binds
  // source addresses to ports then learns the right one, and a link without link-local address can speak too.
  return encodeNdpFrame(ALL_NODES_MAC, mac, {
    kind: "advertisement",
    source: ip,
    destination: ALL_NODES,
    target: ip,
    isRouter: false,
    isSolicited: false,
    isOverride: true,
    options: [{ kind: "target-link-layer", mac }],
  });
}
