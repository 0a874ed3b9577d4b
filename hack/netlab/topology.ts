/**
 * What the lab looks like: names, addresses and MACs of everything in it. Pure.
 *
 *   n1 … nN ─┐
 *   client ──┤ switch (bridge br0)  192.0.2.0/24, 2001:db8::/64
 *   watcher ─┤
 *   router ──┘── remote             198.51.100.0/24, 2001:db8:1::/64
 */
import { ArpeggioError } from "../../src/base/errors.ts";
import type { Ip } from "../../src/net/ip.ts";
import type { Mac } from "../../src/net/mac.ts";

/** The port that answers in every node's namespace; requests to port 80 or 81 of a pool address are sent there. */
export const BACKEND_PORT = 8080;
export const SPEAKER_HTTP_PORT = 17_472;
export const SERVICE_PORTS: readonly number[] = [80, 81];

export const POOL_IPV4 = "192.0.2.100-192.0.2.119";
export const POOL_IPV6 = "2001:db8::100-2001:db8::11f";

/** Every address of the two. */
export const POOL_ADDRESSES: readonly Ip[] = [
  ...Array.from({ length: 20 }, (_, index) => `192.0.2.${100 + index}` as Ip),
  ...Array.from({ length: 32 }, (_, index) => `2001:db8::${(0x100 + index).toString(16)}` as Ip),
];

/** Node addresses end in 11, 12, …: what lies between the first of them and the pool. */
export const MAX_NODES = 80;

/** A network namespace with one link, eth0, on the segment (or, for the remote, behind the router). */
export interface Host {
  readonly name: string;
  readonly namespace: string;
  readonly mac: Mac;
  readonly ipv4: Ip;
  readonly ipv6: Ip;
}

export interface Topology {
  readonly name: string;
  readonly switchNamespace: string;
  readonly nodes: readonly Host[];
  readonly client: Host;
  /** Sends probes and notes who answers; the client's own neighbour entries stay as the client made them. */
  readonly watcher: Host;
  readonly router: Host;
  readonly remote: Host;
  /** More hosts on the segment. */
  readonly others: readonly Host[];
}

/** Services of the lab; addresses of one line have one leader. */
export interface LabService {
  readonly name: string;
  readonly addresses: readonly Ip[];
  readonly port: number;
  readonly sharingKey?: string;
}

export const SERVICES: readonly LabService[] = [
  { name: "web", addresses: ["192.0.2.100" as Ip], port: 80 },
  { name: "web6", addresses: ["2001:db8::100" as Ip], port: 80 },
  { name: "dual", addresses: ["192.0.2.101" as Ip, "2001:db8::101" as Ip], port: 80 },
  { name: "shared-a", addresses: ["192.0.2.102" as Ip], port: 80, sharingKey: "one" },
  { name: "shared-b", addresses: ["192.0.2.102" as Ip], port: 81, sharingKey: "one" },
];

export const ADDRESSES: readonly Ip[] = [...new Set(SERVICES.flatMap(({ addresses }) => addresses))];

/** The address that drills are about unless told otherwise. */
export const DRILL_ADDRESS = "192.0.2.100" as Ip;

/** `others`: names of more hosts on the segment; their addresses end in 5 and up. */
export function buildTopology(name: string, nodes: number, others: readonly string[] = []): Topology {
  if (!/^[a-z0-9][a-z0-9-]{0,30}$/.test(name)) {
    throw new ArpeggioError(
      "ERR_CONFIG_INVALID",
      `a lab's name has lower case letters, digits and dashes, not "${name}"`,
    );
  }
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > MAX_NODES) {
    throw new ArpeggioError("ERR_CONFIG_INVALID", `a lab has 1 to ${MAX_NODES} nodes`);
  }
  return {
    name,
    switchNamespace: `${name}-switch`,
    nodes: Array.from({ length: nodes }, (_, index) => hostOf(name, `n${index + 1}`, 11 + index)),
    client: hostOf(name, "client", 2),
    watcher: hostOf(name, "watcher", 3),
    router: hostOf(name, "router", 1),
    remote: {
      ...hostOf(name, "remote", 4),
      ipv4: "198.51.100.2" as Ip,
      ipv6: "2001:db8:1::2" as Ip,
    },
    others: others.map((other, index) => hostOf(name, other, 5 + index)),
  };
}

/** The hosts that have a port on the switch; the port is named like the host. */
export function segmentHosts(topology: Topology): readonly Host[] {
  return [...topology.nodes, topology.client, topology.watcher, topology.router, ...topology.others];
}

export function allNamespaces(topology: Topology): readonly string[] {
  return [topology.switchNamespace, ...[...segmentHosts(topology), topology.remote].map(({ namespace }) => namespace)];
}

function hostOf(lab: string, name: string, suffix: number): Host {
  return {
    name,
    namespace: `${lab}-${name}`,
    mac: `02:00:00:00:00:${suffix.toString(16).padStart(2, "0")}` as Mac,
    ipv4: `192.0.2.${suffix}` as Ip,
    ipv6: `2001:db8::${suffix.toString(16)}` as Ip,
  };
}
