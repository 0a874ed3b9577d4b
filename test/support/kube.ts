/**
 * A real cluster for tests of test/kube/*.test.ts: three nodes with kubelets, Arpeggio's manifests applied (see hack/kube-cluster). It is
 * brought up once, by the first file that asks, and removed when the whole run ends.
 *
 * ```ts
 * describe("…", () => {
 *   const kube = useCluster();
 *   it("…", async () => {
 *     await kube().kubectl(["apply", "-f", "-"], "apiVersion: v1\n…");
 *     const service = await kube().get<Service>("service/web");
 *     await kube().until("web is answered", () => kube().request("http://192.0.2.100/"));
 *   });
 * });
 * ```
 *
 * The controllers do not run: tests write addresses by hand, such as no allocator would give. `useControllers()` starts them for a file.
 *
 * `KUBE_CLUSTER=NAME` takes a cluster that `hack/kube --name NAME up` left running, and leaves it running. Without root, or before
 * anybody has built Kubernetes, the tests are skipped, aloud; hack/test skips none.
 */

import type { Refusals } from "../../hack/kube-cluster/audit/compare-rights.ts";
import { createCluster, destroyCluster, findCluster } from "../../hack/kube-cluster/cluster.ts";
import { scaleControllers, waitForLeader } from "../../hack/kube-cluster/drills/controllers.ts";
import { POD_PROGRAM, packOwnImages } from "../../hack/kube-cluster/images.ts";
import { importImages, insideNode } from "../../hack/kube-cluster/inside.ts";
import { installArpeggio } from "../../hack/kube-cluster/install.ts";
import { kubectl } from "../../hack/kube-cluster/kubectl.ts";
import { findNodeTools } from "../../hack/kube-cluster/node-tools.ts";
import { BUILD_TIMEOUT_MS, findPlane } from "../../hack/kube-cluster/plane.ts";
import type { Cluster } from "../../hack/kube-cluster/topology.ts";
import { until } from "../../hack/kube-cluster/until.ts";
import { inNamespace, runCommand } from "../../hack/netlab/run-command.ts";
import type { Host } from "../../hack/netlab/topology.ts";

const NODES = 3;
const POLL_MS = 100;
const REQUEST_TIMEOUT = "1s";
const DESTROY_TIMEOUT_MS = 60_000;
const CONTROLLERS_TIMEOUT_MS = 180_000;
/** As in the manifests. */
const CONTROLLERS = 2;

/** The cluster of this run, for the `describe` that calls. */
export function useCluster(): () => TestCluster {
  before(async function () {
    this.timeout(BUILD_TIMEOUT_MS);
    shared ??= startShared(rootOf(this.test?.parent));
    const started = await shared;
    if (typeof started === "string") {
      process.stdout.write(`    skipped: ${started}\n`);
      this.skip();
    }
    current = started;
  });
  return () => {
    if (current === undefined) throw new Error("the cluster is not up");
    return current;
  };
}

/** The cluster, or why there is none. */
let shared: Promise<TestCluster | string> | undefined;
let current: TestCluster | undefined;

async function startShared(root: Mocha.Suite): Promise<TestCluster | string> {
  const name = process.env["KUBE_CLUSTER"];
  if (name !== undefined) {
    const running = findCluster(name);
    if (running === undefined) return `no cluster ${name} is up`;
    const taken = new TestCluster(running);
    taken.refusals.push({ fromMs: 0, toMs: Date.now(), why: "before this run" });
    await scaleControllers(running, 0);
    root.afterAll("starts the controllers again", async function () {
      this.timeout(CONTROLLERS_TIMEOUT_MS);
      await scaleControllers(running, CONTROLLERS);
    });
    return taken;
  }
  if (process.getuid?.() !== 0) return "namespaces and control groups need root";
  const binary = await findPlane();
  if (binary === undefined) return "Kubernetes is not built yet: hack/kube up";
  const nodeTools = await findNodeTools();
  if (nodeTools === undefined) return "the node's tools are not there yet: hack/kube up";
  const own = `test-${process.pid}`;
  root.afterAll("removes the cluster", async function () {
    this.timeout(DESTROY_TIMEOUT_MS);
    const made = findCluster(own);
    if (made !== undefined) await destroyCluster(made);
  });
  await packOwnImages();
  const cluster = await createCluster(own, NODES, { binary, nodeTools });
  await importImages(cluster);
  await installArpeggio(cluster);
  await scaleControllers(cluster, 0);
  return new TestCluster(cluster);
}

