/** The command `hack/lab`, after the shell script of that name has installed and built what it needs. */
import { parseArgs } from "node:util";
import { ArpeggioError } from "../../src/base/errors.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";
import type { Extra } from "./deed.ts";
import { DRILLS, type DrillName } from "./drills.ts";
import { SwitchFaults } from "./faults.ts";
import { createLab, DEFAULT_LAB, destroyLab, findLab, type Lab, labFolder, startController } from "./lab.ts";
import { removeNetwork } from "./network.ts";
import { type DrillResult, judge } from "./promises.ts";
import { addressRows, formatAddressRows, formatNodeRows, formatRuns, formatVerdicts, nodeRows } from "./report.ts";
import { DRILL_MINUTES, restartFresh, runDrill } from "./run-drill.ts";
import { fetchStatuses } from "./status.ts";
import { ADDRESSES, buildTopology, DRILL_ADDRESS } from "./topology.ts";
import { traceSegment } from "./trace.ts";

const USAGE = `usage: hack/lab up [--nodes N]          builds and starts the lab, runs the crash drill, leaves it running
       hack/lab status                  who leads what, and what every node says
       hack/lab drill NAME [--runs N] [--nodes N] [--address IP]
       hack/lab trace                   ARP and Neighbor Discovery on the switch, until Ctrl-C
       hack/lab down                    leaves nothing behind
  --minutes N   how long flapping-link, asymmetric-cut, stall-300, stall-800 and loss last (${DRILL_MINUTES})
  --json   one object a line       --name NAME   another lab beside the first (${DEFAULT_LAB})

drills
${Object.entries(DRILLS)
  .map(([name, { does }]) => `  ${name.padEnd(14)} ${does}\n`)
  .join("")}`;

const DEFAULT_NODES = 3;

interface Request {
  readonly command: string;
  readonly drill: string | undefined;
  readonly name: string;
  readonly nodes: number | undefined;
  readonly runs: number;
  readonly minutes: number;
  readonly address: Ip;
  readonly isJson: boolean;
}

function readRequest(argv: readonly string[]): Request {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      name: { type: "string", default: DEFAULT_LAB },
      nodes: { type: "string" },
      runs: { type: "string", default: "1" },
      minutes: { type: "string", default: String(DRILL_MINUTES) },
      address: { type: "string", default: DRILL_ADDRESS },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const address = parseIp(values.address);
  if (address === undefined || !ADDRESSES.includes(address)) {
    throw usageError(`--address is one of ${ADDRESSES.join(", ")}`);
  }
  return {
    command: values.help ? "help" : (positionals[0] ?? "help"),
    drill: positionals[1],
    name: values.name,
    nodes: values.nodes === undefined ? undefined : countOf("--nodes", values.nodes),
    runs: countOf("--runs", values.runs),
    minutes: countOf("--minutes", values.minutes),
    address,
    isJson: values.json,
  };
}

async function run(request: Request): Promise<void> {
  switch (request.command) {
    case "up":
      return up(request);
    case "down":
      return down(request);
    case "status":
      return showStatus(neededLab(request), request.isJson);
    case "drill":
      return drill(request);
    case "trace":
      return trace(neededLab(request));
    case "help":
      return print(USAGE);
    default:
      throw usageError(`no command ${request.command}`);
  }
}

async function up(request: Request): Promise<void> {
  const lab = await startLab(request, request.nodes ?? DEFAULT_NODES);
  await runAndPrint(lab, "crash", { ...request, runs: 1 });
  if (!request.isJson) print("\n");
  await showStatus(lab, request.isJson);
  if (request.isJson) return;
  const { client, remote } = lab.topology;
  print(`
The lab is running; hack/lab down removes it. To try:
  ip netns exec ${client.namespace} curl http://${DRILL_ADDRESS}/
  ip netns exec ${client.namespace} arping -c 3 -I eth0 ${DRILL_ADDRESS}
  ip netns exec ${client.namespace} ndisc6 2001:db8::100 eth0
  ip netns exec ${remote.namespace} curl 'http://[2001:db8::100]/'
  ip netns exec ${lab.topology.nodes[0]?.namespace ?? ""} curl http://127.0.0.1:17472/status
  ip netns exec ${lab.topology.nodes[0]?.namespace ?? ""} curl http://127.0.0.1:17473/pools/lab/addresses
  hack/lab drill kill --runs 3
`);
}

