/** A cluster from nothing to Ready nodes, and back to nothing. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ArpeggioError } from "../../src/base/errors.ts";
import { killProcess, livingPid, recordedRoles, startProcess } from "../netlab/processes.ts";
import type { Host } from "../netlab/topology.ts";
import { createGroups, groupFolders, removeGroups } from "./cgroups.ts";
import { openDoor } from "./door.ts";
import { IMAGE_FOLDER } from "./images.ts";
import { kubectl, machineKubeconfig } from "./kubectl.ts";
import { buildClusterNetwork, removeClusterNetwork } from "./network.ts";
import { buildNodeFiles } from "./node-files.ts";
import { makeStateFolder, order, waitForInit } from "./orders.ts";
import { apiServerArgv, caPath, controllerManagerArgv, etcdArgv, type PlaneSettings, schedulerArgv } from "./plane.ts";
import { ADMIN, buildKubeconfig, type TokenUser, writePlaneFiles } from "./plane-files.ts";
import { buildCluster, type Cluster, clusterFolder } from "./topology.ts";

/** Scripts are not compiled: they stay where they are written. */
const HUB_SCRIPT = resolve(import.meta.dirname, "../../../hack/kube-cluster/hub.sh");
const API_PORT = 6443;
const START_TIMEOUT_MS = 120_000;
const POLL_MS = 50;

/** What the machine needs for a cluster beside this repository; hack/kube makes both. */
export interface Tools {
  /** See build-plane. */
  readonly binary: string;
  /** See fetch-tools. */
  readonly nodeTools: string;
}

export type NodeService = "containerd" | "kubelet" | "kube-proxy";
export type ControlService = "etcd" | "kube-apiserver" | "kube-controller-manager" | "kube-scheduler";

/** The cluster of that name that was brought up earlier, or undefined. */
export function findCluster(name: string): Cluster | undefined {
  let text: string;
  try {
    text = readFileSync(join(clusterFolder(name), "cluster.json"), "utf8");
  } catch {
    return undefined; // not up
  }
  const { nodes } = JSON.parse(text) as { readonly nodes: number };
  return buildCluster(name, nodes);
}

/** Ready nodes and nothing in them. When it fails it leaves what there is, with its logs, to be looked at; `destroyCluster` removes it. */
export async function createCluster(
  name: string,
  nodes: number,
  tools: Tools,
  note: (step: string) => void = () => undefined,
): Promise<Cluster> {
  const cluster = buildCluster(name, nodes);
  if (existsSync(cluster.folder)) {
    throw new ArpeggioError(
      "ERR_CONFIG_INVALID",
      `cluster ${name}, or a part of it, is there already (${cluster.folder}): hack/kube down --name ${name}`,
    );
  }
  const { topology, control, folder } = cluster;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "cluster.json"), JSON.stringify({ nodes }));
  linkTools(cluster, tools);
  const settings = planeSettings(cluster);
  writePlaneFiles(settings, topology.nodes.flatMap(nodeUsers));
  const state = controlFolder(cluster);
  await makeStateFolder(state);
  writeControlServices(state, settings);
  for (const [index, node] of topology.nodes.entries()) await writeNode(cluster, node, index);
  const groups = groupFolders(groupName(cluster));
  writeFileSync(join(state, "cgroups"), `${groups.join("\n")}\n`);
  createGroups(groups, ["hub", ...topology.nodes.map((node) => node.name)]);
  await buildClusterNetwork(cluster);
  startHub(cluster);
  await waitForInit(state);
  const port = await openDoor(state, control, API_PORT);
  writeFileSync(
    machineKubeconfig(cluster),
    buildKubeconfig(`https://127.0.0.1:${port}`, caPath(settings), ADMIN.token, "kubernetes.default.svc"),
  );
  note("network");

  await startControl(cluster, "etcd");
  await startControl(cluster, "kube-apiserver");
  await waitForApiServer(cluster);
  await startControl(cluster, "kube-controller-manager");
  await startControl(cluster, "kube-scheduler");
  note("control plane");

  for (const node of topology.nodes)
    copyFileSync(caPath(settings), join(nodeState(cluster, node), "etc/kubernetes/ca.crt"));
  await Promise.all(topology.nodes.map((node) => bootNode(cluster, node)));
  await waitForNodes(cluster);
  note(`${nodes} nodes`);
  return cluster;
}

