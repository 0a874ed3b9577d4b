/** One run of a drill on the cluster: the stage as it was, the deed, the figures. */
import { type Figures, measure, type Observation } from "../../netlab/measure.ts";
import type { Cluster } from "../topology.ts";
import type { KubeDeed, KubeDrill } from "./drill.ts";
import { KubeScene, repairStage } from "./scene.ts";

/** The fields of hack/lab's drills, and those of this drill alone. */
export interface KubeFigures {
  readonly observation: Observation;
  readonly figures: Figures;
  readonly extra: Readonly<Record<string, number | null>>;
}

export async function runKubeDrill(cluster: Cluster, drill: KubeDrill): Promise<KubeFigures> {
  const scene = new KubeScene(cluster, drill.service);
  try {
    await scene.agree();
    await drill.prepare?.(scene);
    return await observe(scene, drill);
  } finally {
    scene.close();
    await drill.repair?.(scene);
    await repairStage(cluster);
  }
}

async function observe(scene: KubeScene, drill: KubeDrill): Promise<KubeFigures> {
  if (drill.beginsInSilence) scene.beginInSilence();
  else {
    await scene.settle();
    await scene.begin();
  }
  const { name: oldNode, mac: oldMac } = scene.leader;
  const deed = await drill.drill(scene);
  const noted = await scene.finish();
  // Under policy Cluster the backend that answers says nothing of who leads.
  const isTold = drill.beginsInSilence || drill.service.policy === "Local";
  const requests = isTold ? noted.requests : noted.requests.map((request) => ({ ...request, node: oldNode }));
  const before = drill.beginsInSilence ? { oldNode: "", oldMac: SILENT } : { oldNode, oldMac };
  const observation = { deedMs: deed.deedMs, ...before, requests, frames: noted.frames };
  const lastMs = noted.frames.at(-1)?.atMs ?? deed.deedMs;
  return {
    observation,
    figures: measure(observation),
    extra: {
      ...deed.extra,
      ...movesByStretch(observation, deed),
      ...(drill.endsInSilence && { silentAfterMs: Math.round(lastMs - deed.deedMs) }),
    },
  };
}

/** The leader's MAC where there was no leader. */
const SILENT = "00:00:00:00:00:00" as Observation["oldMac"];

function movesByStretch(observation: Observation, { movesBetween }: KubeDeed): Readonly<Record<string, number>> {
  // A move is seen by who answered before it, so each stretch is what all up to its end has more than all up to its beginning.
  const movesUntil = (untilMs: number): number =>
    measure({ ...observation, frames: observation.frames.filter(({ atMs }) => atMs < untilMs) }).moves;
  const moves = Object.entries(movesBetween ?? {}).map(
    ([name, [fromMs, toMs]]) => [name, movesUntil(toMs) - movesUntil(fromMs)] as const,
  );
  return Object.fromEntries(moves);
}
