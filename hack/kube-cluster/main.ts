/** The command `hack/kube`, after the shell script of that name has installed and built what it needs. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { ArpeggioError } from "../../src/base/errors.ts";
import { inNamespace } from "../netlab/run-command.ts";
import { audit } from "./audit/command.ts";
import { createCluster, destroyCluster, findCluster, type Tools } from "./cluster.ts";
import { drill, drillLines } from "./drills/command.ts";
import { packOwnImages } from "./images.ts";
import { importImages, insideNode } from "./inside.ts";
import { installArpeggio } from "./install.ts";
import { runKubectl } from "./kubectl.ts";
import { findNodeTools } from "./node-tools.ts";
import { findPlane } from "./plane.ts";
import { buildCluster, type Cluster, clusterFolder } from "./topology.ts";

const USAGE = `usage: hack/kube up [--nodes N] [--bare]   a control plane and N nodes (3), with a speaker on each and two controllers; bare: without
       hack/kube kubectl ARGUMENT...   as the administrator
       hack/kube node NAME COMMAND...  inside a node
       hack/kube client COMMAND...     on the client, a host outside the cluster on both segments
       hack/kube image                 builds our images anew and imports them on every node of a running cluster
       hack/kube drill NAME…|all [--json] [--records FOLDER] [--minutes N]
       hack/kube audit                 what Arpeggio asked of the API server so far, beside what it may; fails if anything was refused
       hack/kube down                  leaves nothing behind
  --name NAME  another cluster beside the first; before the command

drills
${drillLines()}`;

const DEFAULT_NAME = "arpeggio";
const DEFAULT_NODES = 3;

interface Request {
  readonly name: string;
  readonly nodes: number;
  /** Without Arpeggio. */
  readonly isBare: boolean;
  readonly isJson: boolean;
  readonly records: string | undefined;
  readonly minutes: number | undefined;
  readonly command: string;
  /** What follows the command, as it was written. */
  readonly rest: readonly string[];
}

/** Options of hack/kube stand before the command, or after `up`; what follows other commands is theirs. */
function readRequest(argv: readonly string[]): Request {
  const at = argv.findIndex((word, index) => !word.startsWith("-") && argv[index - 1] !== "--name");
  const command = argv[at] ?? "help";
  const passesOn = ["kubectl", "node", "client"].includes(command);
  const own = passesOn ? argv.slice(0, at) : argv.filter((_, index) => index !== at);
  const { values, positionals } = parseArgs({
    args: [...own],
    allowPositionals: true,
    options: {
      name: { type: "string", default: DEFAULT_NAME },
      nodes: { type: "string", default: String(DEFAULT_NODES) },
      records: { type: "string" },
      minutes: { type: "string" },
      json: { type: "boolean", default: false },
      bare: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const nodes = Number(values.nodes);
  if (!Number.isInteger(nodes) || nodes < 1) throw usageError(`--nodes is a number from 1 on, not ${values.nodes}`);
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  if (minutes !== undefined && !(minutes > 0)) throw usageError(`--minutes is a number above 0, not ${values.minutes}`);
  return {
    name: values.name,
    nodes,
    minutes,
    isBare: values.bare,
    isJson: values.json,
    records: values.records,
    command: values.help ? "help" : command,
    rest: passesOn ? argv.slice(at + 1) : positionals,
  };
}

async function run(request: Request): Promise<number> {
  switch (request.command) {
    case "up":
      await up(request);
      return 0;
    case "down":
      await destroyCluster(findCluster(request.name) ?? buildCluster(request.name, DEFAULT_NODES));
      return 0;
    case "image":
      await packOwnImages();
      await importImages(neededCluster(request));
      return 0;
    case "drill":
      await drill(neededCluster(request), request.rest, request);
      return 0;
    case "audit":
      return (await audit(neededCluster(request))) ? 0 : 1;
    case "kubectl":
      return runKubectl(neededCluster(request), request.rest);
    case "node":
      return runOnNode(neededCluster(request), request.rest);
    case "client":
      return runThrough(inNamespace(neededCluster(request).topology.client.namespace, request.rest));
    case "help":
      process.stdout.write(USAGE);
      return 0;
    default:
      throw usageError(`no command ${request.command}`);
  }
}

async function up({ name, nodes, isBare }: Request): Promise<void> {
  let stepMs = performance.now();
  const note = (step: string): void => {
    const seconds = ((performance.now() - stepMs) / 1_000).toFixed(1).padStart(6);
    process.stderr.write(`${step.padEnd(30)}${seconds} s\n`);
    stepMs = performance.now();
  };
  await packOwnImages();
  const cluster = await createCluster(name, nodes, await findTools(), note);
  await importImages(cluster);
  if (isBare) return;
  await installArpeggio(cluster);
  note("Arpeggio on every node");
  process.stderr.write(`
The cluster is running; hack/kube down removes it. To try:
  hack/kube kubectl get pods -A
  hack/kube client curl http://192.0.2.100/
`);
}

async function runOnNode(cluster: Cluster, [name, ...argv]: readonly string[]): Promise<number> {
  const node = cluster.topology.nodes.find((one) => one.name === name);
  if (node === undefined) {
    throw usageError(`nodes are ${cluster.topology.nodes.map((one) => one.name).join(", ")}, not ${name ?? "nothing"}`);
  }
  return runThrough(insideNode(cluster, node, argv));
}

/** With the terminal's input and output; gives the exit code. */
async function runThrough([command = "", ...argv]: readonly string[]): Promise<number> {
  const child = spawn(command, argv, { stdio: "inherit" });
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

/** hack/kube has built the one and fetched the other. */
async function findTools(): Promise<Tools> {
  const [binary, nodeTools] = await Promise.all([findPlane(), findNodeTools()]);
  if (binary === undefined || nodeTools === undefined) throw usageError("start it as hack/kube");
  return { binary, nodeTools };
}

function neededCluster({ name }: Request): Cluster {
  const cluster = findCluster(name);
  if (cluster === undefined) throw usageError(`no cluster ${name} is up (${clusterFolder(name)}): hack/kube up`);
  return cluster;
}

function usageError(message: string): ArpeggioError {
  return new ArpeggioError("ERR_CONFIG_INVALID", message);
}

// Whoever reads what we print may have seen enough.
process.stdout.on("error", () => undefined);
try {
  process.exitCode = await run(readRequest(process.argv.slice(2)));
} catch (error) {
  const isOurs = error instanceof ArpeggioError;
  process.stderr.write(`${isOurs ? error.message : ((error as Error).stack ?? String(error))}\n`);
  process.exitCode = isOurs ? 2 : 1;
}
