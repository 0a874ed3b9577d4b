/** Drills of what breaks around the speakers: the API server, its watches, the token, kubelets, nodes. */
import { setTimeout as sleep } from "node:timers/promises";
import { monotonicMs } from "../../netlab/monotonic-ms.ts";
import {
  bootNode,
  crashNode,
  killControl,
  killService,
  signalControl,
  startControl,
  startService,
  waitForApiServer,
  waitForNodes,
} from "../cluster.ts";
import { isRunning } from "../inside.ts";
import type { KubeDeed, KubeDrill } from "./drill.ts";
import { LOCAL, WEB } from "./objects.ts";
import { type KubeScene, watchFor } from "./scene.ts";
import {
  collectedHeapBytes,
  cutApiConnections,
  killSpeaker,
  openFiles,
  readWatches,
  residentBytes,
} from "./speakers.ts";

const AFTERWARDS_MS = 1_500;
const CUTS = 60;
const CUT_INTERVAL_MS = 1_000;
/** The whole of `api-away`, and what happens when in it. */
const AWAY_MS = 120_000;
const LEADER_DIES_AFTER_MS = 30_000;
/** A killed leader is followed within this time; restarted, it settles for longer than that. */
const DEATH_MS = 9_000;
const SPEAKER_RESTARTS_AFTER_MS = 70_000;
/** The API server is back and its store is not: it answers with errors. */
const ERRORS_MS = 10_000;
const AFTER_RETURN_MS = 20_000;
/** Nodes become NotReady 50 s after their kubelet's last word. */
const NOT_READY_MS = 70_000;

export const FAULT_DRILLS = {
  "watch-cut": {
    does: `every connection of every speaker to the API server is reset once a second for ${CUTS} s`,
    service: WEB,
    drill: (scene) => cutWatches(scene, CUTS),
  },
  "api-away": {
    does: `API server and controllers are away for ${AWAY_MS / 1_000} s; meanwhile the leader's speaker is killed, later another one; then the API server answers with errors for ${ERRORS_MS / 1_000} s`,
    service: WEB,
    drill: apiAway,
    repair: bringApiBack,
  },
  "kubelet-stop": {
    does: "the leader's kubelet is killed until its node is NotReady, and started again",
    service: WEB,
    drill: stopKubelet,
  },
  "node-delete": {
    does: "kubectl delete of the leader's Node object; its kubelet registers again when it is restarted",
    service: WEB,
    drill: deleteNode,
    repair: restartKubelets,
  },
  "out-of-service": {
    does: "taint node.kubernetes.io/out-of-service on the leader's node, removed later",
    service: WEB,
    drill: takeOutOfService,
    repair: takeBackIntoService,
  },
  "node-crash": {
    does: "the leader's node loses power, policy Local; booted again later",
    service: LOCAL,
    drill: crash,
    repair: bootAll,
  },
} as const satisfies Readonly<Record<string, KubeDrill>>;

/** Also with fewer cuts, for the tests. */
export async function cutWatches(scene: KubeScene, cuts: number): Promise<KubeDeed> {
  const before = await readTotals(scene);
  const deedMs = monotonicMs();
  for (let cut = 0; cut < cuts; cut++) {
    await Promise.all(scene.nodes.map(cutApiConnections));
    await sleep(Math.max(0, deedMs + (cut + 1) * CUT_INTERVAL_MS - monotonicMs()));
  }
  await watchFor(AFTERWARDS_MS);
  const after = await readTotals(scene);
  return {
    deedMs,
    extra: {
      relists: after.relists - before.relists,
      reconnects: after.reconnects - before.reconnects,
      openFilesMore: after.openFiles - before.openFiles,
      residentMegabytes: megabytes(after.residentBytes),
      residentMegabytesMore: megabytes(after.residentBytes - before.residentBytes),
      // What is resident rises until V8 collects old objects for the first time; whether anything stays is seen here.
      collectedHeapMegabytes: megabytes(after.collectedHeapBytes),
      collectedHeapMegabytesMore: megabytes(after.collectedHeapBytes - before.collectedHeapBytes),
    },
  };
}

/** Of all speakers together. */
async function readTotals({ cluster, nodes }: KubeScene): Promise<{
  readonly relists: number;
  readonly reconnects: number;
  readonly openFiles: number;
  readonly residentBytes: number;
  readonly collectedHeapBytes: number;
}> {
  const watches = await readWatches(nodes);
  const resident = sum(nodes.map((node) => residentBytes(cluster, node)));
  return {
    relists: sum(watches.map(({ relists }) => relists)),
    reconnects: sum(watches.map(({ reconnects }) => reconnects)),
    openFiles: sum(nodes.map((node) => openFiles(cluster, node))),
    residentBytes: resident,
    collectedHeapBytes: sum(await Promise.all(nodes.map((node) => collectedHeapBytes(cluster, node)))),
  };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e5) / 10;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

