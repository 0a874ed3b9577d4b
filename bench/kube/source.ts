/**
 * What reading a large cluster costs the main thread (DESIGN §5): 10,000 Services with their slices and 100 Nodes from a server of its
 * own, in another thread, over plain HTTP. Prints, judges nothing. `node dist/bench/kube/source.js`
 */
import { EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { createLog } from "../../src/base/log.ts";
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import { openApiServer } from "../../src/kube/node-api-server.ts";
import { KubernetesSource } from "../../src/kube/watch/kubernetes-source.ts";
import { SystemClock } from "../../src/sys/system-clock.ts";
import { SystemRandom } from "../../src/sys/system-random.ts";
import { threadMs } from "../speaker/thread-time.ts";

const SERVICES = 10_000;
const NODES = 100;
const ENDPOINTS = 3;
const CHANGES = 200;
const MEBIBYTE = 1_024 * 1_024;

/** About what kubectl's last-applied annotation, managedFields and the images of a node come to. */
const FILLER = "x".repeat(1_200);
const IMAGES = Array.from({ length: 50 }, (_, index) => ({
  names: [`example.org/image-${index}@${FILLER.slice(0, 71)}`],
}));

function service(index: number, resourceVersion = 1): unknown {
  const address = `198.18.${Math.floor(index / 250)}.${index % 250}`;
  return {
    metadata: {
      name: `service-${index}`,
      namespace: "default",
      uid: `uid-${index}`,
      resourceVersion: String(resourceVersion),
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { app: `app-${index}` },
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": FILLER },
      managedFields: [{ manager: "kubectl", fieldsV1: { "f:spec": {} } }],
    },
    spec: { type: "LoadBalancer", externalTrafficPolicy: "Cluster", ports: [{ port: 80 }], selector: { app: "x" } },
    status: { loadBalancer: { ingress: [{ ip: address }] } },
  };
}

function slice(index: number): unknown {
  const endpoints = Array.from({ length: ENDPOINTS }, (_, place) => ({
    addresses: [`198.19.0.${place}`],
    nodeName: `node-${(index + place) % NODES}`,
    conditions: { ready: true, serving: true, terminating: false },
    targetRef: { kind: "Pod", name: `pod-${index}-${place}`, uid: FILLER.slice(0, 36) },
  }));
  const labels = { "kubernetes.io/service-name": `service-${index}` };
  return {
    metadata: { name: `slice-${index}`, namespace: "default", uid: `slice-${index}`, resourceVersion: "1", labels },
    endpoints,
  };
}

function node(index: number): unknown {
  return {
    metadata: { name: `node-${index}`, uid: `node-${index}`, resourceVersion: "1", labels: { zone: `z${index % 3}` } },
    spec: {},
    status: { images: IMAGES, conditions: [{ type: "Ready", status: "True" }] },
  };
}

function serve(): void {
  const watches: ServerResponse[] = [];
  const counts: Readonly<Record<string, [number, (index: number) => unknown]>> = {
    "/api/v1/services": [SERVICES, service],
    "/apis/discovery.k8s.io/v1/endpointslices": [SERVICES, slice],
    "/api/v1/nodes": [NODES, node],
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://x");
    response.writeHead(200, { "Content-Type": "application/json" });
    if (searchParams.has("watch")) {
      response.flushHeaders();
      if (pathname === "/api/v1/services") watches.push(response);
      return;
    }
    const [count, make] = counts[pathname] ?? [0, service];
    const from = Number(searchParams.get("continue") ?? 0);
    const to = Math.min(count, from + Number(searchParams.get("limit")));
    const items = Array.from({ length: to - from }, (_, index) => make(from + index));
    const metadata = { resourceVersion: "1", continue: to < count ? String(to) : "" };
    response.end(JSON.stringify({ kind: "List", metadata, items }));
  });
  server.listen(0, "127.0.0.1", () => parentPort?.postMessage((server.address() as AddressInfo).port));
  parentPort?.on("message", () => {
    for (let index = 0; index < CHANGES; index++) {
      const object = service(index, index + 2) as { status: unknown };
      object.status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
      for (const watch of watches) watch.write(`${JSON.stringify({ type: "MODIFIED", object })}\n`);
    }
  });
}

