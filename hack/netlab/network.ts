/** Builds and removes the lab's namespaces. Every sysctl here belongs to a namespace of the lab, none to the machine. */
import { inNamespace, runCommand, runIpBatch } from "./run-command.ts";
import {
  allNamespaces,
  BACKEND_PORT,
  type Host,
  POOL_IPV4,
  POOL_IPV6,
  SERVICE_PORTS,
  segmentHosts,
  type Topology,
} from "./topology.ts";

const ROUTER_IPV4 = "192.0.2.1";
const ROUTER_IPV6 = "2001:db8::1";

/** No duplicate address detection: it would make every link wait for a second before it can send. */
const NO_DAD = ["net/ipv6/conf/all/accept_dad=0", "net/ipv6/conf/eth0/accept_dad=0"];
const NO_ROUTER_ADVERTISEMENTS = ["net/ipv6/conf/eth0/accept_ra=0", "net/ipv6/conf/eth0/router_solicitations=0"];

export async function buildNetwork(topology: Topology): Promise<void> {
  for (const namespace of allNamespaces(topology)) await runCommand(["ip", "netns", "add", namespace]);
  await Promise.all([...segmentHosts(topology), topology.remote].map((host) => plugIn(topology, host)));
  await Promise.all(segmentHosts(topology).map((host) => configureHost(host, ROUTER_IPV4, ROUTER_IPV6)));
  await configureHost(topology.remote, "198.51.100.1", "2001:db8:1::1");
  await openSwitch(topology);
  await openRouter(topology);
}

/** Removes whatever of the lab exists, and nothing else. */
export async function removeNetwork(topology: Topology): Promise<void> {
  const existing = await listNamespaces();
  for (const namespace of allNamespaces(topology)) {
    if (existing.has(namespace)) await runCommand(["ip", "netns", "del", namespace]);
  }
}

/** The node's link is gone and another one put in its place: a new link index, the same name, MAC and addresses. */
export async function replaceLink(topology: Topology, host: Host): Promise<void> {
  await runIpBatch(host.namespace, ["link del eth0"]);
  await plugIn(topology, host);
  await configureHost(host, ROUTER_IPV4, ROUTER_IPV6);
  await runIpBatch(topology.switchNamespace, [`link set ${host.name} master br0 up`]);
}

async function listNamespaces(): Promise<ReadonlySet<string>> {
  const text = await runCommand(["ip", "netns", "list"]);
  return new Set(text.split("\n").map((line) => line.split(" ")[0] ?? ""));
}

/** The virtual cable between a host's eth0 and the port of its name on the switch, or on the router for the remote. */
async function plugIn(topology: Topology, host: Host): Promise<void> {
  const [namespace, port] =
    host === topology.remote ? [topology.router.namespace, "eth1"] : [topology.switchNamespace, host.name];
  await runCommand(
    `ip link add name ${port} netns ${namespace} type veth peer name eth0 netns ${host.namespace} address ${host.mac}`.split(
      " ",
    ),
  );
}

async function configureHost(host: Host, router4: string, router6: string): Promise<void> {
  await setSysctls(host.namespace, [...NO_DAD, ...NO_ROUTER_ADVERTISEMENTS]);
  const lines = [
    "link set lo up",
    "link set eth0 up",
    `addr add ${host.ipv4}/24 dev eth0`,
    `addr add ${host.ipv6}/64 dev eth0 nodad`,
  ];
  if (host.ipv4 !== router4) lines.push(`route add default via ${router4}`, `route add default via ${router6}`);
  await runIpBatch(host.namespace, lines);
}

/** Without snooping and spanning tree: the bridge learns and floods like a plain switch, from the first frame on. */
async function openSwitch(topology: Topology): Promise<void> {
  await runIpBatch(topology.switchNamespace, [
    "link add br0 type bridge forward_delay 0 mcast_snooping 0",
    ...segmentHosts(topology).map(({ name }) => `link set ${name} master br0 up`),
    "link set br0 up",
  ]);
}

async function openRouter({ router }: Topology): Promise<void> {
  await setSysctls(router.namespace, [
    "net/ipv4/ip_forward=1",
    "net/ipv6/conf/all/forwarding=1",
    "net/ipv6/conf/eth1/accept_dad=0",
  ]);
  await runIpBatch(router.namespace, [
    "link set eth1 up",
    "addr add 198.51.100.1/24 dev eth1",
    "addr add 2001:db8:1::1/64 dev eth1 nodad",
  ]);
}

/** What kube-proxy does on a node: the pool's addresses are on no link, and still every node forwards them to a backend. */
export async function serveBehindNat(node: Host): Promise<void> {
  const ports = `tcp dport { ${SERVICE_PORTS.join(", ")} }`;
  await runCommand(
    inNamespace(node.namespace, ["nft", "-f", "-"]),
    `table inet backend {
      chain prerouting {
        type nat hook prerouting priority dstnat
        ip daddr ${POOL_IPV4} ${ports} dnat ip to ${node.ipv4}:${BACKEND_PORT}
        ip6 daddr ${POOL_IPV6} ${ports} dnat ip6 to [${node.ipv6}]:${BACKEND_PORT}
      }
    }\n`,
  );
}

export async function setSysctls(namespace: string, settings: readonly string[]): Promise<void> {
  const script = settings.map((setting) => setting.replace(/^(.*)=(.*)$/, "echo $2 > /proc/sys/$1")).join(" && ");
  await runCommand(inNamespace(namespace, ["sh", "-c", script]));
}
