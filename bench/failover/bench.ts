/**
 * The drills kill, crash and freeze-2s of the lab, and in the same run clusters of Go members in MetalLB's timing, killed and frozen at a
 * random phase. Ours ends with the new leader's first answer on the wire; theirs with the last survivor's notice, after which MetalLB
 * would only begin to announce. Prints both distributions, and what of the promises was kept; ends with 1 when one was not.
 *
 * --full: 30 runs, and the drills in which nothing may move or speakers see different things, half an hour of them.
 */
import { availableParallelism, loadavg } from "node:os";
import { parseArgs } from "node:util";
import type { DrillName } from "../../hack/netlab/drills.ts";
import { type DrillResult, judge } from "../../hack/netlab/promises.ts";
import { isBuilt, LIBRARIES } from "../../test/interop/go-peer.ts";
import { detectionTimes } from "./go-cluster.ts";
import { type DrillOptions, LabCommand } from "./lab-command.ts";
import { type FaultResult, formatFaults, formatPromises, type Promised } from "./report.ts";

const FAULTS = [
  { drill: "kill", fault: "process killed", theirs: "kill" },
  { drill: "crash", fault: "host dead", theirs: "kill" },
  { drill: "freeze-2s", fault: "process frozen", theirs: "freeze" },
] as const;

const FULL_RUNS = 30;
const FULL_MINUTES = 30;
const CUT_MINUTES = 10;
const LEAST_GO_RUNS = 3;

const { values } = parseArgs({
  options: {
    full: { type: "boolean", default: false },
    runs: { type: "string" },
    nodes: { type: "string", default: "3,5" },
  },
});
const runs = Number(values.runs ?? (values.full ? FULL_RUNS : 10));
const sizes = values.nodes.split(",").map(Number);
const goRuns = Math.max(LEAST_GO_RUNS, Math.ceil(runs / 3));

const [{ name: library, program }] = LIBRARIES;
if (!isBuilt(program)) throw new Error("the Go peers are not built: bench/failover/run");

const promised: Promised[] = [];

async function runDrill(lab: LabCommand, drill: DrillName, options: DrillOptions): Promise<readonly DrillResult[]> {
  const { nodes, runs: wanted = 1 } = options;
  note(`${nodes} nodes, ${drill}`);
  const results = await lab.drill(drill, options);
  const ended = { what: "runs", found: `${results.length}, wanted ${wanted}`, isKept: false };
  const verdicts = [...judge(drill, results), ...(results.length < wanted ? [ended] : [])];
  for (const verdict of verdicts) {
    promised.push({ scene: `\`${drill}\`, ${nodes} nodes`, verdict });
    note(`  ${verdict.isKept ? "kept" : "NOT KEPT"}: ${verdict.what}: ${verdict.found}`);
  }
  return results;
}

/** One after the other, alone on the machine: these are times. */
async function measureFaults(): Promise<readonly FaultResult[]> {
  const lab = new LabCommand("failover");
  const found: FaultResult[] = [];
  for (const nodes of sizes) {
    await lab.down();
    for (const { drill, fault, theirs } of FAULTS) {
      const results = await runDrill(lab, drill, { nodes, runs });
      const ours = results.flatMap(({ figures }) => figures.firstReplyMs ?? []);
      found.push({ nodes, fault, ours, theirs: await detectionTimes(program, theirs, nodes, goRuns) });
    }
  }
  await lab.down();
  return found;
}

/** The half-hour, and beside it in a lab of its own everything else: the machine is only the busier, and nothing may move. */
async function runLongDrills(): Promise<void> {
  await Promise.all([
    drillInTurn(new LabCommand("failover-long"), [["stall-300", { nodes: 3, minutes: FULL_MINUTES }]]),
    drillInTurn(new LabCommand("failover-split"), [
      ["heal", { nodes: 3, runs }],
      ["asymmetric-cut", { nodes: 3, minutes: CUT_MINUTES }],
      ["uplink-blip", { nodes: 3, runs: 3 }],
      ["views-differ", { nodes: 3, runs: 3 }],
    ]),
  ]);
}

async function drillInTurn(lab: LabCommand, drills: readonly (readonly [DrillName, DrillOptions])[]): Promise<void> {
  await lab.down();
  for (const [drill, options] of drills) await runDrill(lab, drill, options);
  await lab.down();
}

function note(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)}  ${text}\n`);
}

const [loadBefore = 0] = loadavg();
const beganMs = performance.now();
const faults = await measureFaults();
if (values.full) await runLongDrills();
const minutes = Math.round((performance.now() - beganMs) / 60_000);
process.stdout.write(
  `${availableParallelism()} cores, load average ${loadBefore.toFixed(1)} before, ${minutes} minutes. Milliseconds from the fault to the new leader's first answer.\n\n${formatFaults(faults, library)}\n${formatPromises(promised)}`,
);
if (promised.some(({ verdict }) => !verdict.isKept)) process.exitCode = 1;
