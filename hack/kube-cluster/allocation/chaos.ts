/** The drill `controller-chaos`: whoever allocates is killed, frozen, cut off or told to end every 25 s, while Services come, change and go. */
import { setTimeout as sleep } from "node:timers/promises";
import { formatTable } from "../../../src/http/table.ts";
import { openApiServer } from "../../../src/kube/node-api-server.ts";
import { controlFolder } from "../cluster.ts";
import {
  CONTROLLER_USER,
  type ControllerProcess,
  controllerProcesses,
  cutFromApi,
  healCut,
  scaleControllers,
  waitForLeader,
} from "../drills/controllers.ts";
import { SPEAKER_NAMESPACE } from "../drills/objects.ts";
import { kubectl, machineKubeconfig } from "../kubectl.ts";
import { auditLogPath } from "../plane.ts";
import type { Cluster } from "../topology.ts";
import { until } from "../until.ts";
import { type Deed, judgeAllocation, judgeSuccessions, type Succession } from "./judge.ts";
import { ServiceLoad } from "./load.ts";
import { readServiceWrites } from "./service-writes.ts";
import {
  ALLOCATION_NAMESPACE,
  makeNamespace,
  makePool,
  readServices,
  removeNamespace,
  removePool,
} from "./services.ts";

const POOL = "arpeggio-chaos";
/** Hardly more than are held at a time: what one gives back the next one gets. */
const ADDRESSES = ["198.18.7.0/25", "2001:db8:8:7::/121"];
const REPLICAS = 3;
const USUAL_REPLICAS = 2;
const KINDS = ["kill", "terminate", "freeze", "cut"] as const satisfies readonly Deed["kind"][];
const DEED_INTERVAL_MS = 25_000;
/** A frozen one wakes, one that was cut off is let in again: not before another has taken over. */
const SPELL_MS = 20_000;
const FIRST_DEED_MS = 5_000;
const SETTLE = { timeoutMs: 60_000, pollMs: 500 };

export interface ChaosFigures {
  readonly deeds: number;
  readonly created: number;
  readonly changed: number;
  readonly deleted: number;
  readonly allocations: number;
  readonly doubleAllocations: number;
  readonly lostAddresses: number;
  /** Services that still had no address when everything was calm again. */
  readonly withoutAddress: number;
  /** Writes of a deposed one that were let through after its successor's first. */
  readonly lateWrites: number;
  /** Slowest of each kind; null when there was none, or nobody took over. */
  readonly takeoverAfterKillMs: number | null;
  readonly takeoverAfterTerminateMs: number | null;
  readonly takeoverAfterFreezeMs: number | null;
  readonly takeoverAfterCutMs: number | null;
}

export interface Chaos {
  readonly figures: ChaosFigures;
  readonly successions: readonly Succession[];
  /** What a person would want to see of offences, if there are any. */
  readonly offences: string;
}

export interface ChaosPlan {
  readonly durationMs: number;
  /** In this order, over and over. */
  readonly kinds?: readonly Deed["kind"][];
  /** From deed to deed: long enough for what the deed before needs. */
  readonly intervalMs?: number;
}

export async function runChaos(cluster: Cluster, plan: ChaosPlan): Promise<Chaos> {
  const api = await openApiServer({ kubeconfig: machineKubeconfig(cluster), userAgent: "drill" });
  const load = new ServiceLoad(api);
  try {
    await scaleControllers(cluster, REPLICAS);
    await makeNamespace(api);
    await makePool(api, POOL, ADDRESSES);
    await waitForLeader(cluster);
    const fromMs = Date.now();
    load.start();
    const deeds = await doDeeds(cluster, fromMs, plan);
    await load.stop();
    // Who is still without has waited for long enough by then.
    await until("every Service has an address", SETTLE, async () => {
      return [...(await readServices(api)).values()].every((addresses) => addresses.length > 0);
    }).catch(() => undefined);
    const log = auditLogPath({ folder: controlFolder(cluster) });
    const all = await readServiceWrites(log, (namespace) => namespace === ALLOCATION_NAMESPACE);
    const writes = all.filter(({ atMs }) => atMs >= fromMs);
    const { allocations, doubles, lost } = judgeAllocation(writes, CONTROLLER_USER);
    const without = [...(await readServices(api))].filter(([, addresses]) => addresses.length === 0);
    const successions = judgeSuccessions(writes, CONTROLLER_USER, deeds);
    const slowest = (kind: Deed["kind"]): number | null => {
      const found = successions.filter(({ deed }) => deed.kind === kind).map(({ takeoverMs }) => takeoverMs);
      return found.length === 0 || found.includes(undefined)
        ? null
        : Math.max(...found.map((ms) => Math.round(ms ?? 0)));
    };
    const { created, changed, deleted } = load;
    return {
      successions,
      offences: [...doubles, ...lost].map((offence) => `${JSON.stringify(offence)}\n`).join(""),
      figures: {
        deeds: deeds.length,
        created,
        changed,
        deleted,
        allocations,
        doubleAllocations: doubles.length,
        lostAddresses: lost.length,
        withoutAddress: without.length,
        lateWrites: successions.reduce((sum, { lateWrites }) => sum + lateWrites, 0),
        takeoverAfterKillMs: slowest("kill"),
        takeoverAfterTerminateMs: slowest("terminate"),
        takeoverAfterFreezeMs: slowest("freeze"),
        takeoverAfterCutMs: slowest("cut"),
      },
    };
  } finally {
    await load.removeAll();
    await removePool(api, POOL);
    await removeNamespace(api);
    api.close();
    await scaleControllers(cluster, USUAL_REPLICAS);
  }
}

