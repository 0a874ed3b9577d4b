/** A control plane without kubelets, three hosts with a speaker each, and as many Services as wanted: for bench/kube/speakers.ts. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDoor } from "../../hack/kube-cluster/door.ts";
import { apiServerArgv, caPath, etcdArgv, findPlane, type PlaneSettings } from "../../hack/kube-cluster/plane.ts";
import { ADMIN, buildKubeconfig, writePlaneFiles } from "../../hack/kube-cluster/plane-files.ts";
import { SPEAKER_BUNDLE, speakerNodeFlags } from "../../hack/netlab/lab.ts";
import { buildNetwork, removeNetwork } from "../../hack/netlab/network.ts";
import {
  killProcess,
  livingPid,
  recordedRoles,
  signalProcess,
  startProcess,
  waitUntilGone,
} from "../../hack/netlab/processes.ts";
import { asInstrument, inNamespace, runCommand, runIpBatch } from "../../hack/netlab/run-command.ts";
import { buildTopology, type Host, type Topology } from "../../hack/netlab/topology.ts";
import type { ApiRequest, ApiServer } from "../../src/kube/api-server.ts";
import { openApiServer } from "../../src/kube/node-api-server.ts";
import { addressOf, buildSlice } from "./large-objects.ts";

const NAME = "arpeggio-bench";
const NAMESPACE = "metallb-system";
/** dist/bench/kube → the repository. */
const REPOSITORY = resolve(import.meta.dirname, "../../..");
const API_PORT = 6443;
const ETCD_PORT = 2379;
const FILL_PROGRAM = join(import.meta.dirname, "fill-etcd.js");
/** The speakers' ServiceAccount, known by a token here: there is nobody to issue any. */
const SPEAKER = {
  name: "system:serviceaccount:metallb-system:arpeggio-speaker",
  groups: ["system:serviceaccounts", "system:serviceaccounts:metallb-system"],
  token: "speaker-token",
};
/** On every node's link, so that the addresses are the link's own; RFC 2544. */
const POOL = "198.18.0.0/16";
const AT_ONCE = 16;
const START_TIMEOUT_MS = 120_000;
const POLL_MS = 200;
const ANSWER_POLL_MS = 100;

export class LargeCluster {
  readonly api: ApiServer;
  readonly topology: Topology;
  readonly #folder: string;

  private constructor(api: ApiServer, topology: Topology, folder: string) {
    this.api = api;
    this.topology = topology;
    this.#folder = folder;
  }

