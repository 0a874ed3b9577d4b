/** Real controllers on a real API server: `dist/controller/main.js` as processes, with the rights of the administrator. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { ControllerStatusDocument } from "../../../api/allocator.ts";
import type { ApiRequest, ApiServer } from "../../../src/kube/api-server.ts";
import { openApiServer } from "../../../src/kube/node-api-server.ts";
import type { ControlPlane } from "../../support/control-plane.ts";

export const NAMESPACE = "metallb-system";
const MAIN = join(import.meta.dirname, "../../../controller/main.js");
const POLL_MS = 25;
const JSON_TOO = { accept: "application/json, text/plain;q=0.5" };

export interface KubernetesObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: unknown;
}

export class ControllerProcess {
  readonly child: ChildProcess;
  #lines = "";
  #port = 0;

  /** `user`: of the control plane; absent: the administrator. */
  constructor(plane: ControlPlane, podName: string, words: readonly string[], user: string | undefined) {
    const options = [
      "--source=kubernetes",
      `--kubeconfig=${plane.kubeconfig(user)}`,
      `--namespace=${NAMESPACE}`,
      `--pod-name=${podName}`,
      "--http-address=127.0.0.1:0",
      "--health-probe-port=0",
      "--port=0",
      ...words,
    ];
    this.child = spawn(process.execPath, [MAIN, ...options], { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on("data", (part: Buffer) => (this.#lines += part.toString()));
    }
  }

  /** What it logged so far. */
  get lines(): string {
    return this.#lines;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Resolves when it listens. */
  async started(): Promise<this> {
    for (;;) {
      const found = /"msg":"controller started".*"port":(\d+)/.exec(this.#lines);
      if (found !== null) {
        this.#port = Number(found[1]);
        return this;
      }
      if (!this.isRunning) throw new Error(this.#lines);
      await pause(POLL_MS);
    }
  }

  /** Resolves when it allocates. */
  async leading(): Promise<this> {
    await this.started();
    while ((await this.status()).state !== "allocating") await pause(POLL_MS);
    return this;
  }

  async get(path: string): Promise<unknown> {
    const response = await fetch(`http://127.0.0.1:${this.#port}${path}`, { headers: JSON_TOO });
    const text = await response.text();
    return response.headers.get("content-type")?.startsWith("application/json") === true ? JSON.parse(text) : text;
  }

  async status(): Promise<ControllerStatusDocument> {
    return (await this.get("/status")) as ControllerStatusDocument;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    if (!this.isRunning) return;
    const exit = once(this.child, "exit");
    // One that stands still hears nothing else.
    if (signal !== "SIGKILL") this.child.kill("SIGCONT");
    this.child.kill(signal);
    await exit;
  }
}

/** What a test wants of an API server, in few words. */
export class ControllerScene {
  readonly #plane: ControlPlane;
  readonly #api: ApiServer;
  readonly #controllers: ControllerProcess[] = [];

  private constructor(plane: ControlPlane, api: ApiServer) {
    this.#plane = plane;
    this.#api = api;
  }

  /** With the definitions of the resources, and the namespace. */
  static async open(plane: ControlPlane): Promise<ControllerScene> {
    const scene = new ControllerScene(plane, await openApiServer({ kubeconfig: plane.kubeconfig() }));
    await scene.kubectl(["apply", "--server-side", "-f", "manifests/crd"]);
    await scene.kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=20s"]);
    return scene;
  }

  start(podName: string, words: readonly string[] = [], user?: string): ControllerProcess {
    const controller = new ControllerProcess(this.#plane, podName, words, user);
    this.#controllers.push(controller);
    return controller;
  }

  /** Ends what was started, removes what was made. */
  async clear(): Promise<void> {
    await this.endAll();
    await this.wipe();
    for (const kind of ["Lease", "ConfigMap", "ConfigurationState"] as const) {
      await this.ask({ method: "DELETE", path: pathOf(kind, NAMESPACE) });
    }
  }

  /** Removes Services and pools; who runs goes on running. */
  async wipe(): Promise<void> {
    for (const [key, { metadata }] of await this.services()) {
      if (key !== "default/kubernetes") await this.remove("Service", metadata.name, metadata.namespace);
    }
    await this.ask({ method: "DELETE", path: pathOf("IPAddressPool", NAMESPACE) });
  }

  async close(): Promise<void> {
    await this.endAll();
    this.#api.close();
  }

  async endAll(): Promise<void> {
    await Promise.all(this.#controllers.splice(0).map((controller) => controller.end("SIGKILL")));
  }

  kubectl(words: readonly string[], input?: string): Promise<string> {
    return this.#plane.kubectl(words, input);
  }

  /** The body of the answer; throws when it is no good one. */
  async ask(request: ApiRequest): Promise<unknown> {
    const { status, body } = await this.#api.request(request);
    if (status >= 200 && status < 300) return body;
    throw new Error(`${request.method} ${request.path}: HTTP ${status} ${JSON.stringify(body)}`);
  }

  /** As `kubectl apply --server-side` does, one after the other. */
  async apply(...objects: readonly ApplicableObject[]): Promise<void> {
    for (const object of objects) {
      await this.ask({
        method: "PATCH",
        path: pathOf(object.kind, object.metadata.namespace ?? "", object.metadata.name),
        query: { fieldManager: "test", force: "true" },
        contentType: "application/apply-patch+yaml",
        body: object,
      });
    }
  }

  /** A JSON merge patch. */
  async patch(kind: Kind, name: string, body: unknown, subresource = "", namespace = "default"): Promise<void> {
    const path = `${pathOf(kind, namespace, name)}${subresource}`;
    await this.ask({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
  }

  async remove(kind: Kind, name: string, namespace = "default"): Promise<void> {
    await this.ask({ method: "DELETE", path: pathOf(kind, namespace, name) });
  }

  async object(kind: Kind, name: string, namespace = "default"): Promise<KubernetesObject> {
    return (await this.ask({ method: "GET", path: pathOf(kind, namespace, name) })) as KubernetesObject;
  }

  /** By `namespace/name`. */
  async services(): Promise<ReadonlyMap<string, KubernetesObject>> {
    const list = (await this.ask({ method: "GET", path: "/api/v1/services" })) as List;
    return new Map(list.items.map((item) => [`${item.metadata.namespace}/${item.metadata.name}`, item]));
  }

  async addresses(name: string, namespace = "default"): Promise<readonly string[]> {
    return addressesOf(await this.object("Service", name, namespace));
  }

  /** Of all Services but `kubernetes`, by name. */
  async allAddresses(): Promise<Readonly<Record<string, string>>> {
    const found = [...(await this.services()).values()].filter(({ metadata }) => metadata.name !== "kubernetes");
    return Object.fromEntries(found.map((each) => [each.metadata.name, addressesOf(each).join()]));
  }

  async condition(name: string): Promise<Readonly<Record<string, string>> | undefined> {
    const { status } = await this.object("Service", name);
    return (status as Status | undefined)?.conditions?.find(({ type }) => type === "arpeggio.dev/Allocated");
  }

  /** What the controller says of a Service, in order, as `reason: message`. */
  async events(name: string, namespace = "default"): Promise<readonly string[]> {
    const path = `/api/v1/namespaces/${namespace}/events`;
    const list = (await this.ask({ method: "GET", path })) as { readonly items: readonly EventObject[] };
    const own = list.items.filter(
      ({ involvedObject, source }) => involvedObject.name === name && source.component === "metallb-controller",
    );
    return own.map(({ reason, message }) => `${reason}: ${message}`);
  }

  /** Until it holds; the test's own timeout is the limit. Returns how long it took, in ms. */
  async until(holds: () => Promise<boolean>): Promise<number> {
    const beganMs = performance.now();
    while (!(await holds())) await pause(POLL_MS);
    return performance.now() - beganMs;
  }

  untilHas(name: string, ...addresses: readonly string[]): Promise<number> {
    return this.until(async () => (await this.addresses(name)).join() === addresses.join());
  }

  /** Until its condition says so. */
  untilRefused(name: string, reason: string): Promise<number> {
    return this.until(async () => (await this.condition(name))?.["reason"] === reason);
  }
}

const PATHS = {
  Service: "/api/v1/namespaces/NS/services",
  ConfigMap: "/api/v1/namespaces/NS/configmaps",
  Pod: "/api/v1/namespaces/NS/pods",
  Namespace: "/api/v1/namespaces",
  Node: "/api/v1/nodes",
  Lease: "/apis/coordination.k8s.io/v1/namespaces/NS/leases",
  IPAddressPool: "/apis/metallb.io/v1beta1/namespaces/NS/ipaddresspools",
  ConfigurationState: "/apis/metallb.io/v1beta1/namespaces/NS/configurationstates",
} as const;

type Kind = keyof typeof PATHS;

function pathOf(kind: Kind, namespace: string, name?: string): string {
  const folder = PATHS[kind].replace("NS", namespace);
  return name === undefined ? folder : `${folder}/${name}`;
}

interface ApplicableObject {
  readonly kind: Kind;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

interface List {
  readonly items: readonly KubernetesObject[];
}

interface EventObject {
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly name: string };
  readonly source: { readonly component?: string };
}

interface Status {
  readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] };
  readonly conditions?: readonly Readonly<Record<string, string>>[];
}

export function addressesOf({ status }: KubernetesObject): readonly string[] {
  return ((status as Status | undefined)?.loadBalancer?.ingress ?? []).map(({ ip = "" }) => ip);
}

export function pool(name: string, addresses: readonly string[], spec: object = {}): ApplicableObject {
  return {
    apiVersion: "metallb.io/v1beta1",
    kind: "IPAddressPool",
    metadata: { name, namespace: NAMESPACE },
    spec: { addresses, ...spec },
  };
}

export interface ServiceWishes {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly namespace?: string;
  readonly [field: string]: unknown;
}

/** Other fields are of the spec. */
export function service(
  name: string,
  { annotations, labels, namespace = "default", ...spec }: ServiceWishes = {},
): ApplicableObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name,
      namespace,
      ...(annotations === undefined ? {} : { annotations }),
      ...(labels === undefined ? {} : { labels }),
    },
    spec: {
      type: "LoadBalancer",
      ports: [{ name: "http", port: 80, protocol: "TCP" }],
      selector: { app: name },
      ...spec,
    },
  };
}