/** Prints each succession and the figures, or one line of JSON. */
export async function chaosDrill(cluster: Cluster, minutes: number, isJson: boolean): Promise<void> {
  const { figures, successions, offences } = await runChaos(cluster, { durationMs: minutes * 60_000 });
  const nodes = cluster.topology.nodes.length;
  if (isJson) {
    process.stdout.write(`${JSON.stringify({ drill: "controller-chaos", run: 1, nodes, minutes, ...figures })}\n`);
    return;
  }
  const rows = successions.map(({ deed, takeoverMs, lateWrites }) => [
    deed.kind,
    deed.pod,
    takeoverMs === undefined ? "nobody" : `${(takeoverMs / 1_000).toFixed(1)} s`,
    String(lateWrites),
  ]);
  const { created, changed, deleted, allocations, doubleAllocations, lostAddresses, withoutAddress } = figures;
  process.stdout.write(`\ndrill controller-chaos, ${nodes} nodes, ${REPLICAS} replicas, ${minutes} min
${formatTable(["DEED", "TO", "TAKEN OVER AFTER", "LATE WRITES"], rows)}${offences}${created} Services created, ${changed} changed, ${deleted} deleted; ${allocations} allocations, ${withoutAddress} left without an address
${doubleAllocations} double allocations, ${lostAddresses} lost addresses
`);
}

async function doDeeds(cluster: Cluster, fromMs: number, plan: ChaosPlan): Promise<readonly Deed[]> {
  const { durationMs, kinds = KINDS, intervalMs = DEED_INTERVAL_MS } = plan;
  const endMs = fromMs + durationMs;
  const deeds: Deed[] = [];
  const undoing: Promise<void>[] = [];
  await sleep(FIRST_DEED_MS);
  for (let number = 0; Date.now() + SPELL_MS < endMs; number++) {
    const nextMs = Date.now() + intervalMs;
    const kind = kinds[number % kinds.length] ?? "kill";
    const leader = await waitForLeader(cluster);
    deeds.push({ kind, atMs: Date.now(), pod: leader.pod });
    const undo = await doDeed(cluster, kind, leader);
    if (undo !== undefined) undoing.push(sleep(SPELL_MS).then(undo));
    await sleep(Math.max(0, nextMs - Date.now()));
  }
  await Promise.all(undoing);
  await sleep(Math.max(0, endMs - Date.now()));
  return deeds;
}

/** Gives what undoes it, where that must be done. */
async function doDeed(
  cluster: Cluster,
  kind: Deed["kind"],
  leader: ControllerProcess,
): Promise<(() => void | Promise<void>) | undefined> {
  switch (kind) {
    case "kill":
      process.kill(leader.pid, "SIGKILL");
      return undefined;
    case "terminate":
      await kubectl(cluster, ["delete", "pod", leader.pod, "-n", SPEAKER_NAMESPACE, "--wait=false"]);
      return undefined;
    case "freeze":
      process.kill(leader.pid, "SIGSTOP");
      return () => wake(leader.pid);
    case "cut":
      await cutFromApi(leader);
      return () => heal(cluster, leader.pod);
    default:
      return kind satisfies never;
  }
}

function wake(pid: number): void {
  try {
    process.kill(pid, "SIGCONT");
  } catch {
    // Its kubelet had enough of it.
  }
}

/** Its process may be another by now; the network is the Pod's. */
async function heal(cluster: Cluster, pod: string): Promise<void> {
  const found = controllerProcesses(cluster).find((one) => one.pod === pod);
  if (found !== undefined) await healCut(found);
}