/** Both controllers run during the tests of the `describe` that calls. */
export function useControllers(kube: () => TestCluster): void {
  before(async function () {
    this.timeout(CONTROLLERS_TIMEOUT_MS);
    await scaleControllers(kube().cluster, CONTROLLERS);
    await waitForLeader(kube().cluster);
  });
  after(async function () {
    this.timeout(CONTROLLERS_TIMEOUT_MS);
    await scaleControllers(kube().cluster, 0);
  });
}

function rootOf(suite: Mocha.Suite | undefined): Mocha.Suite {
  if (suite === undefined) throw new Error("useCluster() stands in a describe");
  return suite.parent === undefined ? suite : rootOf(suite.parent);
}

export interface BackendAnswer {
  readonly pod: string;
  readonly node: string;
}

export class TestCluster {
  readonly cluster: Cluster;
  /** When what our ServiceAccounts were refused is no fault: a test had taken the right away, or it was before this run. */
  readonly refusals: Refusals[] = [];

  constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  /** kubectl as the administrator (`--as=NAME` for somebody else), with `input` on its standard input; throws with what it said. */
  kubectl(args: readonly string[], input = ""): Promise<string> {
    return kubectl(this.cluster, args, input);
  }

  /** `kubectl get ARGUMENT... -o json`. */
  async get<Shape>(...args: readonly string[]): Promise<Shape> {
    return JSON.parse(await this.kubectl(["get", ...args, "-o", "json"])) as Shape;
  }

  /** Applies objects, given as YAML or JSON. */
  async apply(text: string): Promise<void> {
    await this.kubectl(["apply", "-f", "-"], text);
  }

  /** Writes the Service's load-balancer addresses, as the controller would. */
  async assign(service: string, addresses: readonly string[], namespace = "default"): Promise<void> {
    const patch = JSON.stringify({ status: { loadBalancer: { ingress: addresses.map((ip) => ({ ip })) } } });
    await this.kubectl([
      "patch",
      "service",
      service,
      "-n",
      namespace,
      "--subresource=status",
      "--type=merge",
      "-p",
      patch,
    ]);
  }

  node(name: string): Host {
    const node = this.cluster.topology.nodes.find((one) => one.name === name);
    if (node === undefined) throw new Error(`the cluster has no node ${name}`);
    return node;
  }

  /** One request from the client, outside the cluster, to a backend, by http:// or udp://HOST:PORT; undefined when nothing answers within a second. */
  async request(url: string): Promise<BackendAnswer | undefined> {
    const { client } = this.cluster.topology;
    const argv = inNamespace(client.namespace, [POD_PROGRAM, "get", url, REQUEST_TIMEOUT]);
    const text = await runCommand(argv).catch(() => "");
    const [pod, node] = text.trim().split(" ");
    return pod === undefined || node === undefined ? undefined : { pod, node };
  }

  /** Runs a command on the client. */
  onClient(argv: readonly string[]): Promise<string> {
    return runCommand(inNamespace(this.cluster.topology.client.namespace, argv));
  }

  /** Runs a command inside a node: its files, its processes, its network. */
  onNode(name: string, argv: readonly string[]): Promise<string> {
    return runCommand(insideNode(this.cluster, this.node(name), argv));
  }

  /** Runs a test's body that takes rights away, and gives them back: what is refused meanwhile is refused on purpose. */
  async whileRefusing(why: string, body: () => Promise<void>): Promise<void> {
    const fromMs = Date.now();
    try {
      await body();
    } finally {
      this.refusals.push({ fromMs, toMs: Date.now(), why });
    }
  }

  /** Asks again and again until the check gives something else than undefined or false, or throws with what was waited for. */
  async until<Wanted>(
    what: string,
    check: () => Promise<Wanted | undefined | false>,
    timeoutMs = 20_000,
  ): Promise<Wanted> {
    return until(what, { timeoutMs, pollMs: POLL_MS }, check);
  }
}
