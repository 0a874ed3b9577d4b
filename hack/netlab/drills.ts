/** The deeds. Each gives the time of its deed, and ends when there is nothing more to see. */
import { setTimeout as sleep } from "node:timers/promises";
import type { DrillScene } from "./drill-scene.ts";
import { killNode, signalSpeaker, startSpeaker, stopSpeaker } from "./lab.ts";
import { monotonicMs } from "./monotonic-ms.ts";
import { callSpeaker, waitUntilReady } from "./status.ts";

export interface Deed {
  readonly deedMs: number;
  /** When a frozen leader was let go on. */
  readonly thawMs?: number;
}

export type Drill = (scene: DrillScene) => Promise<Deed>;

export type DrillName = "crash" | "kill" | "freeze" | "link-down" | "partition" | "step-down" | "restart" | "loss";

/** Long enough to see the second of the new leader's five bursts. */
const AFTERWARDS_MS = 1_500;
/** A leader that comes back answers what it queued, or beside the new one, at once or in the next seconds. */
const AFTER_RETURN_MS = 3_000;
const LOSS_PERCENT = 10;
const LOSS_MS = 20_000;

export const DRILLS: Readonly<Record<DrillName, { readonly does: string; readonly drill: Drill }>> = {
  crash: { does: "the leader's host dies: its cable is cut and every process killed at once", drill: crash },
  kill: { does: "SIGKILL to the leader's speaker", drill: kill },
  freeze: { does: "SIGSTOP to the leader's speaker; thawed after the take-over", drill: freeze },
  "link-down": { does: "the leader's cable is pulled; plugged in after the take-over", drill: linkDown },
  partition: {
    does: "the switch isolates the leader, whose link stays up; healed after the take-over",
    drill: partition,
  },
  "step-down": { does: "the leader is asked to step down, and later to stand again", drill: stepDown },
  restart: { does: "every speaker is restarted in turn by SIGTERM, the leader first", drill: restart },
  loss: { does: `${LOSS_PERCENT} % of all frames are lost for ${LOSS_MS / 1_000} s`, drill: loss },
};

async function crash(scene: DrillScene): Promise<Deed> {
  const deedMs = monotonicMs();
  scene.faults.pullCable(scene.leader);
  await killNode(scene.lab, scene.leader);
  await scene.takeOver(deedMs);
  await sleep(AFTERWARDS_MS);
  return { deedMs };
}

async function kill(scene: DrillScene): Promise<Deed> {
  const deedMs = monotonicMs();
  signalSpeaker(scene.lab, scene.leader, "SIGKILL");
  await scene.takeOver(deedMs);
  await sleep(AFTERWARDS_MS);
  return { deedMs };
}

async function freeze(scene: DrillScene): Promise<Deed> {
  const deedMs = monotonicMs();
  signalSpeaker(scene.lab, scene.leader, "SIGSTOP");
  await scene.takeOver(deedMs);
  await sleep(AFTERWARDS_MS);
  const thawMs = monotonicMs();
  signalSpeaker(scene.lab, scene.leader, "SIGCONT");
  await sleep(AFTER_RETURN_MS);
  return { deedMs, thawMs };
}

async function linkDown(scene: DrillScene): Promise<Deed> {
  const deedMs = monotonicMs();
  scene.faults.pullCable(scene.leader);
  await scene.takeOver(deedMs);
  await sleep(AFTERWARDS_MS);
  scene.faults.plugCable(scene.leader);
  await sleep(AFTER_RETURN_MS);
  await scene.agree();
  await sleep(AFTERWARDS_MS);
  return { deedMs };
}

async function partition(scene: DrillScene): Promise<Deed> {
  const deedMs = monotonicMs();
  scene.faults.partition(scene.leader);
  await scene.takeOver(deedMs);
  await sleep(AFTERWARDS_MS);
  scene.faults.healPartition(scene.leader);
  await sleep(AFTER_RETURN_MS);
  await scene.agree();
  await sleep(AFTERWARDS_MS);
  return { deedMs };
}

async function stepDown(scene: DrillScene): Promise<Deed> {
  const deedMs = monotonicMs();
  const asked = await callSpeaker(scene.lab, scene.leader, "POST", "/step-down");
  if (asked === undefined || asked.status >= 300)
    throw new Error(`step-down was refused: ${asked?.body ?? "no answer"}`);
  await scene.takeOver(deedMs);
  await sleep(AFTERWARDS_MS);
  await callSpeaker(scene.lab, scene.leader, "DELETE", "/step-down");
  await scene.agree();
  await sleep(AFTERWARDS_MS);
  return { deedMs };
}

async function restart({ lab, leader }: DrillScene): Promise<Deed> {
  const deedMs = monotonicMs();
  const others = lab.topology.nodes.filter((node) => node !== leader);
  for (const node of [leader, ...others]) {
    await stopSpeaker(lab, node);
    startSpeaker(lab, node);
    await waitUntilReady(lab, node);
  }
  await sleep(AFTERWARDS_MS);
  return { deedMs };
}

async function loss(scene: DrillScene): Promise<Deed> {
  const deedMs = monotonicMs();
  await scene.faults.loseFrames(LOSS_PERCENT);
  await sleep(LOSS_MS);
  await scene.faults.repair();
  await sleep(AFTERWARDS_MS);
  return { deedMs };
}
