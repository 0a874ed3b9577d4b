/** Where gossip listens when --ml-bindaddr does not say it (DESIGN D17). */

import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "../src/base/log.ts";
import type { Endpoint } from "../src/gossip/message.ts";
import { type Ip, parseIp } from "../src/net/ip.ts";
import type { GossipOptions } from "./options.ts";
import { resolvePeers, sourceAddressTowards } from "./peers.ts";

/** At boot the network and the resolver may come later than the speaker. */
const RETRY_DELAY_MS = 1_000;
/** After so many tries the address of the default route has to do: a resolver may stand behind one of our own addresses. */
const PEER_TRIES = 5;

/** Addresses that no network holds (RFC 5737, RFC 3849): the way there is the default route. Nothing is sent. */
const ELSEWHERE: readonly Endpoint[] = ["198.51.100.1", "2001:db8::1"].flatMap((text) => {
  const ip = parseIp(text);
  return ip === undefined ? [] : [{ ip, port: 9 }];
});

/** The source address towards the first peer that has a route; without peers, or with unknown ones, that of the default route. */
export async function findBindEndpoint(gossip: GossipOptions, log: Log): Promise<Endpoint> {
  const { bindAddress, port, peers } = gossip;
  if (bindAddress !== undefined) return { ip: bindAddress, port };
  for (let tries = 1; ; tries++) {
    const towardsPeers = await firstSourceAddress(await resolvePeers(peers));
    const isLastResort = peers.length === 0 || tries >= PEER_TRIES;
    const ip = towardsPeers ?? (isLastResort ? await firstSourceAddress(ELSEWHERE) : undefined);
    if (ip !== undefined) return { ip, port };
    if (tries === 1) log.warn("no address to gossip from yet", { peers: peers.map(({ host }) => host) });
    await pause(RETRY_DELAY_MS);
  }
}

/**
 * A host's own name often stands for a loopback address in its hosts file: a source address that others cannot reach is taken
 * only when every peer is on this host.
 */
async function firstSourceAddress(peers: readonly Endpoint[]): Promise<Ip | undefined> {
  const sources: Ip[] = [];
  for (const peer of peers) {
    const ip = await sourceAddressTowards(peer);
    if (ip !== undefined && !isLoopback(ip)) return ip;
    if (ip !== undefined) sources.push(ip);
  }
  return sources.length === peers.length ? sources[0] : undefined;
}

function isLoopback(ip: Ip): boolean {
  return ip === "::1" || ip.startsWith("127.");
}