async function down({ name }: Request): Promise<void> {
  const lab = findLab(name);
  if (lab !== undefined) return destroyLab(lab);
  // Half of an earlier start may stand without its folder.
  await removeNetwork(buildTopology(name, DEFAULT_NODES));
}

async function drill(request: Request): Promise<void> {
  const { drill: name, nodes } = request;
  if (name === undefined || !isDrillName(name)) throw usageError(`drills are ${Object.keys(DRILLS).join(", ")}`);
  const running = findLab(request.name);
  const isWanted = running !== undefined && (nodes ?? running.topology.nodes.length) === running.topology.nodes.length;
  const lab = isWanted ? running : await startLab(request, nodes ?? DEFAULT_NODES);
  await runAndPrint(lab, name, request);
}

function sentenceOf(extra: Extra): string {
  const entries = Object.entries(extra);
  return entries.length === 0 ? "" : `: ${entries.map(([name, value]) => `${name} ${value}`).join(", ")}`;
}

/** Runs the drill, prints its figures as they come (JSON) or at the end, and leaves a whole lab. */
async function runAndPrint(lab: Lab, name: DrillName, { runs, minutes, address, isJson }: Request): Promise<void> {
  const nodes = lab.topology.nodes.length;
  const all: DrillResult[] = [];
  for (let index = 1; index <= runs; index++) {
    const { figures, extra } = await runDrill(lab, name, address, minutes);
    all.push({ figures, extra });
    if (isJson) print(`${JSON.stringify({ drill: name, run: index, nodes, ...figures, ...extra })}\n`);
    else note(`${name}, run ${index} of ${runs}${sentenceOf(extra)}`);
  }
  if (!isJson) {
    const figures = all.map((one) => one.figures);
    print(`\ndrill ${name}, ${nodes} nodes, ${address}: ${DRILLS[name].does}\n${formatRuns(lab.topology, figures)}`);
    print(formatVerdicts(judge(name, all)));
  }
  await repairLab(lab);
}

async function startLab({ name, isJson }: Request, nodes: number): Promise<Lab> {
  const old = findLab(name);
  if (old !== undefined) await destroyLab(old);
  const beginMs = performance.now();
  const lab = await createLab(name, nodes);
  startController(lab);
  await repairLab(lab);
  if (!isJson) note(`${nodes} nodes agree`, beginMs);
  return lab;
}

async function repairLab(lab: Lab): Promise<void> {
  const faults = new SwitchFaults(lab.topology);
  try {
    await restartFresh(lab, faults);
  } finally {
    faults.close();
  }
}

async function showStatus(lab: Lab, isJson: boolean): Promise<void> {
  const documents = await fetchStatuses(lab);
  const addresses = addressRows(lab.topology, documents, ADDRESSES);
  const nodes = nodeRows(lab.topology, documents);
  if (isJson) print([...addresses, ...nodes].map((row) => `${JSON.stringify(row)}\n`).join(""));
  else print(`${formatNodeRows(lab.topology, nodes)}\n${formatAddressRows(addresses)}`);
}

async function trace(lab: Lab): Promise<void> {
  const abort = new AbortController();
  process.stdout.on("error", () => abort.abort());
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => abort.abort());
  await traceSegment(lab.topology, print, abort.signal);
}

function neededLab({ name }: Request): Lab {
  const lab = findLab(name);
  if (lab === undefined) throw usageError(`no lab is up (${labFolder(name)}): hack/lab up`);
  return lab;
}

function isDrillName(name: string): name is DrillName {
  return Object.hasOwn(DRILLS, name);
}

function countOf(option: string, text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw usageError(`${option} is a number from 1 on, not ${text}`);
  return count;
}

function usageError(message: string): ArpeggioError {
  return new ArpeggioError("ERR_CONFIG_INVALID", message);
}

/** A step that has ended, in the format of hack/env, on standard error: standard output has the results only. */
function note(text: string, beginMs?: number): void {
  const seconds = beginMs === undefined ? "" : `${((performance.now() - beginMs) / 1_000).toFixed(1).padStart(6)} s`;
  process.stderr.write(`${text.padEnd(30)}${seconds}\n`);
}

function print(text: string): void {
  process.stdout.write(text);
}

// Whoever reads what we print may have seen enough.
process.stdout.on("error", () => undefined);
try {
  await run(readRequest(process.argv.slice(2)));
} catch (error) {
  const isOurs = error instanceof ArpeggioError;
  process.stderr.write(`${isOurs ? error.message : ((error as Error).stack ?? String(error))}\n`);
  process.exitCode = isOurs ? 2 : 1;
}
