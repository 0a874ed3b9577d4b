/**
 * What the tests on the cluster share: a namespace with one backend pod on each node (labels app=web and on=NODE), a host that
 * asks who has an address, and requests to the API server without a process each.
 *
 * ```ts
 * describe("…", () => {
 *   const scene = useScene();
 *   together(scene, {
 *     "one node answers": async (trial) => {
 *       await trial.apply(trial.pool(), trial.advertisement(), trial.service());
 *       await trial.assign();
 *       await trial.ledBy(["n1", "n2", "n3"]);
 *     },
 *   });
 * });
 * ```
 */

import { BACKEND_IMAGE } from "../../hack/kube-cluster/images.ts";
import { machineKubeconfig } from "../../hack/kube-cluster/kubectl.ts";
import { secondLink } from "../../hack/kube-cluster/topology.ts";
import type { ApiAnswer, ApiRequest, ApiServer } from "../../src/kube/api-server.ts";
import { openApiServer } from "../../src/kube/node-api-server.ts";
import type { Ip } from "../../src/net/ip.ts";
import { Asker } from "./asker.ts";
import { type TestCluster, useCluster } from "./kube.ts";
import { pathOf, type Resource } from "./resource-path.ts";

export const SPEAKER_NAMESPACE = "metallb-system";
export const SCENE_NAMESPACE = "metallb-behaviours";

const NAMESPACE: Resource = { apiVersion: "v1", kind: "Namespace", metadata: { name: SCENE_NAMESPACE } };
const START_LIMIT_MS = 120_000;
/** Under SSA: whoever owned a field before has it no longer. */
const FIELD_MANAGER = { fieldManager: "test", force: "true" };

export class Scene {
  readonly kube: TestCluster;
  readonly #api: ApiServer;
  readonly #asker: Asker;
  #trials = 0;

  constructor(kube: TestCluster, api: ApiServer) {
    this.kube = kube;
    this.#api = api;
    this.#asker = new Asker(kube.cluster.topology.client);
  }

  get nodes(): readonly string[] {
    return this.kube.cluster.topology.nodes.map(({ name }) => name);
  }

  /** Of the next test: no two have the same. */
  nextNumber(): number {
    return this.#trials++;
  }

  /** Any answer, refusals too. */
  request(request: ApiRequest): Promise<ApiAnswer> {
    return this.#api.request(request);
  }

  /** The body; throws with the server's sentence when it refuses. */
  async call<Body>(request: ApiRequest): Promise<Body> {
    const { status, body } = await this.request(request);
    if (status < 300) return body as Body;
    throw new Error(`${request.method} ${request.path}: ${sentenceOf(body) ?? `HTTP ${status}`}`);
  }

  /** Server-side apply, all at once. */
  async apply(...resources: readonly Resource[]): Promise<void> {
    await Promise.all(resources.map((resource) => this.call(applyRequest(resource))));
  }

  /** The server's sentence when it would refuse to apply the resource; undefined when it would not. Nothing is changed. */
  async refusal(resource: Resource): Promise<string | undefined> {
    const request = applyRequest(resource);
    const { status, body } = await this.request({ ...request, query: { ...request.query, dryRun: "All" } });
    return status < 300 ? undefined : (sentenceOf(body) ?? `HTTP ${status}`);
  }

  /** A merge patch; `null` removes. */
  async patch(resource: Resource, patch: unknown, subresource = ""): Promise<void> {
    const path = pathOf(resource) + subresource;
    await this.call({ method: "PATCH", path, body: patch, contentType: "application/merge-patch+json" });
  }

  /** Absent is gone. */
  async remove(resource: Resource): Promise<void> {
    const { status, body } = await this.request({ method: "DELETE", path: pathOf(resource) });
    if (status >= 300 && status !== 404) throw new Error(`DELETE ${pathOf(resource)}: ${sentenceOf(body)}`);
  }

  /** Names of the nodes that answer for the address, `n2` or `n2 on eth1` as asked on that link; "?" is a stranger. */
  async answering(address: Ip, link = "eth0", limitMs = 1_000): Promise<readonly string[]> {
    const macs = await this.#asker.ask(address, link, limitMs);
    return macs.map((mac) => {
      const { nodes } = this.kube.cluster.topology;
      return nodes.find((node) => (link === "eth0" ? node.mac : secondLink(node).mac) === mac)?.name ?? `? ${mac}`;
    });
  }

  close(): void {
    this.#asker.close();
    this.#api.close();
  }
}

let shared: Promise<Scene> | undefined;

/** The scene of this run, for the `describe` that calls; it is set once, and goes with the cluster or, if that stays, at the end. */
export function useScene(): () => Scene {
  const kube = useCluster();
  let current: Scene | undefined;
  before(async function () {
    this.timeout(START_LIMIT_MS);
    if (shared === undefined) {
      shared = setScene(kube());
      const root = this.test?.parent?.root === true ? this.test.parent : rootOf(this.test?.parent);
      root?.afterAll("ends the scene", async () => endScene(await shared));
    }
    current = await shared;
  });
  return () => {
    if (current === undefined) throw new Error("the scene is not set");
    return current;
  };
}

async function setScene(kube: TestCluster): Promise<Scene> {
  const scene = new Scene(
    kube,
    await openApiServer({ kubeconfig: machineKubeconfig(kube.cluster), userAgent: "test" }),
  );
  await kube.until("no namespace of a former run is there", async () => {
    return (await scene.request({ method: "GET", path: pathOf(NAMESPACE) })).status === 404;
  });
  await scene.apply(NAMESPACE);
  await kube.until("the namespace has its ServiceAccount", async () => {
    const path = `/api/v1/namespaces/${SCENE_NAMESPACE}/serviceaccounts/default`;
    return (await scene.request({ method: "GET", path })).status === 200;
  });
  await scene.apply(...scene.nodes.map(backendOn));
  await kube.kubectl(["wait", "-n", SCENE_NAMESPACE, "--for=condition=Ready", "pod", "-l", "app=web", "--timeout=90s"]);
  return scene;
}

/** A cluster of this run's own is gone by now, and the scene with it. */
async function endScene(scene: Scene | undefined): Promise<void> {
  if (process.env["KUBE_CLUSTER"] !== undefined) await scene?.remove(NAMESPACE);
  scene?.close();
}

function rootOf(suite: Mocha.Suite | undefined): Mocha.Suite | undefined {
  return suite?.parent === undefined ? suite : rootOf(suite.parent);
}

function backendOn(node: string): Resource {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `web-${node}`, namespace: SCENE_NAMESPACE, labels: { app: "web", on: node } },
    spec: {
      nodeName: node,
      // Whatever a test does to the node: its backend stays.
      tolerations: [{ operator: "Exists" }],
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: "backend",
          image: BACKEND_IMAGE,
          imagePullPolicy: "Never",
          env: [variable("POD_NAME", "metadata.name"), variable("NODE_NAME", "spec.nodeName")],
          readinessProbe: { httpGet: { path: "/", port: 8080 }, periodSeconds: 1 },
        },
      ],
    },
  };
}

function variable(name: string, fieldPath: string) {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}

function applyRequest(resource: Resource): ApiRequest {
  const contentType = "application/apply-patch+yaml";
  return { method: "PATCH", path: pathOf(resource), query: FIELD_MANAGER, body: resource, contentType };
}

/** Of a Status object. */
function sentenceOf(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null || !("message" in body)) return undefined;
  return String(body.message);
}