/** Leaves no process, mount, namespace, cgroup or file of the cluster, whatever of it there was. */
export async function destroyCluster(cluster: Cluster): Promise<void> {
  const state = controlFolder(cluster);
  // PID 1 of the hub takes every process of the nested namespaces with it, and the mounts go with their namespaces.
  if (existsSync(state)) await Promise.all(recordedRoles(state).map((role) => killProcess(state, role)));
  if (existsSync(join(state, "cgroups"))) await removeGroups(clusterGroups(cluster));
  await removeClusterNetwork(cluster);
  rmSync(cluster.folder, { recursive: true, force: true });
}

export function controlFolder(cluster: Cluster): string {
  return join(cluster.folder, "control");
}

/** The node's folder: its /etc and /var, services and logs. */
export function nodeState(cluster: Cluster, node: Host): string {
  return join(cluster.folder, node.name);
}

/** The cluster's control groups, one in every hierarchy, each with one group for each node. */
export function clusterGroups(cluster: Cluster): readonly string[] {
  return readFileSync(join(controlFolder(cluster), "cgroups"), "utf8")
    .split("\n")
    .filter(Boolean);
}

function groupName({ name }: Cluster): string {
  return `arpeggio-kube-${name}`;
}

export function startControl(cluster: Cluster, service: ControlService): Promise<void> {
  return order(controlFolder(cluster), `start ${service}`);
}

/** Ends when the service's process has. */
export function killControl(
  cluster: Cluster,
  service: ControlService,
  signal: "KILL" | "TERM" = "KILL",
): Promise<void> {
  return order(controlFolder(cluster), `kill ${service} ${signal}`);
}

/** SIGSTOP makes a service hang, SIGCONT lets it go on. */
export function signalControl(cluster: Cluster, service: ControlService, signal: "STOP" | "CONT"): Promise<void> {
  return order(controlFolder(cluster), `signal ${service} ${signal}`);
}

export function startService(cluster: Cluster, node: Host, service: NodeService): Promise<void> {
  return order(nodeState(cluster, node), `start ${service}`);
}

export function killService(cluster: Cluster, node: Host, service: NodeService): Promise<void> {
  return order(nodeState(cluster, node), `kill ${service} KILL`);
}

/** Power loss: every process of the node ends at once. Its cable is the caller's business. */
export async function crashNode(cluster: Cluster, node: Host): Promise<void> {
  await order(controlFolder(cluster), `crash ${node.name}`);
}

/** From its disk as it is, new or after a crash. Ends when its services run, before the node is Ready. */
export async function bootNode(cluster: Cluster, node: Host): Promise<void> {
  const groups = readFileSync(join(controlFolder(cluster), "cgroups"), "utf8")
    .split("\n")
    .filter(Boolean);
  const own = groups.map((group) => join(group, node.name));
  // As a boot does: kubelet trips over groups that are left of the last one.
  await removeGroups(own);
  createGroups(own, []);
  rmSync(join(nodeState(cluster, node), "ready"), { force: true });
  await order(controlFolder(cluster), `boot ${node.name} ${node.namespace}`);
  await waitForInit(nodeState(cluster, node));
}

export async function waitForApiServer(cluster: Cluster): Promise<void> {
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    if (existsSync(caPath(planeSettings(cluster)))) {
      const answer = await kubectl(cluster, ["get", "--raw=/readyz"]).catch((error: Error) => error);
      if (answer === "ok") return;
      if (performance.now() > deadlineMs) throw new Error("the API server does not get ready", { cause: answer });
    }
    if (livingPid(controlFolder(cluster), "hub") === undefined)
      throw new Error("the control plane's namespaces have ended");
    await sleep(POLL_MS);
  }
}

