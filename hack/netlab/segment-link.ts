/** A link of the namespace that this process runs in: ARP or Neighbor Discovery about some addresses, in; anything, out. */
import { readFileSync } from "node:fs";
import type { Family, Ip } from "../../src/net/ip.ts";
import { type Mac, parseMac } from "../../src/net/mac.ts";
import { buildPacketFilter, encodeFilter } from "../../src/packet/filter.ts";
import { type FrameBatch, openPacketSocket, type PacketSocket } from "../../src/sys/packet-socket.ts";

export function openSegmentSocket(
  family: Family,
  addresses: readonly Ip[],
  onBatch: (frames: FrameBatch) => void,
  linkName = "eth0",
): PacketSocket {
  const linkIndex = Number(readFileSync(`/sys/class/net/${linkName}/ifindex`, "utf8"));
  const filter = encodeFilter(buildPacketFilter({ family, addresses, poolPrefixes: [] }).program);
  // A link that goes down mid-drill is part of the drill; the socket goes on when the link does.
  return openPacketSocket({ linkIndex, linkName, family, filter, onBatch, onError: () => undefined });
}

export function ownMac(linkName = "eth0"): Mac {
  const mac = parseMac(readFileSync(`/sys/class/net/${linkName}/address`, "utf8").trim());
  if (mac === undefined) throw new Error(`${linkName} has no Ethernet address`);
  return mac;
}
