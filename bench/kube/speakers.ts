/**
 * Speakers on a real API server that holds 10,000 Services (DESIGN §5): how long each thread of one of them was blocked, and its memory.
 * Prints, judges nothing. Needs root. `npm run bundle && node dist/bench/kube/speakers.js [SERVICES]`
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { formatTable } from "../../src/http/table.ts";
import { longestStepOfNothingMs } from "../speaker/thread-time.ts";
import { forEach, LargeCluster } from "./large-cluster.ts";

const HTTP_PORT = 17_472;
const METRICS_PORT = 9_121;
/** The wire thread is loaded after the listener that answers for health. */
const LOADED_MS = 200;
/** What follows from a deed may come late. */
const AFTERWARDS_MS = 3_000;
/** As long as a phase or two, for what the machine does to a thread comes now and then only. */
const NOTHING_MS = 20_000;
/** The probe's lines are so old at most. */
const LINE_MS = 150;

interface Turn {
  readonly thread: "main" | "wire";
  readonly atMs: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly garbageMs: number;
  readonly usedBytes: number;
  readonly heldBytes: number;
  readonly externalBytes: number;
}

interface Phase {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly load: number;
}

const services = Number(process.argv[2] ?? 10_000);
const folder = mkdtempSync(join(tmpdir(), "arpeggio-turns-"));
const turnsFile = join(folder, "turns");
const phases: Phase[] = [];

async function phase(name: string, deed: () => Promise<void>): Promise<void> {
  const [load = 0] = loadavg();
  const fromMs = Date.now();
  await deed();
  phases.push({ name, fromMs, toMs: Date.now(), load });
  process.stderr.write(`${name}\n`);
}

function rowsOf(turns: readonly Turn[]): readonly (readonly string[])[] {
  return phases.map(({ name, fromMs, toMs, load }) => {
    const cells = (["main", "wire"] as const).flatMap((thread) => {
      const own = turns.filter((turn) => turn.thread === thread && fromMs <= turn.atMs && turn.atMs <= toMs + LINE_MS);
      return (["wallMs", "cpuMs", "garbageMs"] as const).map((key) =>
        Math.max(0, ...own.map((turn) => turn[key])).toFixed(1),
      );
    });
    return [name, ((toMs - fromMs) / 1_000).toFixed(1), ...cells, load.toFixed(1)];
  });
}

function readTurns(): readonly Turn[] {
  const lines = readFileSync(turnsFile, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as Turn);
}

/** As each thread's heap was when it was told last. */
function heapsOf(turns: readonly Turn[]): string {
  const parts = (["main", "wire"] as const).flatMap((thread) => {
    const last = turns.findLast((turn) => turn.thread === thread);
    if (last === undefined) return [];
    const [used, held, external] = [last.usedBytes, last.heldBytes, last.externalBytes].map((bytes) =>
      (bytes / 1_024 / 1_024).toFixed(0),
    );
    return [`${thread} thread's heap ${used} of ${held} MiB, outside of it ${external}`];
  });
  return parts.join(", ");
}

function memoryOf(pid: number): string {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mebibytes = (key: string): string =>
    (Number(new RegExp(`^${key}:\\s*(\\d+) kB$`, "m").exec(status)?.[1]) / 1_024).toFixed(0);
  return `resident ${mebibytes("VmRSS")} MiB, anonymous ${mebibytes("RssAnon")} MiB, most ${mebibytes("VmHWM")} MiB`;
}

/** Processor time of the process so far, s. */
function processorSeconds(pid: number): string {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return ((Number(fields[11]) + Number(fields[12])) / 100).toFixed(1);
}

const nothingBeforeMs = longestStepOfNothingMs(NOTHING_MS);
const cluster = await LargeCluster.start(services);
try {
  const [measured, , last] = cluster.topology.nodes;
  if (measured === undefined || last === undefined) throw new Error("three nodes");
  const answers = (path: string): Promise<void> => cluster.untilAnswers(measured, HTTP_PORT, path);
  // While programs are loaded nothing is there that could be blocked.
  await phase("start: programs are loaded, all three", async () => {
    for (const node of cluster.topology.nodes) cluster.startSpeaker(node, node === measured ? turnsFile : undefined);
    await answers("/healthz");
    await sleep(LOADED_MS);
  });
  await phase("start: all is read, and decided", async () => {
    await answers("/readyz");
    await sleep(AFTERWARDS_MS);
  });
  const pid = cluster.pidOf(measured);
  process.stderr.write(`${memoryOf(pid)}\n${heapsOf(readTurns())}\n`);
  await phase("statuses are written", () => sleep(30_000));
  await phase("50 Services change, one by one", async () => {
    for (let number = 0; number < 50; number++) {
      await cluster.labelService(number, "new");
      await sleep(50);
    }
    await sleep(AFTERWARDS_MS);
  });
  await phase("50 Services get another address", async () => {
    for (let number = 0; number < 50; number++) {
      await cluster.assign(number, services + number);
      await sleep(50);
    }
    await sleep(AFTERWARDS_MS);
  });
  await phase("50 slices change, one by one", async () => {
    for (let number = 0; number < 50; number++) {
      await cluster.setReady(number, false);
      await sleep(50);
    }
    await sleep(AFTERWARDS_MS);
  });
  await phase("500 Services change together", async () => {
    await forEach(500, (number) => cluster.labelService(number, "newer"));
    await sleep(AFTERWARDS_MS);
  });
  await phase("another speaker is killed", async () => {
    await cluster.killSpeaker(last);
    await sleep(20_000);
  });
  await phase("it comes back", async () => {
    cluster.startSpeaker(last);
    await sleep(30_000);
  });
  await phase("/status is read 5 times", async () => {
    for (let time = 0; time < 5; time++) await cluster.read(measured, HTTP_PORT, "/status");
  });
  await phase("metrics are read 5 times", async () => {
    for (let time = 0; time < 5; time++) await cluster.read(measured, METRICS_PORT, "/metrics");
  });
  await phase("nothing", () => sleep(20_000));
  const heads = ["main ms", "cpu", "garbage", "wire ms", "cpu", "garbage"];
  process.stdout.write(formatTable(["LONGEST BLOCK WHILE", "s", ...heads, "load"], rowsOf(readTurns())));
  process.stdout.write(`${memoryOf(pid)}, ${processorSeconds(pid)} s of processor time\n${heapsOf(readTurns())}\n`);
  await cluster.stopSpeaker(measured);
} finally {
  await cluster.close();
  rmSync(folder, { recursive: true, force: true });
}
const nothingMs = [nothingBeforeMs, longestStepOfNothingMs(NOTHING_MS)].map((ms) => ms.toFixed(1));
process.stdout.write(
  `a loop that does nothing for ${NOTHING_MS / 1_000} s, before and after, longest step in processor time: ${nothingMs.join(" and ")} ms\n`,
);