async function apiAway(scene: KubeScene): Promise<KubeDeed> {
  const { cluster } = scene;
  const deedMs = monotonicMs();
  await killControl(cluster, "kube-controller-manager");
  await killControl(cluster, "kube-apiserver");
  await sleepUntil(deedMs + LEADER_DIES_AFTER_MS);
  const deathMs = monotonicMs();
  killSpeaker(cluster, scene.leader);
  await scene.takeOver(deathMs);
  await sleepUntil(deedMs + SPEAKER_RESTARTS_AFTER_MS);
  // By now the one that died is back, and leads again if it is the best.
  await scene.agree();
  const restartMs = monotonicMs();
  const [other] = scene.others;
  if (other !== undefined) killSpeaker(cluster, other);
  await sleepUntil(deedMs + AWAY_MS);
  const returnMs = monotonicMs();
  await signalControl(cluster, "etcd", "STOP");
  await startControl(cluster, "kube-apiserver");
  await sleep(ERRORS_MS);
  await signalControl(cluster, "etcd", "CONT");
  await waitForApiServer(cluster);
  await startControl(cluster, "kube-controller-manager");
  const endMs = await watchFor(AFTER_RETURN_MS);
  return {
    deedMs,
    movesBetween: {
      movesBeforeDeath: [deedMs, deathMs],
      movesAtDeath: [deathMs, deathMs + DEATH_MS],
      movesAtComeback: [deathMs + DEATH_MS, restartMs],
      movesAtRestart: [restartMs, returnMs],
      movesAfterReturn: [returnMs, endMs],
    },
  };
}

async function bringApiBack({ cluster }: KubeScene): Promise<void> {
  await signalControl(cluster, "etcd", "CONT");
  for (const service of ["kube-apiserver", "kube-controller-manager"] as const) {
    // Killed when it runs, so that there are never two.
    await killControl(cluster, service);
    await startControl(cluster, service);
    if (service === "kube-apiserver") await waitForApiServer(cluster);
  }
}

async function stopKubelet(scene: KubeScene): Promise<KubeDeed> {
  const { cluster, leader } = scene;
  const deedMs = monotonicMs();
  await killService(cluster, leader, "kubelet");
  await watchFor(NOT_READY_MS);
  await startService(cluster, leader, "kubelet");
  await scene.kubectl(["wait", "--for=condition=Ready", `node/${leader.name}`, "--timeout=60s"]);
  await watchFor(AFTERWARDS_MS);
  return { deedMs };
}

async function deleteNode(scene: KubeScene): Promise<KubeDeed> {
  const deedMs = monotonicMs();
  await scene.kubectl(["delete", "node", scene.leader.name, "--wait=false"]);
  await scene.takeOver(deedMs);
  await watchFor(AFTERWARDS_MS);
  return { deedMs };
}

async function restartKubelets(scene: KubeScene): Promise<void> {
  const { cluster, nodes } = scene;
  for (const node of nodes) {
    await killService(cluster, node, "kubelet");
    await startService(cluster, node, "kubelet");
  }
  await waitForNodes(cluster);
}

async function takeOutOfService(scene: KubeScene): Promise<KubeDeed> {
  const deedMs = monotonicMs();
  await scene.kubectl([
    "taint",
    "nodes",
    scene.leader.name,
    "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
  ]);
  await scene.takeOver(deedMs);
  await watchFor(AFTERWARDS_MS);
  return { deedMs };
}

async function takeBackIntoService(scene: KubeScene): Promise<void> {
  for (const { name } of scene.nodes) {
    // Fails on a node that does not have it.
    await scene.kubectl(["taint", "nodes", name, "node.kubernetes.io/out-of-service-"]).catch(() => undefined);
  }
}

async function crash(scene: KubeScene): Promise<KubeDeed> {
  const { cluster, leader, faults } = scene;
  const deedMs = monotonicMs();
  faults.pullCable(leader);
  await crashNode(cluster, leader);
  await scene.takeOver(deedMs);
  await watchFor(AFTERWARDS_MS);
  return { deedMs };
}

async function bootAll(scene: KubeScene): Promise<void> {
  const { cluster, nodes, faults } = scene;
  for (const node of nodes) {
    if (!isRunning(cluster, node)) await bootNode(cluster, node);
  }
  await faults.repair();
  await waitForNodes(cluster);
}

async function sleepUntil(timeMs: number): Promise<void> {
  await sleep(Math.max(0, timeMs - monotonicMs()));
}
