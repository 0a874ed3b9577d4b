/**
 * A real Kubernetes API server for tests that need no node: etcd and kube-apiserver on a loopback address of their own, about
 * 3 s from start to ready. RBAC, Node authorization, NodeRestriction, ServiceAccount admission, a dual-stack Service range and
 * the audit policy are the test cluster's.
 *
 * ```ts
 * describe("…", () => {
 *   const plane = useControlPlane({ users: [{ name: "watcher", groups: [], token: "watcher-token" }] });
 *   it("…", async () => {
 *     const { baseUrl, caFile, adminToken } = plane(); // for requests of your own: https, `ca` from caFile, Bearer token
 *     await plane().kubectl(["apply", "-f", "-"], "apiVersion: v1\n…");
 *     await plane().stopApiServer(); // every connection breaks, the port refuses
 *     await plane().startApiServer(); // same port, same data, ready again
 *   });
 * });
 * ```
 *
 * `controllerManager: true` adds the controllers: default service accounts, garbage collection, namespace deletion, endpoint slices.
 * Without them a namespace has no ServiceAccount `default`, so pods are refused, and a deleted namespace stays Terminating.
 * Tests belong into test/kube/api. Where the binary is missing they are skipped, aloud; hack/test always builds it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  apiServerArgv,
  auditLogPath,
  BUILD_TIMEOUT_MS,
  caPath,
  controllerManagerArgv,
  etcdArgv,
  findPlane,
  kubeconfigPath,
  type PlaneSettings,
} from "../../hack/kube-cluster/plane.ts";
import { ADMIN, type TokenUser, writePlaneFiles } from "../../hack/kube-cluster/plane-files.ts";
import { runCommand } from "../../hack/netlab/run-command.ts";

export interface ControlPlaneOptions {
  /** Known by their tokens, beside the administrator; what they may do is RBAC's. */
  readonly users?: readonly TokenUser[];
  readonly controllerManager?: boolean;
  /** More flags for kube-apiserver, such as `--min-request-timeout=60`. */
  readonly apiServerFlags?: readonly string[];
}

const START_TIMEOUT_MS = 60_000;
const POLL_MS = 25;
const LAST_LINES = 20;

/** A control plane around the tests of the `describe` that calls. */
export function useControlPlane(options: ControlPlaneOptions = {}): () => ControlPlane {
  let plane: ControlPlane | undefined;
  before(async function () {
    this.timeout(BUILD_TIMEOUT_MS);
    const binary = await findPlane();
    if (binary === undefined) {
      process.stdout.write("    skipped: there is no control plane yet: hack/kube-cluster/build-plane\n");
      this.skip();
    }
    plane = await ControlPlane.start(binary, options);
  });
  after(async function () {
    this.timeout(START_TIMEOUT_MS);
    await plane?.close();
  });
  return () => {
    if (plane === undefined) throw new Error("the control plane is not up");
    return plane;
  };
}

type Component = "etcd" | "kube-apiserver" | "kube-controller-manager";

export class ControlPlane {
  readonly #settings: PlaneSettings;
  readonly #options: ControlPlaneOptions;
  readonly #children = new Map<Component, ChildProcess>();

  private constructor(settings: PlaneSettings, options: ControlPlaneOptions) {
    this.#settings = settings;
    this.#options = options;
  }

  static async start(binary: string, options: ControlPlaneOptions): Promise<ControlPlane> {
    const address = ownLoopbackAddress();
    const [apiPort, etcdPort, etcdPeerPort] = await Promise.all([0, 1, 2].map(() => freePort(address)));
    if (apiPort === undefined || etcdPort === undefined || etcdPeerPort === undefined) throw new Error("no free ports");
    const folder = mkdtempSync(join(tmpdir(), "arpeggio-control-plane-"));
    const settings = { binary, folder, address, apiPort, etcdAddress: address, etcdPort, etcdPeerPort };
    const plane = new ControlPlane(settings, options);
    try {
      writePlaneFiles(settings, options.users ?? []);
      plane.#spawn("etcd", etcdArgv(settings));
      await plane.startApiServer();
      if (options.controllerManager === true) plane.#spawn("kube-controller-manager", controllerManagerArgv(settings));
    } catch (error) {
      await plane.close();
      throw error;
    }
    return plane;
  }

  /** `https://IP:PORT`; the certificate holds the address. */
  get baseUrl(): string {
    return `https://${this.#settings.address}:${this.#settings.apiPort}`;
  }