/** Until every node has registered and is Ready. */
export async function waitForNodes(cluster: Cluster): Promise<void> {
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  const nodes = cluster.topology.nodes.map(({ name }) => `node/${name}`);
  for (;;) {
    // Until a kubelet has registered there is nothing to wait for, and kubectl says so at once.
    const failure = await kubectl(cluster, ["wait", "--for=condition=Ready", ...nodes, "--timeout=30s"]).then(
      () => undefined,
      (error: Error) => error,
    );
    if (failure === undefined) return;
    if (performance.now() > deadlineMs) throw new Error(`the nodes do not get Ready: ${failure.message}`);
    await sleep(POLL_MS);
  }
}

function planeSettings(cluster: Cluster): PlaneSettings {
  return {
    binary: join(cluster.folder, "opt/kubernetes"),
    folder: controlFolder(cluster),
    address: cluster.control.ipv4,
    apiPort: API_PORT,
    etcdAddress: "127.0.0.1",
    etcdPort: 2379,
    etcdPeerPort: 2380,
  };
}

/** NodeRestriction knows a node by its user. */
function nodeUsers({ name }: Host): readonly TokenUser[] {
  return [
    { name: `system:node:${name}`, groups: ["system:nodes"], token: `kubelet-token-${name}` },
    { name: "system:kube-proxy", groups: [], token: `kube-proxy-token-${name}` },
  ];
}

function linkTools(cluster: Cluster, { binary, nodeTools }: Tools): void {
  const folder = join(cluster.folder, "opt");
  mkdirSync(folder);
  symlinkSync(binary, join(folder, "kubernetes"));
  symlinkSync(nodeTools, join(folder, "tools"));
  symlinkSync(IMAGE_FOLDER, join(folder, "images"));
}

function writeControlServices(state: string, settings: PlaneSettings): void {
  const services: Readonly<Record<ControlService, readonly string[]>> = {
    etcd: etcdArgv(settings),
    "kube-apiserver": apiServerArgv(settings),
    "kube-controller-manager": controllerManagerArgv(settings),
    "kube-scheduler": schedulerArgv(settings),
  };
  for (const [service, argv] of Object.entries(services)) {
    writeFileSync(join(state, "services", service), `exec ${argv.join(" ")}\n`);
  }
}

async function writeNode(cluster: Cluster, node: Host, index: number): Promise<void> {
  const state = nodeState(cluster, node);
  await makeStateFolder(state);
  for (const [name, text] of buildNodeFiles(node, index)) {
    mkdirSync(dirname(join(state, name)), { recursive: true });
    writeFileSync(join(state, name), text);
  }
  const server = `https://${cluster.control.ipv4}:${API_PORT}`;
  for (const [file, user] of [
    ["kubelet", nodeUsers(node)[0]],
    ["proxy", nodeUsers(node)[1]],
  ] as const) {
    const text = buildKubeconfig(server, "/etc/kubernetes/ca.crt", user?.token ?? "");
    writeFileSync(join(state, `etc/kubernetes/${file}.kubeconfig`), text);
  }
}

/** The shell enters the control groups, then becomes nsenter, then unshare, whose end is the end of everything. */
function startHub(cluster: Cluster): void {
  const state = controlFolder(cluster);
  const script = `while read -r group; do echo $$ >"$group/hub/cgroup.procs"; done <"$1"; shift; exec "$@"`;
  const unshare = "unshare --mount --pid --ipc --uts --fork --kill-child --propagation slave".split(" ");
  const shell = ["bash", "-c", script, "hub", join(state, "cgroups")];
  const namespaces = ["nsenter", `--net=/run/netns/${cluster.control.namespace}`, ...unshare];
  startProcess(state, "hub", [...shell, ...namespaces, "bash", HUB_SCRIPT, state]);
}
