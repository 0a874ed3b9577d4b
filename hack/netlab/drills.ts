/** The deeds that take a moment. Each gives the time of its deed, and ends when there is nothing more to see. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Deed, Drill } from "./deed.ts";
import type { DrillScene } from "./drill-scene.ts";
import { killNode, signalSpeaker, startSpeaker, stopSpeaker } from "./lab.ts";
import { LASTING_DRILLS, type LastingDrillName } from "./lasting-drills.ts";
import { monotonicMs } from "./monotonic-ms.ts";
import { SPLIT_DRILLS, type SplitDrillName } from "./split-drills.ts";
import { callSpeaker, waitUntilReady } from "./status.ts";

export type DrillName =
  | "crash"
  | "kill"
  | "freeze"
  | "freeze-2s"
  | "link-down"
  | "partition"
  | "both-of-two"
  | "step-down"
  | "restart"
  | SplitDrillName
  | LastingDrillName;

/** `requestIntervalMs` of a drill whose requests come at another pace than the others'. */
export interface NamedDrill {
  readonly does: string;
  readonly drill: Drill;
  readonly requestIntervalMs?: number;
}

/** Long enough to see the second of the new leader's five bursts. */
const AFTERWARDS_MS = 1_500;
/** A leader that comes back answers what it queued, or beside the new one, at once or in the next seconds. */
const AFTER_RETURN_MS = 3_000;
const FREEZE_MS = 2_000;

export const DRILLS: Readonly<Record<DrillName, NamedDrill>> = {
  crash: { does: "the leader's host dies: its cable is cut and every process killed at once", drill: crash },
  kill: { does: "SIGKILL to the leader's speaker", drill: kill },
  freeze: { does: "SIGSTOP to the leader's speaker; thawed after the take-over", drill: freeze },
  "freeze-2s": { does: "SIGSTOP to the leader's speaker for two seconds", drill: freezeTwoSeconds },
  "link-down": { does: "the leader's cable is pulled; plugged in after the take-over", drill: linkDown },
  partition: {
    does: "the switch isolates the leader, whose link stays up; healed after the take-over",
    drill: partition,
  },
  "both-of-two": { does: "leader and second lose power at one instant", drill: bothOfTwo },
  "step-down": { does: "the leader is asked to step down, and later to stand again", drill: stepDown },
  restart: { does: "every speaker is restarted in turn by SIGTERM, the leader first", drill: restart },
  ...SPLIT_DRILLS,
  ...LASTING_DRILLS,
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

async function freezeTwoSeconds(scene: DrillScene): Promise<Deed> {
  const deedMs = monotonicMs();
  signalSpeaker(scene.lab, scene.leader, "SIGSTOP");
  await sleep(FREEZE_MS);
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

async function bothOfTwo(scene: DrillScene): Promise<Deed> {
  const second = await scene.second();
  const deedMs = monotonicMs();
  for (const node of [scene.leader, second]) scene.faults.pullCable(node);
  await Promise.all([scene.leader, second].map((node) => killNode(scene.lab, node)));
  await scene.takeOver(deedMs);
  await sleep(AFTERWARDS_MS);
  return { deedMs, extra: { second: second.name } };
}