  static async start(services: number): Promise<LargeCluster> {
    const binary = await findPlane();
    if (binary === undefined) throw new Error("Kubernetes is not built yet: hack/kube-cluster/build-plane");
    const topology = buildTopology(NAME, 3, ["control"]);
    const [control] = topology.others;
    if (control === undefined) throw new Error("the control plane has a host");
    const folder = mkdtempSync(join(tmpdir(), `${NAME}-`));
    try {
      await buildNetwork(topology);
      for (const [index, node] of topology.nodes.entries()) {
        await runIpBatch(node.namespace, [`addr add 198.18.255.${index + 1}/16 dev eth0`]);
      }
      const ports = { apiPort: API_PORT, etcdAddress: "127.0.0.1", etcdPort: ETCD_PORT, etcdPeerPort: 2380 };
      const settings: PlaneSettings = { binary, folder: join(folder, "plane"), address: control.ipv4, ...ports };
      writePlaneFiles(settings, [SPEAKER]);
      const server = `https://127.0.0.1:${await openDoor(folder, control, API_PORT)}`;
      const kubeconfig = join(folder, "kubeconfig");
      writeFileSync(kubeconfig, buildKubeconfig(server, caPath(settings), ADMIN.token, "kubernetes.default.svc"));
      startProcess(folder, "etcd", inNamespace(control.namespace, etcdArgv(settings)));
      startProcess(folder, "kube-apiserver", inNamespace(control.namespace, apiServerArgv(settings)));
      await waitForApiServer(kubeconfig);
      await applyManifests(folder, binary, kubeconfig);
      const fill = [process.execPath, FILL_PROGRAM, String(ETCD_PORT), String(services)];
      await runCommand(inNamespace(control.namespace, fill));
      const cluster = new LargeCluster(await openApiServer({ kubeconfig, userAgent: "bench" }), topology, folder);
      await cluster.#applyRest();
      for (const path of ["/api/v1/services", "/apis/discovery.k8s.io/v1/endpointslices"]) {
        while ((await cluster.#count(path)) < services) await sleep(POLL_MS);
      }
      return cluster;
    } catch (error) {
      await removeEverything(topology, folder);
      throw error;
    }
  }

  /** Nodes, pool, advertisement. */
  async #applyRest(): Promise<void> {
    for (const { name, ipv4 } of this.topology.nodes) {
      const labels = { "kubernetes.io/hostname": name };
      await this.#post("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name, labels } });
      const status = { addresses: [{ type: "InternalIP", address: ipv4 }] };
      await this.#patch(`/api/v1/nodes/${name}/status`, { status });
    }
    const metallb = `/apis/metallb.io/v1beta1/namespaces/${NAMESPACE}`;
    const all = { apiVersion: "metallb.io/v1beta1", metadata: { name: "all" } };
    await this.#post(`${metallb}/ipaddresspools`, { ...all, kind: "IPAddressPool", spec: { addresses: [POOL] } });
    await this.#post(`${metallb}/l2advertisements`, { ...all, kind: "L2Advertisement", spec: {} });
  }

  /** Writes the Service's address, number `address` of the pool. */
  async assign(service: number, address: number): Promise<void> {
    const status = { loadBalancer: { ingress: [{ ip: addressOf(address) }] } };
    await this.#patch(`/api/v1/namespaces/default/services/service-${service}/status`, { status });
  }

  async labelService(service: number, value: string): Promise<void> {
    await this.#patch(`/api/v1/namespaces/default/services/service-${service}`, { metadata: { labels: { value } } });
  }

  async setReady(service: number, isReady: boolean): Promise<void> {
    const { endpoints } = buildSlice(service, isReady);
    const path = `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/service-${service}`;
    await this.#patch(path, { endpoints });
  }

  /** `turnsFile`: its threads' turns are measured, and it goes before everything else on the machine. */
  startSpeaker(node: Host, turnsFile?: string): void {
    const folder = join(this.#folder, node.name);
    for (const part of ["key", "cache"]) mkdirSync(join(folder, part), { recursive: true });
    writeFileSync(join(folder, "key/secretkey"), "bench-key-22-characters");
    const kubeconfig = join(folder, "kubeconfig");
    const [control] = this.topology.others;
    const server = `https://${control?.ipv4}:${API_PORT}`;
    writeFileSync(kubeconfig, buildKubeconfig(server, join(this.#folder, "plane/certs/apiserver.crt"), SPEAKER.token));
    const argv = [
      process.execPath,
      ...speakerNodeFlags(),
      SPEAKER_BUNDLE,
      "--source=kubernetes",
      `--kubeconfig=${kubeconfig}`,
      `--namespace=${NAMESPACE}`,
      `--node-name=${node.name}`,
      `--ml-bindaddr=${node.ipv4}`,
      "--ml-labels=app=none",
      `--ml-secret-key-path=${join(folder, "key")}`,
      `--cache-dir=${join(folder, "cache")}`,
      "--metrics-plain=127.0.0.1:9121",
    ];
    const probe = join(import.meta.dirname, "turns.js");
    const profiles = process.env["PROFILES"];
    const options = profiles === undefined ? "" : ` --cpu-prof --cpu-prof-dir=${profiles}`;
    const measured = [
      "env",
      `NODE_OPTIONS=--import=${probe}${options}`,
      `TURNS_FILE=${turnsFile}`,
      ...asInstrument(argv),
    ];
    startProcess(folder, "speaker", inNamespace(node.namespace, turnsFile === undefined ? argv : measured));
  }

  /** Of the node's speaker. */
  pidOf(node: Host): number {
    const pid = livingPid(join(this.#folder, node.name), "speaker");
    if (pid === undefined) throw new Error(`the speaker of ${node.name} has ended`);
    return pid;
  }

  async killSpeaker(node: Host): Promise<void> {
    await killProcess(join(this.#folder, node.name), "speaker");
  }

  /** SIGTERM, and its end. */
  async stopSpeaker(node: Host): Promise<void> {
    signalProcess(join(this.#folder, node.name), "speaker", "SIGTERM");
    await waitUntilGone(join(this.#folder, node.name), "speaker", START_TIMEOUT_MS);
  }

  /** Every connection of the node's speaker to the API server ends with a reset. */
  async cutApiConnections(node: Host): Promise<void> {
    const [control] = this.topology.others;
    const server = `${control?.ipv4}:${API_PORT}`;
    await runCommand(inNamespace(node.namespace, ["ss", "-K", "state", "connected", "dst", server]));
  }

  /** HTTP on the node's loopback; the body. */
  read(node: Host, port: number, path: string, accept = "*/*"): Promise<string> {
    const url = `http://127.0.0.1:${port}${path}`;
    const options = ["--silent", "--show-error", "--fail", "--header", `Accept: ${accept}`];
    return runCommand(inNamespace(node.namespace, ["curl", ...options, url]));
  }

  /** Until HTTP on the node's loopback answers that well. */
  async untilAnswers(node: Host, port: number, path: string): Promise<void> {
    const deadlineMs = performance.now() + START_TIMEOUT_MS;
    while ((await this.read(node, port, path).catch(() => "")) === "") {
      if (performance.now() > deadlineMs) throw new Error(`${path} of ${node.name} does not answer well`);
      await sleep(ANSWER_POLL_MS);
    }
  }

  async close(): Promise<void> {
    this.api.close();
    await removeEverything(this.topology, this.#folder);
  }

  /** As the API server has it in its cache. */
  async #count(path: string): Promise<number> {
    const accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    const { body } = await this.api.request({ method: "GET", path, query: { resourceVersion: "0" }, accept });
    return (body as { readonly items?: readonly unknown[] }).items?.length ?? 0;
  }

  #post(path: string, body: unknown): Promise<void> {
    return this.#call({ method: "POST", path, body });
  }

  #patch(path: string, body: unknown): Promise<void> {
    return this.#call({ method: "PATCH", path, body, contentType: "application/merge-patch+json" });
  }

  async #call(request: ApiRequest): Promise<void> {
    const { status, body } = await this.api.request(request);
    if (status >= 300) throw new Error(`${request.method} ${request.path}: ${status} ${JSON.stringify(body)}`);
  }
}

/** Some at a time: a server takes only so many requests at once. */
export async function forEach(count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function applyManifests(folder: string, binary: string, kubeconfig: string): Promise<void> {
  const kubectl = async (...args: readonly string[]): Promise<void> => {
    await runCommand(["env", `HOME=${folder}`, `KUBECONFIG=${kubeconfig}`, binary, "kubectl", ...args]);
  };
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
  const file = join(folder, "namespace.json");
  writeFileSync(file, JSON.stringify(namespace));
  await kubectl("apply", "-f", file);
  await kubectl("apply", "--server-side", "-f", join(REPOSITORY, "manifests/crd"));
  await kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s");
  await kubectl("apply", "-n", NAMESPACE, "-f", join(REPOSITORY, "manifests/base/rbac.yaml"));
}

async function waitForApiServer(kubeconfig: string): Promise<void> {
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    // Its certificate is made when it starts: the configuration is read anew.
    const api = await openApiServer({ kubeconfig }).catch(() => undefined);
    const answer = await api?.request({ method: "GET", path: "/readyz" }).catch(() => undefined);
    api?.close();
    if (answer?.status === 200) return;
    if (performance.now() > deadlineMs) throw new Error("the API server does not get ready");
    await sleep(POLL_MS);
  }
}

async function removeEverything(topology: Topology, folder: string): Promise<void> {
  for (const place of [...topology.nodes.map(({ name }) => join(folder, name)), folder]) {
    if (!existsSync(place)) continue;
    for (const role of recordedRoles(place)) await killProcess(place, role);
  }
  await removeNetwork(topology);
  rmSync(folder, { recursive: true, force: true });
}
