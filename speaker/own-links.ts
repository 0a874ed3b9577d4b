/** This node's links as the announcer, the packet sockets and /status want them. Pure. */
import type { LINK_REASONS } from "../api/reasons.ts";
import type { AnnounceLink } from "../src/announcer/ports.ts";
import type { JudgedLink } from "../src/election/usable-links.ts";
import { isLinkLocal } from "../src/net/ip.ts";
import type { Link } from "../src/net/link.ts";

export type LinkReason = (typeof LINK_REASONS)[number];

export function announceLinkOf({ link, isUsable }: JudgedLink): AnnounceLink {
  const linkLocal = link.addresses.find(isLinkLocal);
  return {
    index: link.index,
    name: link.name,
    mac: link.mac,
    isUsable,
    prefixes: link.prefixes,
    ...(linkLocal === undefined ? {} : { linkLocal }),
  };
}

/** Why a link that was not excluded is not answered on; undefined when it is. */
export function linkReason({ link, isUsable }: JudgedLink): LinkReason | undefined {
  return isUsable ? undefined : (kernelReason(link) ?? "just-came-up");
}

function kernelReason(link: Link): LinkReason | undefined {
  if (link.isLoopback) return "loopback";
  if (!link.isEthernet) return "not-ethernet";
  if (!link.isBroadcast) return "no-broadcast";
  if (link.isNoArp) return "no-arp";
  if (link.masterKind === "other") return "has-master";
  if (!link.isAdminUp) return "admin-down";
  return link.hasCarrier ? undefined : "no-carrier";
}
