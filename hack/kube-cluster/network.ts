/** The cluster's network namespaces: hack/lab's segment, a second one, and the routes between the nodes' pods. */
import { buildNetwork, removeNetwork, setSysctls } from "../netlab/network.ts";
import { runCommand, runIpBatch } from "../netlab/run-command.ts";
import { allNamespaces, type Host } from "../netlab/topology.ts";
import { type Cluster, podRanges, secondLink, secondSegmentHosts } from "./topology.ts";

export async function buildClusterNetwork(cluster: Cluster): Promise<void> {
  const { topology, control } = cluster;
  await buildNetwork(topology);
  await runIpBatch(topology.switchNamespace, [
    "link add br1 type bridge forward_delay 0 mcast_snooping 0",
    "link set br1 up",
  ]);
  for (const host of secondSegmentHosts(cluster)) await plugInSecond(cluster, host);
  await Promise.all([...topology.nodes, control].map((host) => routePods(cluster, host)));
}

/** Whatever of the cluster's namespaces exists, also of one whose number of nodes nobody knows any more. */
export async function removeClusterNetwork(cluster: Cluster): Promise<void> {
  await removeNetwork(cluster.topology);
  const known = new Set(allNamespaces(cluster.topology));
  const lines = (await runCommand(["ip", "netns", "list"])).split("\n");
  for (const namespace of lines.map((line) => line.split(" ")[0] ?? "")) {
    const isOurs = namespace.startsWith(`${cluster.topology.name}-n`) && /-n\d+$/.test(namespace);
    if (isOurs && !known.has(namespace)) await runCommand(["ip", "netns", "del", namespace]);
  }
}

async function plugInSecond({ topology }: Cluster, host: Host): Promise<void> {
  const { mac, ipv4, ipv6 } = secondLink(host);
  const port = secondPort(host);
  await runIpBatch(topology.switchNamespace, [
    `link add name ${port} type veth peer name eth1 netns ${host.namespace} address ${mac}`,
    `link set ${port} master br1 up`,
  ]);
  await setSysctls(host.namespace, [
    "net/ipv6/conf/eth1/accept_dad=0",
    "net/ipv6/conf/eth1/accept_ra=0",
    "net/ipv6/conf/eth1/router_solicitations=0",
  ]);
  await runIpBatch(host.namespace, [
    "link set eth1 up",
    `addr add ${ipv4}/24 dev eth1`,
    `addr add ${ipv6}/64 dev eth1 nodad`,
  ]);
}

/** The switch's port of the host's eth1. */
function secondPort({ name }: Host): string {
  return `${name}-1`;
}

/** A node, or the control plane, reaches the pods of the other nodes through them. */
async function routePods({ topology, control }: Cluster, host: Host): Promise<void> {
  if (host !== control) {
    await setSysctls(host.namespace, ["net/ipv4/ip_forward=1", "net/ipv6/conf/all/forwarding=1"]);
  }
  const routes = topology.nodes.flatMap((node, index) => {
    const { ipv4, ipv6 } = podRanges(index);
    return node === host ? [] : [`route add ${ipv4} via ${node.ipv4}`, `route add ${ipv6} via ${node.ipv6}`];
  });
  if (routes.length > 0) await runIpBatch(host.namespace, routes);
}
