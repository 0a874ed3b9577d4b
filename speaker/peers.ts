/** Peers by name or address: resolved again and again, because a name may move (DESIGN D17, D6). */

import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import type { NodeFacts } from "../src/desired/snapshot.ts";
import type { Endpoint } from "../src/gossip/message.ts";
import { type Family, familyOf, type Ip, parseIp } from "../src/net/ip.ts";
import type { PeerName } from "../src/options/option-values.ts";

/** Names are looked up again after this long. */
export const RESOLVE_INTERVAL_MS = 10_000;

/** All addresses of all peers; a name that does not resolve now contributes none. */
export async function resolvePeers(peers: readonly PeerName[]): Promise<Endpoint[]> {
  const found = await Promise.all(peers.map(resolvePeer));
  return found.flat();
}

async function resolvePeer({ host, port }: PeerName): Promise<Endpoint[]> {
  const address = parseIp(host);
  if (address !== undefined) return [{ ip: address, port }];
  try {
    const entries = await lookup(host, { all: true });
    return entries.flatMap((entry) => {
      const ip = parseIp(entry.address);
      return ip === undefined ? [] : [{ ip, port }];
    });
  } catch {
    // A name that is unknown for now is asked again in ten seconds; members that were met stay known by address.
    return [];
  }
}

/** A speaker on every node gossips from one of its node's addresses. */
export function addressesOfNodes(nodes: Iterable<NodeFacts>): string[] {
  return [...nodes].flatMap(({ internalIps }) => internalIps);
}

/** What is no address is passed over, and so is one of another family than this node's own: no speaker listens there. */
export function peersAt(addresses: readonly string[], port: number, family: Family | undefined): Endpoint[] {
  return addresses.flatMap((text) => {
    const ip = parseIp(text);
    return ip === undefined || (family !== undefined && familyOf(ip) !== family) ? [] : [{ ip, port }];
  });
}

/** The address this host would send from towards `peer`; a connected UDP socket sends nothing. Undefined when there is no route. */
export async function sourceAddressTowards(peer: Endpoint): Promise<Ip | undefined> {
  const socket = createSocket(familyOf(peer.ip) === 6 ? "udp6" : "udp4");
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.connect(peer.port, peer.ip, resolve);
    });
    return parseIp(socket.address().address);
  } catch {
    return undefined;
  } finally {
    socket.close();
  }
}
