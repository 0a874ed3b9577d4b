/**
 * The drills kill, crash and freeze-2s of the lab, and in the same run a cluster of Go members in MetalLB's timing, killed and frozen at a
 * random phase. Prints both distributions and their ratio. Ours ends with the new leader's first answer on the wire; theirs with the last
 * survivor's notice, after which MetalLB would only begin to announce.
 */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { parseIp } from "../../src/net/ip.ts";
import { GoPeer, isBuilt, LIBRARIES } from "../../test/interop/go-peer.ts";

const LAB = "failover";
/** This file runs from dist/bench/failover. */
const LAB_COMMAND = resolve(import.meta.dirname, "../../../hack/lab");
const KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
/** `budget`: p50 and p99 in ms (DESIGN §5). */
const FAULTS = [
  { drill: "kill", what: "process killed", theirs: "kill", budget: [200, 500] },
  { drill: "crash", what: "host dead", theirs: "kill", budget: [500, 700] },
  { drill: "freeze-2s", what: "process frozen", theirs: "freeze", budget: [undefined, 1_200] },
] as const;

const { values } = parseArgs({
  options: { runs: { type: "string", default: "10" }, nodes: { type: "string", default: "3,5" } },
});
const runs = Number(values.runs);
const sizes = values.nodes.split(",").map(Number);

/** p-th percentile of the values, by the nearest rank. */
function percentile(sorted: readonly number[], p: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil((p / 100) * sorted.length) - 1)] ?? Number.NaN;
}

function sortedOf(list: readonly number[]): readonly number[] {
  return list.toSorted((a, b) => a - b);
}

async function linesOf(words: readonly string[]): Promise<readonly string[]> {
  const child = spawn(LAB_COMMAND, [...words, "--name", LAB], { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) lines.push(line);
  return lines;
}

/** Time to the new leader's first answer, one a run. */
async function ourTimes(drill: string, nodes: number): Promise<readonly number[]> {
  const lines = await linesOf(["drill", drill, "--runs", String(runs), "--nodes", String(nodes), "--json"]);
  return lines.flatMap((line) => {
    const { firstReplyMs } = JSON.parse(line) as { readonly firstReplyMs?: number };
    return typeof firstReplyMs === "number" ? [firstReplyMs] : [];
  });
}

/** Time to the last survivor's notice. */
async function theirTime(program: string, fault: "kill" | "freeze", nodes: number): Promise<number> {
  const peers: GoPeer[] = [];
  for (let index = 0; index < nodes; index++) {
    const ip = parseIp(`127.0.73.${index + 1}`);
    if (ip === undefined) throw new Error("no address");
    peers.push(await GoPeer.start(program, { name: `g${index}`, ip, key: KEY, isLan: true }));
  }
  const [victim, ...survivors] = peers;
  if (victim === undefined) throw new Error("a cluster of nobody");
  for (const peer of survivors) await peer.join(victim.endpoint);
  await sleep(1_500 + Math.random() * 1_000);
  const beganMs = performance.now();
  if (fault === "kill") await victim.kill();
  else victim.freeze();
  await Promise.all(
    survivors.map((peer) => peer.events.until("leave", ({ event, name }) => event === "leave" && name === victim.name)),
  );
  const tookMs = performance.now() - beganMs;
  await Promise.all(peers.map((peer) => peer.kill()));
  return tookMs;
}

function describe(times: readonly number[]): string {
  return [times[0], percentile(times, 50), percentile(times, 99)]
    .map((ms) => (ms ?? Number.NaN).toFixed(0))
    .join(" / ");
}

const [{ name: library, program }] = LIBRARIES;
if (!isBuilt(program)) throw new Error("the Go peers are not built: bench/failover/run");
process.stdout.write(
  `first answer of the new leader beside detection by ${library} in MetalLB's timing; ms, least / p50 / p99\n`,
);
for (const nodes of sizes) {
  await linesOf(["down"]);
  for (const { drill, what, theirs, budget } of FAULTS) {
    const [ours, go] = [sortedOf(await ourTimes(drill, nodes)), [] as number[]];
    for (let run = 0; run < Math.max(3, Math.ceil(runs / 3)); run++) go.push(await theirTime(program, theirs, nodes));
    const others = sortedOf(go);
    const ratio = percentile(others, 50) / percentile(ours, 50);
    const within = budget.every((most, index) => most === undefined || percentile(ours, index === 0 ? 50 : 99) <= most);
    process.stdout.write(
      `${nodes} nodes, ${what}: ${describe(ours)} (${ours.length} runs, ${within ? "within" : "OVER"} the budget of ${budget.map((most) => most ?? "-").join(" / ")}); Go: ${describe(others)} (${others.length} runs); ratio of p50 ${ratio.toFixed(1)}\n`,
    );
  }
}
await linesOf(["down"]);
