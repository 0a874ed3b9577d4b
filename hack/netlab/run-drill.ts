/** One run of a drill: fresh speakers, the deed, the figures. */
import type { Ip } from "../../src/net/ip.ts";
import type { Extra } from "./deed.ts";
import { DrillScene } from "./drill-scene.ts";
import { DRILLS, type DrillName } from "./drills.ts";
import { SwitchFaults } from "./faults.ts";
import { emptyCache, killSpeaker, type Lab, startBackend, startSpeaker } from "./lab.ts";
import { type Figures, measure, type Observation } from "./measure.ts";
import { commonLeader, waitUntilSettled } from "./status.ts";
import { ADDRESSES, type Host, SERVICES } from "./topology.ts";

/** Founders do not settle; a side that joined another one does, for 10 s, and a first meeting may take a rejoin round of 10 s. */
const SETTLE_TIMEOUT_MS = 40_000;

/** Of a drill that lasts, when nobody says how long. */
export const DRILL_MINUTES = 1;

export interface DrillRun {
  readonly leader: Host;
  readonly observation: Observation;
  readonly figures: Figures;
  /** What else the drill has found. */
  readonly extra: Extra;
}

/** `minutes`: how long a drill that lasts shall last. */
export async function runDrill(lab: Lab, name: DrillName, address: Ip, minutes = DRILL_MINUTES): Promise<DrillRun> {
  const faults = new SwitchFaults(lab.topology);
  try {
    await restartFresh(lab, faults);
    const leader = await findLeader(lab, address);
    const { requestIntervalMs } = DRILLS[name];
    return await observe(new DrillScene(lab, address, leader, faults, { minutes, requestIntervalMs }), name);
  } finally {
    faults.close();
  }
}

/** The lab as after `lab up`: no fault, every speaker started anew without memory, one leader for each address, nobody settles. */
export async function restartFresh(lab: Lab, faults: SwitchFaults): Promise<void> {
  const { nodes } = lab.topology;
  await Promise.all(nodes.map((node) => killSpeaker(lab, node)));
  await faults.repair();
  for (const node of nodes) {
    emptyCache(lab, node);
    startBackend(lab, node);
    startSpeaker(lab, node);
  }
  await waitUntilSettled(lab, ADDRESSES, SETTLE_TIMEOUT_MS);
}

async function observe(scene: DrillScene, name: DrillName): Promise<DrillRun> {
  try {
    await scene.begin(SERVICES.find(({ addresses }) => addresses.includes(scene.address))?.port ?? 80);
    const deed = await DRILLS[name].drill(scene);
    const { leader } = scene;
    const noted = await scene.finish();
    const { extra = {}, ...times } = deed;
    const observation = { ...times, oldNode: leader.name, oldMac: leader.mac, ...noted };
    return { leader, observation, figures: measure(observation), extra };
  } finally {
    scene.close();
  }
}

async function findLeader(lab: Lab, address: Ip): Promise<Host> {
  const name = commonLeader(await waitUntilSettled(lab, ADDRESSES, SETTLE_TIMEOUT_MS), address);
  const leader = lab.topology.nodes.find((node) => node.name === name);
  if (leader === undefined) throw new Error(`${address} has no leader among the lab's nodes`);
  return leader;
}
