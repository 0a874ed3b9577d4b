/** What a node's containerd, kubelet and kube-proxy read, and their command lines. Paths are those inside the node (see node.sh). Pure. */
import type { Host } from "../netlab/topology.ts";
import { ALL_POD_RANGES, podRanges } from "./topology.ts";

/** Where node.sh puts the multi-call binary. */
const BINARY = "/opt/kubernetes";
export const PAUSE_IMAGE = "localhost/pause:1";

/** File below the node's state folder → text. `index` counts nodes from 0. */
export function buildNodeFiles(node: Host, index: number): ReadonlyMap<string, string> {
  return new Map([
    ["etc/hostname", `${node.name}\n`],
    ["etc/hosts", `127.0.0.1 localhost ${node.name}\n::1 localhost\n`],
    ["etc/resolv.conf", ""],
    ["etc/machine-id", `${String(index + 1).padStart(32, "0")}\n`],
    ["etc/containerd/config.toml", CONTAINERD],
    ["etc/cni/net.d/10-cluster.conflist", JSON.stringify(cniConfiguration(index))],
    ["etc/kubernetes/kubelet.yaml", KUBELET],
    ["etc/kubernetes/proxy.yaml", proxyConfiguration(node)],
    ["services/containerd", "exec containerd\n"],
    [
      "services/kubelet",
      `exec ${BINARY} kubelet --config=/etc/kubernetes/kubelet.yaml --kubeconfig=/etc/kubernetes/kubelet.kubeconfig --node-ip=${node.ipv4},${node.ipv6} --hostname-override=${node.name}\n`,
    ],
    ["services/kube-proxy", `exec ${BINARY} kube-proxy --config=/etc/kubernetes/proxy.yaml\n`],
  ]);
}

/**
 * restrict_oom_score_adj: without CAP_SYS_RESOURCE a score cannot be lowered, as kubelet asks for pause containers, and runc
 * would die of it. The configuration is containerd 1.6's, version 2.
 */
const CONTAINERD = `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  sandbox_image = "${PAUSE_IMAGE}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/opt/tools/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
`;

/**
 * The disk is the machine's and shared by all nodes, so nothing is evicted for it; an image that was collected could not be pulled again.
 * Whoever reaches the kubelet's port may use it: logs and exec come over it from the API server.
 */
const KUBELET = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
failSwapOn: false
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
authentication: { anonymous: { enabled: true }, webhook: { enabled: false } }
authorization: { mode: AlwaysAllow }
makeIPTablesUtilChains: false
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: { memory.available: "100Mi", nodefs.available: "0%", imagefs.available: "0%", nodefs.inodesFree: "0%", imagefs.inodesFree: "0%" }
shutdownGracePeriod: 0s
clusterDNS: [10.96.0.10]
resolvConf: /etc/resolv.conf
`;

/** Both families from one bridge; a pod may reach itself through its Service. */
function cniConfiguration(index: number): unknown {
  const { ipv4, ipv6 } = podRanges(index);
  const ipam = {
    type: "host-local",
    ranges: [[{ subnet: ipv4 }], [{ subnet: ipv6 }]],
    routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0" }],
    dataDir: "/run/cni",
  };
  const bridge = { type: "bridge", bridge: "cni0", isGateway: true, ipMasq: false, hairpinMode: true, ipam };
  return { cniVersion: "0.4.0", name: "cluster", plugins: [bridge] };
}

/** Zeros: conntrack's limits and timeouts are the machine's. */
function proxyConfiguration(node: Host): string {
  return `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clientConnection: { kubeconfig: /etc/kubernetes/proxy.kubeconfig }
clusterCIDR: "${ALL_POD_RANGES}"
hostnameOverride: ${node.name}
conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s }
`;
}
