/** A lab: its folder, and what is started and stopped on its nodes. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseDockerfile } from "../oci/dockerfile.ts";
import { buildManifests } from "./manifests.ts";
import { buildNetwork, removeNetwork, serveBehindNat } from "./network.ts";
import { killProcess, livingPid, recordedRoles, signalProcess, startProcess, waitUntilGone } from "./processes.ts";
import { asInstrument, inNamespace } from "./run-command.ts";
import { buildTopology, type Host, type Topology } from "./topology.ts";

export interface Lab {
  readonly topology: Topology;
  /** Holds one folder for each node: manifests, key, cache, logs and process records. */
  readonly folder: string;
}

/** dist/hack/netlab → the repository. */
const REPOSITORY = resolve(import.meta.dirname, "../../..");
/** What `npm run bundle` makes. */
export const SPEAKER_BUNDLE = join(REPOSITORY, "dist/bundle/speaker.js");
const CONTROLLER_BUNDLE = join(REPOSITORY, "dist/bundle/arpeggio-controller.js");
const BACKEND_PROGRAM = join(import.meta.dirname, "backend-main.js");

/** What the image passes to Node between the program's name and the speaker; the recipe says why. */
export function speakerNodeFlags(): readonly string[] {
  const recipe = readFileSync(join(REPOSITORY, "speaker/Dockerfile"), "utf8");
  return parseDockerfile(recipe, { VERSION: "", REVISION: "" }).entrypoint.slice(1, -1);
}

/** As MetalLB's controller makes it: 22 characters. Every lab has this one, it protects nothing. */
const LAB_KEY = "lab-key-22-characters-";

/** SIGTERM: 12 s for the addresses to be claimed, and the leave; the manifests give 15 s. */
const SHUTDOWN_TIMEOUT_MS = 15_000;
const LAST_LINES = 20;
const CONTROLLER = "controller";

export const DEFAULT_LAB = "arpeggio";

/** The same whatever the environment says: `down` must find what `up` started. The lab is root's in any case. */
export function labFolder(name: string): string {
  return join("/run", `arpeggio-lab-${name}`);
}

/** Names of all labs that left a folder, up or not. */
export function labNames(): readonly string[] {
  const prefix = "arpeggio-lab-";
  return readdirSync("/run").flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
}

/** The lab of that name that was brought up earlier, or undefined. */
export function findLab(name: string): Lab | undefined {
  const folder = labFolder(name);
  let text: string;
  try {
    text = readFileSync(join(folder, "lab.json"), "utf8");
  } catch {
    return undefined; // not up
  }
  const { nodes } = JSON.parse(text) as { readonly nodes: number };
  return { topology: buildTopology(name, nodes), folder };
}

/** Namespaces, manifests and backends; speakers are started by the caller. */
export async function createLab(name: string, nodes: number): Promise<Lab> {
  const lab = { topology: buildTopology(name, nodes), folder: labFolder(name) };
  for (const node of lab.topology.nodes) writeNodeFolder(lab, node);
  shareAllocations(lab);
  writeFileSync(join(lab.folder, "lab.json"), JSON.stringify({ nodes }));
  try {
    await buildNetwork(lab.topology);
    await Promise.all(lab.topology.nodes.map(serveBehindNat));
    for (const node of lab.topology.nodes) startBackend(lab, node);
  } catch (error) {
    await destroyLab(lab);
    throw error;
  }
  return lab;
}

/** Leaves no process, no namespace and no file of the lab behind. */
export async function destroyLab(lab: Lab): Promise<void> {
  await Promise.all([killController(lab), ...lab.topology.nodes.map((node) => killNode(lab, node))]);
  await removeNetwork(lab.topology);
  rmSync(lab.folder, { recursive: true, force: true });
}

export function nodeFolder(lab: Lab, node: Host): string {
  return join(lab.folder, node.name);
}

export function manifestFolder(lab: Lab, node: Host): string {
  return join(nodeFolder(lab, node), "manifests");
}

/** Where `/status` of the node's speaker can be read without entering its namespace. */
export function doorSocket(lab: Lab, node: Host): string {
  return join(nodeFolder(lab, node), "http.sock");
}

