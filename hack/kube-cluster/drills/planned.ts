/** Drills of what an operator does on purpose: nothing of it may lose a request. */
import { monotonicMs } from "../../netlab/monotonic-ms.ts";
import type { KubeDeed, KubeDrill } from "./drill.ts";
import { buildAdvertisement, DRILL_NAME, LOCAL, SPEAKER_NAMESPACE, WEB } from "./objects.ts";
import { apply, type KubeScene, watchFor } from "./scene.ts";
import { SecondWatcher } from "./second-watcher.ts";
import { SPEAKERS, speakerPod, waitForNobody, waitForSpeakers } from "./speakers.ts";

/** Long enough to see the second of a new leader's announcements. */
const AFTERWARDS_MS = 1_500;
const SILENCE_TIMEOUT_MS = 30_000;

export const PLANNED_DRILLS = {
  apply: {
    does: "kubectl apply of an L2Advertisement, from silence to the first answer",
    service: WEB,
    beginsInSilence: true,
    prepare: withdrawAdvertisement,
    drill: applyAdvertisement,
  },
  "delete-advertisement": {
    does: "kubectl delete of the L2Advertisement, until nobody answers",
    service: WEB,
    endsInSilence: true,
    drill: deleteAdvertisement,
  },
  drain: {
    does: "kubectl drain of the leader's node, policy Cluster",
    service: WEB,
    drill: drain,
  },
  "drain-local": {
    does: "kubectl drain of the leader's node, policy Local with two backends",
    service: LOCAL,
    drill: drain,
  },
  uncordon: {
    does: "kubectl uncordon of the node that would lead",
    service: WEB,
    prepare: cordonLeader,
    drill: uncordon,
  },
  "pod-delete": {
    does: "kubectl delete of the leader's speaker pod",
    service: WEB,
    drill: deletePod,
  },
  rollout: {
    does: "rolling restart of the speakers' DaemonSet",
    service: WEB,
    drill: rollOut,
  },
  "rollout-cordoned": {
    does: "rolling restart of the speakers' DaemonSet with every node but the leader's cordoned",
    service: WEB,
    prepare: cordonOthers,
    drill: rollOut,
  },
} as const satisfies Readonly<Record<string, KubeDrill>>;

async function withdrawAdvertisement(scene: KubeScene): Promise<void> {
  await scene.kubectl(["delete", "l2advertisement", DRILL_NAME, "-n", SPEAKER_NAMESPACE]);
  await waitForNobody(scene.nodes, scene.addresses, SILENCE_TIMEOUT_MS);
}

async function applyAdvertisement(scene: KubeScene): Promise<KubeDeed> {
  const ipv6 = new SecondWatcher(scene.cluster.topology.router, "eth0", scene.service.ipv6);
  try {
    ipv6.start();
    const deedMs = monotonicMs();
    await apply(scene.cluster, [buildAdvertisement()]);
    await scene.firstFrame(deedMs);
    const firstAdvertisementMs = await ipv6.firstFrame(deedMs);
    await watchFor(AFTERWARDS_MS);
    return { deedMs, extra: { firstNeighborAdvertisementMs: sinceMs(firstAdvertisementMs, deedMs) } };
  } finally {
    ipv6.close();
  }
}

async function deleteAdvertisement(scene: KubeScene): Promise<KubeDeed> {
  const deedMs = monotonicMs();
  await scene.kubectl(["delete", "l2advertisement", DRILL_NAME, "-n", SPEAKER_NAMESPACE]);
  await waitForNobody(scene.nodes, scene.addresses, SILENCE_TIMEOUT_MS);
  await watchFor(AFTERWARDS_MS);
  return { deedMs };
}

async function drain(scene: KubeScene): Promise<KubeDeed> {
  const deedMs = monotonicMs();
  const options = ["--ignore-daemonsets", "--delete-emptydir-data", "--timeout=60s"];
  await scene.kubectl(["drain", scene.leader.name, ...options]);
  await scene.takeOver(deedMs);
  await watchFor(AFTERWARDS_MS);
  return { deedMs };
}

async function cordonLeader(scene: KubeScene): Promise<void> {
  await scene.agree();
  const before = scene.leader;
  await scene.kubectl(["cordon", before.name]);
  do await scene.agree();
  while (scene.leader === before);
}

async function uncordon(scene: KubeScene): Promise<KubeDeed> {
  const deedMs = monotonicMs();
  await scene.kubectl(["uncordon", ...scene.others.map(({ name }) => name)]);
  await scene.takeOver(deedMs);
  await watchFor(AFTERWARDS_MS);
  return { deedMs };
}

async function cordonOthers(scene: KubeScene): Promise<void> {
  await scene.agree();
  await scene.kubectl(["cordon", ...scene.others.map(({ name }) => name)]);
}

async function deletePod(scene: KubeScene): Promise<KubeDeed> {
  const pod = await speakerPod(scene.cluster, scene.leader);
  const deedMs = monotonicMs();
  await scene.kubectl(["delete", pod, "-n", SPEAKER_NAMESPACE, "--wait=false"]);
  await scene.takeOver(deedMs);
  await waitForSpeakers(scene.cluster);
  await scene.agree();
  await watchFor(AFTERWARDS_MS);
  return { deedMs };
}

async function rollOut(scene: KubeScene): Promise<KubeDeed> {
  const deedMs = monotonicMs();
  await scene.kubectl(["rollout", "restart", SPEAKERS, "-n", SPEAKER_NAMESPACE]);
  await waitForSpeakers(scene.cluster);
  await scene.agree();
  await watchFor(AFTERWARDS_MS);
  return { deedMs };
}

function sinceMs(atMs: number | undefined, deedMs: number): number | null {
  return atMs === undefined ? null : Math.round(atMs - deedMs);
}
