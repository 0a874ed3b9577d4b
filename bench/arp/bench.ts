/** Measures who answers ARP how fast (README.md): kernel, C responder and speaker in turn, round by round, in one run. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Netns, type NetnsProcess, netnsObstacle } from "../../test/support/netns.ts";
import { formatResult, median, type PeerResult, type Result, type WindowResult } from "./report.ts";

const ADDRESSES = ["192.0.2.10", "16"] as const;
const STRANGERS = ["192.0.2.100", "100"] as const;
const STRANGERS_PER_SECOND = 50_000;
const WINDOW_MS = 1_500;
const PER_CENT_OF_NS = 1e4;

const root = resolve(import.meta.dirname, "../../..");
const client = resolve(root, ".cache/bin/arp-client");
const responder = resolve(root, ".cache/bin/arp-responder");
const speaker = resolve(import.meta.dirname, "speaker.js");
const run = promisify(execFile);

/** Who answers at the far end of which link of the client. The kernel answers without a process. */
interface Place {
  readonly peer: string;
  readonly link: string;
  readonly process: NetnsProcess | undefined;
}

interface Sample {
  readonly quiet: WindowResult;
  readonly busy: WindowResult;
  readonly answersPerSecond: number;
}

const obstacle = netnsObstacle();
if (obstacle !== undefined) {
  process.stderr.write(`bench/arp: ${obstacle}\n`);
  process.exit(3);
}
const rounds = roundsAsked();
if (rounds === undefined) {
  process.stderr.write("bench/arp: --rounds takes a whole number above 0\n");
  process.exit(2);
}
const lab = new Netns();
const near = lab.create("client");
try {
  const result = await measure(rounds);
  process.stdout.write(process.argv.includes("--json") ? `${JSON.stringify(result)}\n` : formatResult(result));
} finally {
  await lab.close();
}

/** Undefined for what is no whole number above 0. */
function roundsAsked(): number | undefined {
  const at = process.argv.indexOf("--rounds");
  const count = at < 0 ? 3 : Number(process.argv[at + 1]);
  return Number.isInteger(count) && count > 0 ? count : undefined;
}

async function measure(count: number): Promise<Result> {
  const places = [
    place("kernel"),
    place("C", responder, "eth0", ...ADDRESSES),
    place("C, unfiltered", responder, "eth0", ...ADDRESSES, "unfiltered"),
    place("speaker", process.execPath, speaker, "eth0", ...ADDRESSES),
    place("speaker, unfiltered", process.execPath, speaker, "eth0", ...ADDRESSES, "heard", ...STRANGERS),
  ].map((each) => ({ place: each, samples: [] as Sample[] }));
  for (const { place: each } of places) await untilAnswering(each);
  // Machines drift, so the peers take turns instead of one being measured to the end before the next begins.
  for (let round = 1; round <= count; round++) {
    process.stderr.write(`round ${round} of ${count}\n`);
    for (const { place: each, samples } of places) {
      const quiet = await window(each);
      const busy = await window(each, strangers(each));
      const { perSecond } = await ask<{ perSecond: number }>("throughput", each, ADDRESSES, 64, 1);
      samples.push({ quiet, busy, answersPerSecond: perSecond });
    }
  }
  const peers = places.map(({ place: each, samples }) => summary(each.peer, samples));
  return { rounds: count, strangersPerSecond: STRANGERS_PER_SECOND, peers };
}

/** A namespace of its own for the peer, joined to the client by a link of its own. */
function place(peer: string, ...command: readonly string[]): Place {
  const name = peer.replaceAll(/[^a-z]/gi, "");
  const far = lab.create(name);
  const link = name.slice(0, 15);
  lab.veth({ namespace: near, link }, { namespace: far, link: "eth0", addresses: ["192.0.2.2/24"] });
  const [program, ...args] = command;
  if (program !== undefined) return { peer, link, process: lab.start(far, program, ...args) };
  const first = Number(ADDRESSES[0].split(".")[3]);
  for (let index = 0; index < Number(ADDRESSES[1]); index++) lab.address(far, "eth0", `192.0.2.${first + index}/24`);
  return { peer, link, process: undefined };
}

async function untilAnswering(each: Place): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const { lost } = await ask<WindowResult>("latency", each, ADDRESSES, 32, 0);
    if (lost === 0) return;
    await sleep(100);
  }
  throw new Error(`${each.peer} does not answer`);
}

/** Latency and CPU of one stretch of time, `meanwhile` something else may go on. */
async function window(each: Place, meanwhile: Promise<unknown> = Promise.resolve()): Promise<WindowResult> {
  const startMs = performance.now();
  const startNs = cpuNs(each);
  await sleep(WINDOW_MS / 10);
  const { p50Us, p99Us, lost } = await ask<WindowResult>("latency", each, ADDRESSES, 1_000, 500);
  await meanwhile;
  await sleep(Math.max(0, startMs + WINDOW_MS - performance.now()));
  const endNs = cpuNs(each);
  if (startNs === undefined || endNs === undefined) return { p50Us, p99Us, lost };
  return { p50Us, p99Us, lost, cpuPercent: (endNs - startNs) / (performance.now() - startMs) / PER_CENT_OF_NS };
}

function strangers(each: Place): Promise<unknown> {
  return ask("strangers", each, STRANGERS, STRANGERS_PER_SECOND, WINDOW_MS / 1_000);
}

/** Time on a processor of all the threads of the peer's process. */
function cpuNs({ process: answering }: Place): number | undefined {
  if (answering === undefined) return undefined;
  const tasks = `/proc/${answering.pid}/task`;
  const times = readdirSync(tasks).map((task) => readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0]);
  return times.reduce((sum, time) => sum + Number(time), 0);
}

async function ask<Answer>(
  mode: "latency" | "throughput" | "strangers",
  { link }: Place,
  [first, addresses]: readonly [string, string],
  amount: number,
  last: number,
): Promise<Answer> {
  const args = ["netns", "exec", near, client, mode, link, first, addresses, String(amount), String(last)];
  const { stdout } = await run("ip", args);
  return JSON.parse(stdout) as Answer;
}

function summary(peer: string, samples: readonly Sample[]): PeerResult {
  return {
    peer,
    answersPerSecond: median(samples.map((sample) => sample.answersPerSecond)),
    quiet: windowSummary(samples.map((sample) => sample.quiet)),
    busy: windowSummary(samples.map((sample) => sample.busy)),
  };
}

function windowSummary(windows: readonly WindowResult[]): WindowResult {
  const cpu = windows.flatMap(({ cpuPercent }) => (cpuPercent === undefined ? [] : [cpuPercent]));
  return {
    p50Us: median(windows.map(({ p50Us }) => p50Us)),
    p99Us: median(windows.map(({ p99Us }) => p99Us)),
    lost: windows.reduce((sum, { lost }) => sum + lost, 0),
    ...(cpu.length === 0 ? {} : { cpuPercent: median(cpu) }),
  };
}