/** As a user starts it: the files source, the other nodes' addresses as peers, a key. */
export function startSpeaker(lab: Lab, node: Host): void {
  const folder = nodeFolder(lab, node);
  const peers = lab.topology.nodes.filter(({ name }) => name !== node.name).map(({ ipv4 }) => ipv4);
  const argv = [
    process.execPath,
    ...speakerNodeFlags(),
    SPEAKER_BUNDLE,
    `--source=files:${manifestFolder(lab, node)}`,
    `--node-name=${node.name}`,
    `--peers=${peers.join(",")}`,
    `--ml-bindaddr=${node.ipv4}`,
    `--ml-secret-key-path=${join(folder, "key")}`,
    `--cache-dir=${join(folder, "cache")}`,
  ];
  startProcess(folder, "speaker", inNamespace(node.namespace, argv));
}

/** Of the first node's manifests; what it gives every node reads. It outlives the node, as one on another host would. */
export function startController(lab: Lab): void {
  const [node] = lab.topology.nodes;
  if (node === undefined) return;
  const argv = [process.execPath, CONTROLLER_BUNDLE, `--source=files:${manifestFolder(lab, node)}`];
  startProcess(controllerFolder(lab), CONTROLLER, inNamespace(node.namespace, argv));
}

/** Labs of tests have none. */
export function signalController(lab: Lab, signal: NodeJS.Signals): boolean {
  return signalProcess(controllerFolder(lab), CONTROLLER, signal);
}

async function killController(lab: Lab): Promise<void> {
  if (livingPid(controllerFolder(lab), CONTROLLER) !== undefined) await killProcess(controllerFolder(lab), CONTROLLER);
}

function controllerFolder(lab: Lab): string {
  return join(lab.folder, CONTROLLER);
}

export function startBackend(lab: Lab, node: Host): void {
  if (livingPid(nodeFolder(lab, node), "backend") !== undefined) return;
  const argv = asInstrument([process.execPath, BACKEND_PROGRAM, node.name, doorSocket(lab, node)]);
  startProcess(nodeFolder(lab, node), "backend", inNamespace(node.namespace, argv));
}

export function signalSpeaker(lab: Lab, node: Host, signal: NodeJS.Signals): boolean {
  return signalProcess(nodeFolder(lab, node), "speaker", signal);
}

/** SIGTERM, and waits for the end that the speaker itself chooses; false when it had to be killed after 15 s. */
export async function stopSpeaker(lab: Lab, node: Host): Promise<boolean> {
  signalSpeaker(lab, node, "SIGTERM");
  const ended = await waitUntilGone(nodeFolder(lab, node), "speaker", SHUTDOWN_TIMEOUT_MS);
  if (!ended) await killSpeaker(lab, node);
  return ended;
}

/** The last lines that the node's speaker wrote if it has ended; undefined while it runs. */
export function lastWords(lab: Lab, node: Host): string | undefined {
  if (livingPid(nodeFolder(lab, node), "speaker") !== undefined) return undefined;
  const lines = readFileSync(join(nodeFolder(lab, node), "speaker.log"), "utf8")
    .trimEnd()
    .split("\n");
  return lines.slice(-LAST_LINES).join("\n");
}

export function killSpeaker(lab: Lab, node: Host): Promise<void> {
  return killProcess(nodeFolder(lab, node), "speaker");
}

/** Every recorded process of the node, at once. */
export async function killNode(lab: Lab, node: Host): Promise<void> {
  const folder = nodeFolder(lab, node);
  await Promise.all(recordedRoles(folder).map((role) => killProcess(folder, role)));
}

/** One node's alone: with files each host has its own copy. */
export function writeManifest(lab: Lab, node: Host, name: string, text: string): void {
  const path = join(manifestFolder(lab, node), name);
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** A speaker that starts knows nothing of its earlier life. */
export function emptyCache(lab: Lab, node: Host): void {
  const cache = join(nodeFolder(lab, node), "cache");
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
}

/** As if what the controller writes beside the first node's manifests were copied to the others at once. */
function shareAllocations(lab: Lab): void {
  const [first, ...others] = lab.topology.nodes.map((node) => join(manifestFolder(lab, node), ".status"));
  if (first === undefined) return;
  mkdirSync(first);
  for (const other of others) symlinkSync(first, other);
}

function writeNodeFolder(lab: Lab, node: Host): void {
  const key = join(nodeFolder(lab, node), "key");
  mkdirSync(key, { recursive: true });
  writeFileSync(join(key, "secretkey"), LAB_KEY);
  mkdirSync(manifestFolder(lab, node), { recursive: true });
  for (const [name, text] of buildManifests()) writeFileSync(join(manifestFolder(lab, node), name), text);
  emptyCache(lab, node);
}
