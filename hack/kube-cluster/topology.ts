/**
 * What the cluster's network looks like. Pure. The first segment is hack/lab's (see hack/netlab/topology.ts) with the control plane as
 * one more host on it; nodes and the client have a second link, eth1, on a second segment.
 *
 *   n1 … nN ─┬─ eth0 ─ br0  192.0.2.0/24, 2001:db8::/64 ─ control, watcher, router ── remote
 *   client  ─┴─ eth1 ─ br1  203.0.113.0/24, 2001:db8:2::/64
 */
import type { Ip } from "../../src/net/ip.ts";
import type { Mac } from "../../src/net/mac.ts";
import { buildTopology, type Host, type Topology } from "../netlab/topology.ts";

export interface Cluster {
  readonly name: string;
  /** Everything that the cluster keeps on disk. */
  readonly folder: string;
  readonly topology: Topology;
  readonly control: Host;
}

/** Addresses that the drills and tests take on the second segment; on the first they are hack/lab's. */
export const SECOND_POOL_IPV4 = "203.0.113.100-203.0.113.119";
export const SECOND_POOL_IPV6 = "2001:db8:2::100-2001:db8:2::11f";

/** Pods of node number `index`, counted from 0. */
export function podRanges(index: number): { readonly ipv4: string; readonly ipv6: string } {
  return { ipv4: `10.88.${index + 1}.0/24`, ipv6: `fd88:0:0:${(index + 1).toString(16)}::/64` };
}

/** All pods: what kube-proxy takes for the cluster's own traffic. */
export const ALL_POD_RANGES = "10.88.0.0/16,fd88::/48";

/** On disk, not in /run: an overlay of containerd cannot lie on every tmpfs. The same whatever the environment says: `down` finds what `up` made. */
export function clusterFolder(name: string): string {
  return `/var/lib/arpeggio-kube-${name}`;
}

export function buildCluster(name: string, nodes: number): Cluster {
  const topology = buildTopology(`kube-${name}`, nodes, ["control"]);
  const [control] = topology.others;
  if (control === undefined) throw new Error("the control plane has a host");
  return { name, folder: clusterFolder(name), topology, control };
}

/** Hosts that are on the second segment too. */
export function secondSegmentHosts({ topology }: Cluster): readonly Host[] {
  return [...topology.nodes, topology.client];
}

/** The host's eth1: addresses that end like those of eth0. */
export function secondLink(host: Host): { readonly mac: Mac; readonly ipv4: Ip; readonly ipv6: Ip } {
  return {
    mac: host.mac.replace(/^02:00:00:00:00/, "02:00:00:00:01") as Mac,
    ipv4: host.ipv4.replace("192.0.2.", "203.0.113.") as Ip,
    ipv6: host.ipv6.replace("2001:db8::", "2001:db8:2::") as Ip,
  };
}
