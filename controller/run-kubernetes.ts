/** The controller of a cluster as a process: what cluster.ts joins, with its ports for people, kubelets and scrapers, and its end. */

import type { Log } from "../src/base/log.ts";
import { VERSION } from "../src/base/version.ts";
import { openMetricsListeners } from "../src/daemon/metrics-listeners.ts";
import { type AllocatorFaces, createAllocatorServer, createProbeServer } from "../src/http/allocator-server.ts";
import { openListener } from "../src/http/app.ts";
import { KubernetesAuthorizer } from "../src/kube/authorizer.ts";
import { createAllocatorMetrics } from "../src/metrics/allocator-metrics.ts";
import type { Ip } from "../src/net/ip.ts";
import { SystemClock } from "../src/sys/system-clock.ts";
import { SystemRandom } from "../src/sys/system-random.ts";
import { Cluster, openClusterApis } from "./cluster.ts";
import { clusterReadiness, clusterStatus } from "./cluster-status.ts";
import { Neighbours } from "./neighbours.ts";
import type { ControllerOptions, KubernetesOptions } from "./options.ts";
import { poolsView, viewsOf } from "./views.ts";

/** Writes that are under way are answered, the Lease is given back: from the signal to the end, whatever happens. */
const CLOSE_LIMIT_MS = 5_000;
/** So that two processes of one name never take each other for themselves. */
const IDENTITY_BYTES = 4;
const EVERYWHERE = "0.0.0.0" as Ip;

export async function runInCluster(
  { source: options, loadBalancerClass, writesConditions, http }: ControllerOptions<KubernetesOptions>,
  log: Log,
  fail: (error: unknown) => never,
): Promise<void> {
  const clock = new SystemClock();
  const random = new SystemRandom();
  const startedAt = new Date(clock.wallMs()).toISOString();
  const { namespace, holderName, kubeconfig, podName, secretName, takesOver } = options;
  const identity = `${holderName}_${Buffer.from(random.bytes(IDENTITY_BYTES)).toString("hex")}`;
  const apis = await openClusterApis(kubeconfig);
  const cluster = new Cluster(
    apis,
    {
      namespace,
      identity,
      settings: { loadBalancerClass, writesConditions },
      ...(podName === undefined ? {} : { podName }),
    },
    { clock, random, log },
  );
  const neighbours = new Neighbours(
    { namespace, secretName, takesOver },
    {
      api: apis.reading,
      clock,
      random,
      log,
      isHolder: () => cluster.lease.isHolder,
      pods: () => cluster.source.pods,
      say: (about, text) => cluster.say(about, text),
      check: () => cluster.check(),
      fail,
    },
  );
  cluster.gates.add(neighbours);
  cluster.whenRead((changed) => neighbours.whenRead(changed));
  const { allocator } = cluster.allocation;
  const readStatus = () => clusterStatus(cluster, neighbours, { identity, namespace, startedAt });
  const faces: AllocatorFaces = {
    version: VERSION,
    readStatus,
    ...viewsOf(allocator, () => clock.wallMs()),
    readiness: () => clusterReadiness(cluster),
  };
  const metrics = createAllocatorMetrics(VERSION);
  const readMetrics = async (): Promise<string> => {
    metrics.apply(readStatus(), poolsView(allocator));
    return metrics.text();
  };
  // Listening comes first: a port that is taken must be said before anything is allocated.
  const main = await openListener(createAllocatorServer(faces, log), http);
  const listeners = [
    main,
    ...(options.health === undefined ? [] : [await openListener(createProbeServer(faces, log), options.health)]),
    await openMetricsListeners(options, {
      nodeName: holderName,
      ip: EVERYWHERE,
      metrics: readMetrics,
      authorizer: new KubernetesAuthorizer({ api: apis.reading, path: "/metrics", nowMs: () => clock.nowMs() }),
      random,
      wallMs: () => clock.wallMs(),
      log,
    }),
  ];
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    neighbours.close();
    setTimeout(() => process.exit(0), CLOSE_LIMIT_MS);
    void cluster
      .stop()
      .then(() => Promise.allSettled(listeners.map((listener) => listener.close())))
      .then(() => process.exit(0), fail);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, stop);
  cluster.start();
  neighbours.start();
  log.info("controller started", { version: VERSION, source: apis.reading.url, identity, port: main.port });
}
