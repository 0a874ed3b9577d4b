/** `hack/kube drill`: runs one drill or all of them on a running cluster, and prints what came of it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ArpeggioError } from "../../../src/base/errors.ts";
import { formatRuns } from "../../netlab/report.ts";
import { allocateDrill } from "../allocation/allocate.ts";
import { chaosDrill } from "../allocation/chaos.ts";
import { takeoverDrill } from "../allocation/takeover.ts";
import type { Cluster } from "../topology.ts";
import { KUBE_DRILLS } from "./drills.ts";
import { idleDrill } from "./idle.ts";
import { type KubeFigures, runKubeDrill } from "./run-drill.ts";
import { clearStage, setStage } from "./scene.ts";

export interface DrillOptions {
  /** One object a line, with the fields of hack/lab's drills. */
  readonly isJson: boolean;
  /** Folder that gets every request and frame of a drill, as NAME.json. */
  readonly records: string | undefined;
  /** How long the drills `idle` and `controller-chaos` last; absent: as long as is usual for each. */
  readonly minutes: number | undefined;
}

/** A drill that prints what it has to say itself: without requests and probes. */
interface OwnDrill {
  readonly does: string;
  /** Of the backends and Services that the others need. */
  readonly needsStage: boolean;
  readonly run: (cluster: Cluster, options: DrillOptions) => Promise<void>;
}

const OWN_DRILLS: Readonly<Record<string, OwnDrill>> = {
  idle: {
    does: "100 Services, to which nothing happens for --minutes (10): what is asked of the API server all the same",
    needsStage: true,
    run: (cluster, { minutes = 10, isJson }) => idleDrill(cluster, minutes, isJson),
  },
  allocate: {
    does: "500 Services, 3 pools, both families: how soon each has its addresses, and whether kubectl says the same of them",
    needsStage: false,
    run: (cluster, { isJson }) => allocateDrill(cluster, isJson),
  },
  takeover: {
    does: "MetalLB's controller, its Secret and its webhook are there, and Services with addresses: ours comes, MetalLB's goes",
    needsStage: false,
    run: (cluster, { isJson }) => takeoverDrill(cluster, isJson),
  },
  "controller-chaos": {
    does: "3 controllers; who allocates is killed, told to end, frozen or cut off every 25 s for --minutes (5), while 200 Services a minute are made, changed and deleted",
    needsStage: false,
    run: (cluster, { minutes = 5, isJson }) => chaosDrill(cluster, minutes, isJson),
  },
};
const NAMES = [...Object.keys(KUBE_DRILLS), ...Object.keys(OWN_DRILLS)];

export async function drill(cluster: Cluster, names: readonly string[], options: DrillOptions): Promise<void> {
  const wanted = names.includes("all") ? NAMES : names;
  if (wanted.length === 0 || wanted.some((name) => !NAMES.includes(name))) {
    throw new ArpeggioError("ERR_CONFIG_INVALID", `drills are all, ${NAMES.join(", ")}`);
  }
  const needsStage = wanted.some((name) => OWN_DRILLS[name]?.needsStage !== false);
  if (needsStage) await setStage(cluster);
  try {
    for (const name of wanted) await runAndPrint(cluster, name, options);
  } finally {
    if (needsStage) await clearStage(cluster);
  }
}

/** What the drill of that name does; empty: there is none. */
export function drillDoes(name: string): string {
  return (KUBE_DRILLS[name] ?? OWN_DRILLS[name])?.does ?? "";
}

export function drillLines(): string {
  return NAMES.map((name) => `  ${name.padEnd(20)} ${drillDoes(name)}\n`).join("");
}

async function runAndPrint(cluster: Cluster, name: string, options: DrillOptions): Promise<void> {
  const { isJson, records } = options;
  const own = OWN_DRILLS[name];
  if (own !== undefined) return own.run(cluster, options);
  const found = KUBE_DRILLS[name];
  if (found === undefined) return;
  const result = await runKubeDrill(cluster, found);
  const nodes = cluster.topology.nodes.length;
  const { figures, extra, observation } = result;
  if (records !== undefined) {
    mkdirSync(records, { recursive: true });
    writeFileSync(join(records, `${name}.json`), JSON.stringify(observation));
  }
  if (isJson) process.stdout.write(`${JSON.stringify({ drill: name, run: 1, nodes, ...figures, ...extra })}\n`);
  else process.stdout.write(`\ndrill ${name}, ${nodes} nodes: ${found.does}\n${formatResult(cluster, result)}`);
}

function formatResult(cluster: Cluster, { figures, extra }: KubeFigures): string {
  const lines = Object.entries(extra).map(([name, value]) => `${name}: ${value ?? "-"}\n`);
  return formatRuns(cluster.topology, [figures]) + lines.join("");
}
