/** Where gossip listens when --ml-bindaddr does not say it (DESIGN D17). */
import { networkInterfaces } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "../src/base/log.ts";
import { type Ip, parseIp } from "../src/net/ip.ts";
import type { GossipOptions } from "./options.ts";
import { type PeerEndpoint, resolvePeers, sourceAddressTowards } from "./peers.ts";

/** At boot the network may come later than the speaker. */
const RETRY_DELAY_MS = 1_000;

/** The source address towards the first peer that has a route; without peers the host's first address that is not loopback. */
export async function findBindEndpoint(gossip: GossipOptions, log: Log): Promise<PeerEndpoint> {
  const { bindAddress, port, peers } = gossip;
  if (bindAddress !== undefined) return { ip: bindAddress, port };
  for (let tries = 0; ; tries++) {
    const ip = peers.length === 0 ? firstHostAddress() : await firstSourceAddress(await resolvePeers(peers));
    if (ip !== undefined) return { ip, port };
    if (tries === 0) log.warn("no address to gossip from yet", { peers: peers.map(({ host }) => host) });
    await pause(RETRY_DELAY_MS);
  }
}

async function firstSourceAddress(peers: readonly PeerEndpoint[]): Promise<Ip | undefined> {
  for (const peer of peers) {
    const ip = await sourceAddressTowards(peer);
    if (ip !== undefined) return ip;
  }
  return undefined;
}

function firstHostAddress(): Ip | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  const chosen = addresses.filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0)[0];
  return chosen === undefined ? parseIp("127.0.0.1") : parseIp(chosen.address);
}
