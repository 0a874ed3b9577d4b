/**
 * A controller on a real API server with 10,000 Services, half of them IPv4 out of a /16, half IPv6 out of a /64: from none that has an
 * address to all, then a restart with all of them allocated. Prints, judges nothing.
 * `npm run bundle && node dist/bench/kube/allocation.js [SERVICES]`
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { ControllerStatusDocument } from "../../api/allocator.ts";
import { findPlane } from "../../hack/kube-cluster/plane.ts";
import { openApiServer } from "../../src/kube/node-api-server.ts";
import { ControlPlane } from "../../test/support/control-plane.ts";
import { forEach } from "./large-cluster.ts";

const PROGRAM = join(import.meta.dirname, "../../bundle/arpeggio-controller.js");
/** As in the image. */
const NODE_OPTIONS = ["--max-semi-space-size=2"];
const NAMESPACE = "metallb-system";
const POLL_MS = 250;
const STILL_MS = 10_000;
const TICKS_PER_SECOND = 100;

const count = Number(process.argv[2] ?? 10_000);

class Controller {
  readonly beganMs = performance.now();
  readonly child: ChildProcess;
  #port = 0;
  #lines = "";

  constructor(kubeconfig: string) {
    const words = [
      "--source=kubernetes",
      `--kubeconfig=${kubeconfig}`,
      `--namespace=${NAMESPACE}`,
      "--http-address=127.0.0.1:0",
      "--health-probe-port=0",
      "--port=0",
      "--log-level=info",
    ];
    this.child = spawn(process.execPath, [...NODE_OPTIONS, PROGRAM, ...words], { stdio: ["ignore", "ignore", "pipe"] });
    this.child.stderr?.on("data", (part: Buffer) => (this.#lines += part.toString()));
  }

  async until(holds: (status: ControllerStatusDocument) => boolean): Promise<number> {
    for (;;) {
      const status = await this.status().catch(() => undefined);
      if (status !== undefined && holds(status)) return performance.now() - this.beganMs;
      if (this.child.exitCode !== null) throw new Error(this.#lines);
      await pause(POLL_MS);
    }
  }

  async status(): Promise<ControllerStatusDocument> {
    this.#port = Number(/"msg":"controller started".*"port":(\d+)/.exec(this.#lines)?.[1] ?? 0);
    const response = await fetch(`http://127.0.0.1:${this.#port}/status`);
    return (await response.json()) as ControllerStatusDocument;
  }

  processorSeconds(): number {
    const fields = readFileSync(`/proc/${this.child.pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }

  residentText(): string {
    const status = readFileSync(`/proc/${this.child.pid}/status`, "utf8");
    const mebibytes = (field: string): string =>
      (Number(new RegExp(`^${field}:\\s*(\\d+) kB$`, "m").exec(status)?.[1]) / 1_024).toFixed(0);
    return `${mebibytes("VmRSS")} MiB resident, ${mebibytes("VmHWM")} at most`;
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null) return;
    this.child.kill();
    await once(this.child, "exit");
  }
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}

function say(text: string): void {
  process.stdout.write(`${text}; load average ${loadavg()[0]?.toFixed(0)}\n`);
}

const binary = await findPlane();
if (binary === undefined) throw new Error("there is no control plane: hack/kube-cluster/build-plane");
const plane = await ControlPlane.start(binary, {});
const controllers: Controller[] = [];
const start = (): Controller => {
  const controller = new Controller(plane.kubeconfig());
  controllers.push(controller);
  return controller;
};
try {
  await plane.kubectl(["apply", "--server-side", "-f", "manifests/crd"]);
  await plane.kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]);
  const api = await openApiServer({ kubeconfig: plane.kubeconfig() });
  const post = async (path: string, body: unknown): Promise<void> => {
    const { status } = await api.request({ method: "POST", path, body });
    if (status !== 201) throw new Error(`${path}: HTTP ${status}`);
  };
  for (const [name, range] of [
    ["four", "198.18.0.0/16"],
    ["six", "2001:db8::/64"],
  ]) {
    await post(`/apis/metallb.io/v1beta1/namespaces/${NAMESPACE}/ipaddresspools`, {
      apiVersion: "metallb.io/v1beta1",
      kind: "IPAddressPool",
      metadata: { name, namespace: NAMESPACE },
      spec: { addresses: [range] },
    });
  }
  const madeMs = performance.now();
  await forEach(count, (number) =>
    post("/api/v1/namespaces/default/services", {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: `service-${number}` },
      spec: {
        type: "LoadBalancer",
        allocateLoadBalancerNodePorts: false,
        ipFamilies: [number % 2 === 0 ? "IPv4" : "IPv6"],
        ports: [{ port: 80 }],
        selector: { app: `app-${number}` },
      },
    }),
  );
  const madeSeconds = (performance.now() - madeMs) / 1_000;
  say(
    `${count} Services made: ${madeSeconds.toFixed(0)} s, ${(count / madeSeconds).toFixed(0)} writes/s by the API server alone`,
  );

  const first = start();
  const leadingMs = await first.until(({ state }) => state === "allocating");
  const cpuBefore = first.processorSeconds();
  const allMs = await first.until(({ services }) => services.allocated === count);
  const { writes } = await first.status();
  const written = writes?.services.written ?? 0;
  const took = (allMs - leadingMs) / 1_000;
  const cpu = first.processorSeconds() - cpuBefore;
  say(
    `from none to all: ${took.toFixed(1)} s, ${written} writes (each waiting Service is marked once first), ${(written / took).toFixed(0)} writes/s, ` +
      `${cpu.toFixed(1)} s of processor time, ${((cpu * 1_000) / written).toFixed(2)} ms a write, ${first.residentText()}`,
  );
  await first.end();

  const second = start();
  const startedMs = await second.until(() => true);
  const readyMs = await second.until(({ state }) => state !== "reading");
  const againMs = await second.until(({ state }) => state === "allocating");
  await pause(STILL_MS);
  const after = await second.status();
  say(
    `restart with ${after.services.allocated} allocated: listens after ${seconds(startedMs)} s, ready after ${seconds(readyMs)} s, leads after ` +
      `${seconds(againMs)} s, ${after.writes?.services.written} writes of Services, ${second.processorSeconds().toFixed(1)} s of processor time, ${second.residentText()}`,
  );
  api.close();
} finally {
  await Promise.all(controllers.map((controller) => controller.end()));
  await plane.close();
}
