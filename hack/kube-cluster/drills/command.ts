/** `hack/kube drill`: runs one drill or all of them on a running cluster, and prints what came of it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ArpeggioError } from "../../../src/base/errors.ts";
import { formatRuns } from "../../netlab/report.ts";
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
  /** How long the drill `idle` looks on. */
  readonly minutes: number;
}

/** The one drill without a deed, without requests and probes. */
const IDLE = "idle";
const NAMES = [...Object.keys(KUBE_DRILLS), IDLE];

export async function drill(cluster: Cluster, names: readonly string[], options: DrillOptions): Promise<void> {
  const wanted = names.includes("all") ? NAMES : names;
  if (wanted.length === 0 || wanted.some((name) => !NAMES.includes(name))) {
    throw new ArpeggioError("ERR_CONFIG_INVALID", `drills are all, ${NAMES.join(", ")}`);
  }
  await setStage(cluster);
  try {
    for (const name of wanted) await runAndPrint(cluster, name, options);
  } finally {
    await clearStage(cluster);
  }
}

export function drillLines(): string {
  const lines = Object.entries(KUBE_DRILLS).map(([name, { does }]) => [name, does]);
  const idle = [
    IDLE,
    "100 Services, to which nothing happens for --minutes (10): what is asked of the API server all the same",
  ];
  return [...lines, idle].map(([name = "", does]) => `  ${name.padEnd(20)} ${does}\n`).join("");
}

async function runAndPrint(cluster: Cluster, name: string, options: DrillOptions): Promise<void> {
  const { isJson, records, minutes } = options;
  if (name === IDLE) return idleDrill(cluster, minutes, isJson);
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
