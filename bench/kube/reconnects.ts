/**
 * Do speakers grow with reconnects? Three of them on a real API server, all of whose connections are reset several times a second. All garbage
 * of the first is collected now and then, to see what is left; the others are watched from outside alone.
 * Prints, judges nothing. Needs root. `npm run bundle && node dist/bench/kube/reconnects.js [RECONNECTS] [SERVICES]`
 */
import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { StatusDocument } from "../../api/status.ts";
import { collectedHeaps, residentBytesOf } from "../../hack/netlab/heap.ts";
import type { Host } from "../../hack/netlab/topology.ts";
import { formatTable } from "../../src/http/table.ts";
import { LargeCluster } from "./large-cluster.ts";

const HTTP_PORT = 17_472;
/** After the start, before the first row. */
const SETTLED_MS = 20_000;
/** What was broken is whole again, and its garbage collected. */
const AFTERWARDS_MS = 30_000;
const CUT_INTERVAL_MS = 200;
/** Between two looks at how far it is. */
const CUTS_AT_ONCE = 50;
const ROWS = 20;

const reconnects = Number(process.argv[2] ?? 10_000);
const services = Number(process.argv[3] ?? 10);
const cluster = await LargeCluster.start(services);
const beganMs = performance.now();
const rows: (readonly string[])[] = [];

async function readStatus(node: Host): Promise<StatusDocument> {
  const read = () => cluster.read(node, HTTP_PORT, "/status", "application/json");
  // On a busy machine a wire thread may have no answer in time.
  return JSON.parse(await read().catch(read)) as StatusDocument;
}

async function reconnectsOf(node: Host): Promise<number> {
  const { sources } = await readStatus(node);
  return sources.flatMap(({ watches = [] }) => watches).reduce((sum, watch) => sum + watch.reconnects, 0);
}

function mebibytes(bytes: number, digits = 0): string {
  return (bytes / 1_024 / 1_024).toFixed(digits);
}

function residentOf(node: Host): string {
  return mebibytes(residentBytesOf(cluster.pidOf(node)));
}

/** Heap and buffers of each thread. */
async function held(node: Host): Promise<readonly string[]> {
  const heaps = await collectedHeaps(node.namespace, cluster.pidOf(node));
  return heaps.flatMap(({ usedBytes, bufferBytes }) => [mebibytes(usedBytes, 2), mebibytes(bufferBytes, 2)]);
}

async function row(measured: Host): Promise<void> {
  const done = await reconnectsOf(measured);
  const resident = cluster.topology.nodes.map(residentOf);
  const files = readdirSync(`/proc/${cluster.pidOf(measured)}/fd`).length;
  const seconds = ((performance.now() - beganMs) / 1_000).toFixed(0);
  rows.push([String(done), seconds, ...(await held(measured)), String(files), ...resident]);
  process.stderr.write(`${rows.at(-1)?.join(" ")}\n`);
}

try {
  const { nodes } = cluster.topology;
  const [measured] = nodes;
  if (measured === undefined) throw new Error("three nodes");
  for (const node of nodes) cluster.startSpeaker(node);
  for (const node of nodes) await cluster.untilAnswers(node, HTTP_PORT, "/readyz");
  await sleep(SETTLED_MS);
  await row(measured);
  for (let done = 0, told = 0; done < reconnects; done = await reconnectsOf(measured)) {
    for (let cut = 0; cut < CUTS_AT_ONCE; cut++) {
      await Promise.all(nodes.map((node) => cluster.cutApiConnections(node)));
      await sleep(CUT_INTERVAL_MS);
    }
    if (done - told < reconnects / ROWS) continue;
    told = done;
    await row(measured);
  }
  await row(measured);
  await sleep(AFTERWARDS_MS);
  await row(measured);
  const heads = ["RECONNECTS", "s", "main heap", "buffers", "wire heap", "buffers", "files", "resident", "n2", "n3"];
  process.stdout.write(formatTable(heads, rows));
  const others = nodes.filter((node) => node !== measured);
  const ends: (readonly string[])[] = [];
  for (const node of others) ends.push([node.name, ...(await held(node)), residentOf(node)]);
  process.stdout.write(formatTable(["COLLECTED ONCE", ...heads.slice(2, 6), "resident"], ends));
} finally {
  await cluster.close();
}
