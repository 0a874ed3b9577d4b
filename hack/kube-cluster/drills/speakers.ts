/** The speakers as a drill sees them: their /status, and the pods they run in. */
import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { StatusDocument } from "../../../api/status.ts";
import type { Ip } from "../../../src/net/ip.ts";
import { collectedHeaps, residentBytesOf } from "../../netlab/heap.ts";
import { inNamespace, runCommand } from "../../netlab/run-command.ts";
import { commonLeader, findDisagreements } from "../../netlab/status.ts";
import { type Host, SPEAKER_HTTP_PORT } from "../../netlab/topology.ts";
import { POD_PROGRAM } from "../images.ts";
import { commandOf, processesOf } from "../inside.ts";
import { kubectl } from "../kubectl.ts";
import type { Cluster } from "../topology.ts";
import { SPEAKER_NAMESPACE } from "./objects.ts";

export const SPEAKERS = "daemonset/arpeggio-speaker";
/** As in the image's ENTRYPOINT. */
const SPEAKER_SCRIPT = "/app/speaker.js";
const POLL_MS = 200;
const REQUEST_TIMEOUT = "2s";

type Watch = NonNullable<StatusDocument["sources"][number]["watches"]>[number];

/** Undefined: no speaker answers on that node. */
export async function readStatus(node: Host): Promise<StatusDocument | undefined> {
  const url = `http://127.0.0.1:${SPEAKER_HTTP_PORT}/status`;
  try {
    const text = await runCommand(inNamespace(node.namespace, [POD_PROGRAM, "get", url, REQUEST_TIMEOUT]));
    return JSON.parse(text) as StatusDocument;
  } catch {
    return undefined;
  }
}

/** One document for each of the nodes, in order. */
export function readStatuses(nodes: readonly Host[]): Promise<readonly (StatusDocument | undefined)[]> {
  return Promise.all(nodes.map(readStatus));
}

/** Watches of the API server, of all speakers of these nodes together. */
export async function readWatches(nodes: readonly Host[]): Promise<readonly Watch[]> {
  const documents = await readStatuses(nodes);
  return documents.flatMap((document) => (document?.sources ?? []).flatMap((source) => source.watches ?? []));
}

/** The speakers reach the API server by the address of its Service, kubelet and kube-proxy by its own: theirs stand. */
export async function cutApiConnections(node: Host): Promise<void> {
  await runCommand(inNamespace(node.namespace, ["ss", "-K", "state", "connected", "dst", "10.96.0.1"]));
}

/** Until the speakers of these nodes form one cluster, none settles, and each address has one leader; gives the leader of the first address. */
export async function waitForAgreement(
  nodes: readonly Host[],
  addresses: readonly Ip[],
  timeoutMs: number,
): Promise<Host | undefined> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const documents = await readStatuses(nodes);
    const problems = findDisagreements(documents, addresses);
    if (problems.length === 0) {
      const [first] = addresses;
      const name = first === undefined ? undefined : commonLeader(documents, first);
      return nodes.find((node) => node.name === name);
    }
    if (performance.now() > deadlineMs) throw new Error(`not settled after ${timeoutMs} ms: ${problems.join("; ")}`);
    await sleep(POLL_MS);
  }
}

/** Until no speaker of these nodes says of any of the addresses that somebody leads it. */
export async function waitForNobody(
  nodes: readonly Host[],
  addresses: readonly Ip[],
  timeoutMs: number,
): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const documents = await readStatuses(nodes);
    const led = documents.flatMap((document) =>
      (document?.addresses ?? []).filter(
        ({ address, leader }) => addresses.includes(address as Ip) && leader !== undefined,
      ),
    );
    if (led.length === 0 && !documents.includes(undefined)) return;
    if (performance.now() > deadlineMs) throw new Error(`still led after ${timeoutMs} ms: ${led[0]?.address ?? "?"}`);
    await sleep(POLL_MS);
  }
}

/** Name of the speaker's pod on the node. */
export async function speakerPod(cluster: Cluster, node: Host): Promise<string> {
  const selector = ["-l", "arpeggio.dev/component=speaker", `--field-selector=spec.nodeName=${node.name}`];
  const text = await kubectl(cluster, ["get", "pods", "-n", SPEAKER_NAMESPACE, ...selector, "-o", "name"]);
  const [name] = text.trim().split("\n");
  if (name === undefined || name === "") throw new Error(`${node.name} has no speaker`);
  return name;
}

/** Until every node that is to have a ready speaker has one. */
export async function waitForSpeakers(cluster: Cluster): Promise<void> {
  await kubectl(cluster, ["rollout", "status", SPEAKERS, "-n", SPEAKER_NAMESPACE, "--timeout=180s"]);
}

/** SIGKILL to the speaker's process alone; its kubelet starts the container again, with or without an API server. */
export function killSpeaker(cluster: Cluster, node: Host): void {
  process.kill(speakerProcess(cluster, node), "SIGKILL");
}

/** How many file descriptors the node's speaker has open. */
export function openFiles(cluster: Cluster, node: Host): number {
  return readdirSync(`/proc/${speakerProcess(cluster, node)}/fd`).length;
}

/** Memory of the node's speaker. */
export function residentBytes(cluster: Cluster, node: Host): number {
  return residentBytesOf(speakerProcess(cluster, node));
}

/** What the threads of the node's speaker hold when all garbage is collected: heaps, and array buffers beside them. */
export async function collectedHeapBytes(cluster: Cluster, node: Host): Promise<number> {
  const heaps = await collectedHeaps(node.namespace, speakerProcess(cluster, node));
  return heaps.reduce((sum, { usedBytes, bufferBytes }) => sum + usedBytes + bufferBytes, 0);
}

/** Ids on the machine; more than one is not as it should be. */
export function speakerProcesses(cluster: Cluster, node: Host): readonly number[] {
  return processesOf(cluster, node).filter((pid) => commandOf(pid).includes(SPEAKER_SCRIPT));
}

function speakerProcess(cluster: Cluster, node: Host): number {
  const [pid] = speakerProcesses(cluster, node);
  if (pid === undefined) throw new Error(`no speaker runs on ${node.name}`);
  return pid;
}