  /** PEM file of the CA that the server's certificate is to be checked against. */
  get caFile(): string {
    return caPath(this.#settings);
  }

  get adminToken(): string {
    return ADMIN.token;
  }

  /** The kubeconfig of the administrator, or of one of the options' users. */
  kubeconfig(user = ADMIN.name): string {
    return kubeconfigPath(this.#settings, user);
  }

  /** JSON lines; what is written there says the policy in hack/kube-cluster/plane-files.ts. */
  get auditLog(): string {
    return auditLogPath(this.#settings);
  }

  /** kubectl as the administrator (`--as=NAME` for somebody else), with `input` on its standard input. Throws with what it said. */
  kubectl(args: readonly string[], input = ""): Promise<string> {
    const { binary, folder } = this.#settings;
    const environment = [`HOME=${folder}`, `KUBECONFIG=${this.kubeconfig()}`];
    return runCommand(["env", ...environment, binary, "kubectl", ...args], input);
  }

  /** As a crash does by default: at once, every connection is reset. SIGTERM lets it end requests first. */
  async stopApiServer(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    await this.#end("kube-apiserver", signal);
  }

  /** On the same port and data; resolves when it is ready. */
  async startApiServer(): Promise<void> {
    this.#spawn("kube-apiserver", [
      ...apiServerArgv(this.#settings, this.#options.apiServerFlags),
      // The Service `kubernetes` refuses an endpoint on loopback, so it gets none.
      "--endpoint-reconciler-type=none",
    ]);
    const deadlineMs = performance.now() + START_TIMEOUT_MS;
    while (!(await this.#isReady())) {
      for (const component of this.#children.keys()) this.#throwIfEnded(component);
      if (performance.now() > deadlineMs) throw new Error(`the API server does not get ready:\n${this.#lastWords()}`);
      await sleep(POLL_MS);
    }
  }

  /** Ends every process and removes every file. */
  async close(): Promise<void> {
    await Promise.all([...this.#children.keys()].map((component) => this.#end(component, "SIGKILL")));
    rmSync(this.#settings.folder, { recursive: true, force: true });
  }

  #spawn(component: Component, argv: readonly string[]): void {
    if (this.#children.has(component)) throw new Error(`${component} runs already`);
    const log = openSync(this.#logPath(component), "a");
    // A test process that is killed takes its control plane with it.
    const command = ["--pdeathsig", "KILL", "--", ...argv];
    const child = spawn("setpriv", command, { stdio: ["ignore", log, log] });
    closeSync(log);
    this.#children.set(component, child);
  }

  async #end(component: Component, signal: NodeJS.Signals): Promise<void> {
    const child = this.#children.get(component);
    this.#children.delete(component);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  }

  #isReady(): Promise<boolean> {
    let ca: string;
    try {
      ca = readFileSync(this.caFile, "utf8");
    } catch {
      return Promise.resolve(false); // it has not made its certificate yet
    }
    return new Promise((resolve) => {
      const headers = { authorization: `Bearer ${this.adminToken}` };
      const asked = request(`${this.baseUrl}/readyz`, { ca, headers, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      asked.once("error", () => resolve(false));
      asked.end();
    });
  }

  #throwIfEnded(component: Component): void {
    const child = this.#children.get(component);
    if (child === undefined || (child.exitCode === null && child.signalCode === null)) return;
    throw new Error(`${component} has ended; it said last:\n${this.#lastWords(component)}`);
  }

  #lastWords(component: Component = "kube-apiserver"): string {
    const lines = readFileSync(this.#logPath(component), "utf8").trimEnd().split("\n");
    return lines.slice(-LAST_LINES).join("\n");
  }

  #logPath(component: Component): string {
    return join(this.#settings.folder, `${component}.log`);
  }
}

let planes = 0;

/**
 * In 127.64.0.0/10, by process and control plane: while the API server is down nobody else takes its port, for outgoing
 * connections over loopback come from 127.0.0.1.
 */
function ownLoopbackAddress(): string {
  const number = (process.pid * 64 + (planes++ % 64)) % 2 ** 22;
  return `127.${64 + Math.floor(number / 2 ** 16)}.${Math.floor(number / 2 ** 8) % 256}.${number % 256}`;
}

async function freePort(address: string): Promise<number> {
  const server = createServer().listen(0, address);
  await once(server, "listening");
  const bound = server.address();
  server.close();
  await once(server, "close");
  if (bound === null || typeof bound === "string") throw new Error("a TCP port has a number");
  return bound.port;
}
