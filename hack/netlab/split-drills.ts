/** Deeds that let the nodes see different things: a cut through the segment, an uplink that blips, manifests that are not the same. */
import { renameSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { differingViewsSentence } from "../../src/http/differing-views.ts";
import type { Deed, Drill } from "./deed.ts";
import type { DrillScene } from "./drill-scene.ts";
import { type Lab, manifestFolder, signalController, writeManifest } from "./lab.ts";
import { advertisementFor } from "./manifests.ts";
import { monotonicMs } from "./monotonic-ms.ts";
import { fetchStatuses, waitUntilMembers } from "./status.ts";
import type { Host } from "./topology.ts";

export type SplitDrillName = "heal" | "uplink-blip" | "views-differ";

const AFTERWARDS_MS = 1_500;
/** memberlist's own detection, which a side without leaders to be watched waits for. */
const SPLIT_TIMEOUT_MS = 20_000;
/** Far more than islands have to take, so that what they take is known. */
const MERGE_TIMEOUT_MS = 40_000;
const BLIP_MS = 1_000;
/** Time for a wrong verdict to show. */
const BETWEEN_BLIPS_MS = 3_000;
const MAX_BLIPS = 4;
/** Within which one node has to answer, whatever the views. */
const ORPHAN_RULE_MS = 5_000;
const VIEWS_DIFFER_MS = 7_000;

export const SPLIT_DRILLS: Readonly<Record<SplitDrillName, { readonly does: string; readonly drill: Drill }>> = {
  heal: {
    does: "the leader and all but half of the others are cut off until both sides have lost each other, the manifests away; then it heals",
    drill: heal,
  },
  "uplink-blip": {
    does: "every other node in turn, each of which watches the leader, hears and reaches nobody for 1 s",
    drill: blip,
  },
  "views-differ": {
    does: "the manifests of one follower alone say that only it may lead; later they are as everybody's again",
    drill: viewsDiffer,
  },
};

/** The client and the watcher are on the side of the second, so that they see both answer only once it has healed. */
async function heal(scene: DrillScene): Promise<Deed> {
  const { lab, leader, faults } = scene;
  const { nodes } = lab.topology;
  const second = await scene.second();
  const others = nodes.filter((node) => node !== leader && node !== second);
  const island = [leader, ...others.slice(0, Math.floor((nodes.length - 1) / 2) - 1)];
  const mainland = nodes.filter((node) => !island.includes(node));
  hideManifests(lab, true);
  try {
    const deedMs = monotonicMs();
    await faults.separate(island);
    await scene.takeOver(deedMs);
    for (const side of [island, mainland]) await waitUntilMembers(lab, side, side.length, SPLIT_TIMEOUT_MS);
    await sleep(AFTERWARDS_MS);
    const healMs = monotonicMs();
    await faults.passAll();
    await waitUntilMembers(lab, nodes, nodes.length, MERGE_TIMEOUT_MS);
    const mergedMs = Math.round(monotonicMs() - healMs);
    await scene.agree();
    const fromMs = monotonicMs();
    await sleep(AFTERWARDS_MS);
    return { deedMs, alone: { fromMs, untilMs: monotonicMs() }, extra: { island: namesOf(island), mergedMs } };
  } finally {
    hideManifests(lab, false);
  }
}

/** A folder that is gone: the source cannot be read, and what was read last stands. The controller would make its part of it anew. */
function hideManifests(lab: Lab, isHidden: boolean): void {
  if (isHidden) signalController(lab, "SIGSTOP");
  for (const node of lab.topology.nodes) {
    const folder = manifestFolder(lab, node);
    const away = `${folder}.away`;
    renameSync(isHidden ? folder : away, isHidden ? away : folder);
  }
  if (!isHidden) signalController(lab, "SIGCONT");
}

async function blip(scene: DrillScene): Promise<Deed> {
  const { lab, leader, faults } = scene;
  const second = await scene.second();
  const others = lab.topology.nodes.filter((node) => node !== leader && node !== second);
  const blipping = [second, ...others].slice(0, MAX_BLIPS);
  const deedMs = monotonicMs();
  for (const node of blipping) {
    faults.partition(node);
    await sleep(BLIP_MS);
    faults.healPartition(node);
    await sleep(BETWEEN_BLIPS_MS);
  }
  await scene.agree();
  await sleep(AFTERWARDS_MS);
  return { deedMs, extra: { blipped: namesOf(blipping) } };
}

/** Two file versions on two hosts: who answers, and who says so, after the 5 s in which it has to be one. */
async function viewsDiffer(scene: DrillScene): Promise<Deed> {
  const odd = await scene.second();
  const deedMs = monotonicMs();
  writeManifest(scene.lab, odd, "advertisement.yaml", advertisementFor(odd.name));
  await sleep(VIEWS_DIFFER_MS);
  const documents = await fetchStatuses(scene.lab);
  const views = documents.map((one) => {
    const entry = one?.addresses.find(({ address }) => address === scene.address);
    return { node: one?.node ?? "one", leader: entry?.leader ?? "nobody", contest: entry?.viewsDiffer };
  });
  const said = views.map(({ node, leader, contest }) => {
    const differs = contest === undefined ? "" : ` (views differ: ${differingViewsSentence(contest)})`;
    return `${node} says ${leader}${differs}`;
  });
  const untilMs = monotonicMs();
  writeManifest(scene.lab, odd, "advertisement.yaml", advertisementFor());
  await scene.agree();
  await sleep(AFTERWARDS_MS);
  return {
    deedMs,
    alone: { fromMs: deedMs + ORPHAN_RULE_MS, untilMs },
    extra: {
      odd: odd.name,
      nodesThatSayWhichView: views.filter(({ contest }) => contest !== undefined).length,
      views: said.join(", "),
    },
  };
}

function namesOf(nodes: readonly Host[]): string {
  return nodes.map(({ name }) => name).join(" ");
}
