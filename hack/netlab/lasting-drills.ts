/** Faults that go on, for as many minutes as are asked for: what matters is how often the address moves meanwhile. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Deed, Drill } from "./deed.ts";
import type { DrillScene } from "./drill-scene.ts";
import { signalSpeaker } from "./lab.ts";
import { monotonicMs } from "./monotonic-ms.ts";
import { fetchLeaderships, movedBetween } from "./status.ts";
import type { Host } from "./topology.ts";

export type LastingDrillName = "flapping-link" | "asymmetric-cut" | "stall-300" | "stall-800" | "loss";

const MINUTE_MS = 60_000;
const AFTERWARDS_MS = 1_500;
const LOSS_PERCENT = 10;
/** Nothing of what these drills show is in the requests, and half an hour has many. */
const REQUEST_INTERVAL_MS = 20;
/** Long enough for a carrier to count again: 2 s. */
const FLAP_MS = 3_000;

const stallWord = "every speaker stands still once a minute, each at its own time, while 10 % of all frames are lost:";

interface LastingDrill {
  readonly does: string;
  readonly drill: Drill;
  readonly requestIntervalMs: number;
}

function lasting(does: string, drill: Drill): LastingDrill {
  return { does, drill, requestIntervalMs: REQUEST_INTERVAL_MS };
}

export const LASTING_DRILLS: Readonly<Record<LastingDrillName, LastingDrill>> = {
  "flapping-link": lasting("the leader's cable is pulled and plugged in again every 3 s", flap),
  "asymmetric-cut": lasting("nothing that the leader sends reaches the second, which it still hears", cutOneWay),
  "stall-300": lasting(`${stallWord} 300 ms`, (scene) => stall(scene, 300)),
  "stall-800": lasting(`${stallWord} 800 ms`, (scene) => stall(scene, 800)),
  loss: lasting(`${LOSS_PERCENT} % of all frames are lost`, loss),
};

async function flap(scene: DrillScene): Promise<Deed> {
  const deedMs = monotonicMs();
  const endMs = deedMs + scene.minutes * MINUTE_MS;
  while (monotonicMs() < endMs) {
    scene.faults.pullCable(scene.leader);
    await sleep(FLAP_MS);
    scene.faults.plugCable(scene.leader);
    await sleep(FLAP_MS);
  }
  await scene.agree();
  await sleep(AFTERWARDS_MS);
  return { deedMs };
}

async function cutOneWay(scene: DrillScene): Promise<Deed> {
  const second = await scene.second();
  const deedMs = monotonicMs();
  await scene.faults.cutOneWay(scene.leader, second);
  await sleep(scene.minutes * MINUTE_MS);
  await scene.faults.repair();
  await scene.agree();
  await sleep(AFTERWARDS_MS);
  return { deedMs, extra: { deafTo: second.name } };
}

async function stall(scene: DrillScene, stallMs: number): Promise<Deed> {
  const { nodes } = scene.lab.topology;
  const before = await fetchLeaderships(scene.lab);
  const deedMs = monotonicMs();
  const endMs = deedMs + scene.minutes * MINUTE_MS;
  await scene.faults.loseFrames(LOSS_PERCENT);
  await Promise.all(
    nodes.map((node, index) => stallEachMinute(scene, node, stallMs, offsetMs(index, nodes.length), endMs)),
  );
  await sleep(Math.max(0, endMs - monotonicMs()));
  await scene.faults.repair();
  await sleep(AFTERWARDS_MS);
  const after = await fetchLeaderships(scene.lab);
  return { deedMs, extra: { addressesMoved: movedBetween(before, after).length } };
}

async function stallEachMinute(
  { lab }: DrillScene,
  node: Host,
  stallMs: number,
  firstAfterMs: number,
  endMs: number,
): Promise<void> {
  await sleep(firstAfterMs);
  for (let nextMs = monotonicMs(); nextMs + stallMs < endMs; nextMs += MINUTE_MS) {
    await sleep(Math.max(0, nextMs - monotonicMs()));
    signalSpeaker(lab, node, "SIGSTOP");
    await sleep(stallMs);
    signalSpeaker(lab, node, "SIGCONT");
  }
}

/** Spread over the minute: two that stand still at once are another fault. */
function offsetMs(index: number, nodes: number): number {
  return ((index + 0.5) * MINUTE_MS) / nodes;
}

async function loss(scene: DrillScene): Promise<Deed> {
  const deedMs = monotonicMs();
  await scene.faults.loseFrames(LOSS_PERCENT);
  await sleep(scene.minutes * MINUTE_MS);
  await scene.faults.repair();
  await sleep(AFTERWARDS_MS);
  return { deedMs };
}