/** Turns of the event loop, in processor time of this thread, so that other work on the machine does not count. */
class Turns {
  #longestMs = 0;
  #beganMs = 0;
  #isOn = false;

  start(): void {
    this.#isOn = true;
    this.#beganMs = threadMs();
    setImmediate(() => this.#turn());
  }

  stop(): void {
    this.#isOn = false;
  }

  /** Since it was asked last. */
  longestMs(): number {
    const longestMs = this.#longestMs;
    this.#longestMs = 0;
    return longestMs;
  }

  #turn(): void {
    const nowMs = threadMs();
    this.#longestMs = Math.max(this.#longestMs, nowMs - this.#beganMs);
    this.#beganMs = nowMs;
    if (this.#isOn) setImmediate(() => this.#turn());
  }
}

async function measure(): Promise<void> {
  const server = new Worker(new URL(import.meta.url));
  const port = await new Promise<number>((resolve) => server.once("message", resolve));
  const folder = mkdtempSync(join(tmpdir(), "arpeggio-bench-"));
  const kubeconfig = join(folder, "kubeconfig");
  const cluster = { server: `http://127.0.0.1:${port}`, "insecure-skip-tls-verify": true };
  const context = { cluster: "c", user: "u" };
  const config = {
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user: {} }],
    contexts: [{ name: "x", context }],
  };
  writeFileSync(kubeconfig, JSON.stringify({ ...config, "current-context": "x" }));
  const api = await openApiServer({ kubeconfig });
  const before = process.memoryUsage();
  const turns = new Turns();
  const snapshots = new EventEmitter<{ told: [ClusterSnapshot] }>();
  const told = async () => (await once(snapshots, "told"))[0] as ClusterSnapshot;
  const source = new KubernetesSource({
    api,
    namespace: "metallb-system",
    nodeName: "n1",
    cacheFolder: folder,
    clock: new SystemClock(),
    random: new SystemRandom(),
    log: createLog("none", () => {}, Date.now),
    onChange: (snapshot) => void snapshots.emit("told", snapshot),
  });
  turns.start();
  const startMs = performance.now();
  const first = told();
  await source.start();
  const { services, endpointSlices, nodes } = await first;
  const listedMs = performance.now() - startMs;
  const listTurnMs = turns.longestMs();
  const changedMs = performance.now();
  server.postMessage("change");
  for (
    let snapshot = await told();
    snapshot.services.get(`default/service-${CHANGES - 1}`)?.addresses[0] !== "192.0.2.1";
  ) {
    snapshot = await told();
  }
  const followedMs = performance.now() - changedMs;
  const changeTurnMs = turns.longestMs();
  turns.stop();
  globalThis.gc?.();
  const after = process.memoryUsage();
  const out = [
    `${services.size} Services, ${endpointSlices.size} slices, ${nodes.size} Nodes`,
    `listed in ${listedMs.toFixed(0)} ms, longest turn of the main loop ${listTurnMs.toFixed(1)} ms of processor time`,
    `${CHANGES} changes told after ${followedMs.toFixed(0)} ms, longest turn of the main loop ${changeTurnMs.toFixed(1)} ms of processor time`,
    `heap ${((after.heapUsed - before.heapUsed) / MEBIBYTE).toFixed(0)} MiB more than before, with garbage; resident ${(after.rss / MEBIBYTE).toFixed(0)} MiB with the server's thread`,
  ];
  process.stdout.write(`${out.join("\n")}\n`);
  await source.close();
  api.close();
  await server.terminate();
  rmSync(folder, { recursive: true });
}

if (isMainThread) await measure();
else serve();
