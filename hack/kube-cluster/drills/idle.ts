/** The drill `idle`: Services that nothing happens to, and an audit log that shows what the speakers ask for all the same. */
import { setTimeout as sleep } from "node:timers/promises";
import { SPEAKER_GRANTS } from "../../../api/rbac.ts";
import { openApiServer } from "../../../src/kube/node-api-server.ts";
import { readClusterAudit } from "../audit/cluster-audit.ts";
import { formatQuiet, type Quiet, summarizeQuiet } from "../audit/quiet.ts";
import { machineKubeconfig } from "../kubectl.ts";
import type { Cluster } from "../topology.ts";
import { until } from "../until.ts";
import { countL2Statuses, type ManyServices, makeManyServices, removeManyServices } from "./many-services.ts";
import { DRILL_NAMESPACE, WEB } from "./objects.ts";

const SERVICES = 100;
const LED_TIMEOUT_MS = 120_000;
const POLL_MS = 500;
/** A change of rank is written after 30 s. */
const SETTLED_MS = 35_000;
const SETTLED_TIMEOUT_MS = 180_000;

/** Prints what was asked, or one line of JSON. */
export async function idleDrill(cluster: Cluster, minutes: number, isJson: boolean): Promise<void> {
  const services = { count: SERVICES, namespace: DRILL_NAMESPACE, selector: { app: WEB.name } };
  const quiet = await watchIdle(cluster, services, { durationMs: minutes * 60_000, settledMs: SETTLED_MS, looks: 1 });
  const { rows: _, ...figures } = quiet;
  const nodes = cluster.topology.nodes.length;
  const all = { drill: "idle", run: 1, nodes, services: SERVICES, minutes, ...figures };
  if (isJson) process.stdout.write(`${JSON.stringify(all)}\n`);
  else {
    const { writes, watches, bgpLists, others } = quiet;
    process.stdout.write(`\ndrill idle, ${nodes} nodes: ${SERVICES} Services, nothing happens for ${minutes} min
${formatQuiet(quiet)}writes ${writes}, watches begun anew ${watches}, lists of BGP kinds ${bgpLists}, anything else ${others}
`);
  }
}

export interface IdleWatch {
  readonly durationMs: number;
  /** So long the speakers must have written nothing before. */
  readonly settledMs: number;
  /** On a machine that is too busy for gossip leaders change: the last look counts, and one without a write is the last. */
  readonly looks: number;
}

/** Makes the Services, waits until each is led and nothing is written any more, then looks on. The Services are gone afterwards. */
export async function watchIdle(
  cluster: Cluster,
  services: ManyServices,
  { durationMs, settledMs, looks }: IdleWatch,
): Promise<Quiet> {
  const api = await openApiServer({ kubeconfig: machineKubeconfig(cluster), userAgent: "drill" });
  try {
    await makeManyServices(api, services);
    await until("every Service has a status", { timeoutMs: LED_TIMEOUT_MS, pollMs: POLL_MS }, async () => {
      return (await countL2Statuses(api)) === services.count;
    });
    for (let look = 1; ; look++) {
      await until("the speakers write nothing", { timeoutMs: SETTLED_TIMEOUT_MS, pollMs: POLL_MS }, async () => {
        return (await quietSince(cluster, Date.now() - settledMs)).writes === 0;
      });
      const fromMs = Date.now();
      await sleep(durationMs);
      const quiet = await quietSince(cluster, fromMs);
      if (quiet.writes === 0 || look === looks) return quiet;
    }
  } finally {
    await removeManyServices(api, services);
    api.close();
  }
}

async function quietSince(cluster: Cluster, fromMs: number): Promise<Quiet> {
  return summarizeQuiet(await readClusterAudit(cluster, [SPEAKER_GRANTS]), fromMs);
}
