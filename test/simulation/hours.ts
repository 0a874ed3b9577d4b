/** `hack/simulate --hours`: long runs on all cores, first without a fault of anybody, then with leaders that die, and what they gave. */
import type { FastTiming } from "../../src/gossip/fast/fast-timing.ts";
import type { LeaderFault } from "./check-failover.ts";
import { LongRun, type LongRunPlan, type LongRunTally } from "./long-run.ts";
import { runPool, serveJobs } from "./pool.ts";

export interface HoursPlan {
  readonly nodes: number;
  readonly hours: number;
  readonly loss: number;
  readonly stallMs: number;
  readonly seed: number;
  /** Leaders that die, hang or lose their host, over all. */
  readonly strikes: number;
  readonly timing: Partial<FastTiming>;
}

export interface HoursResult {
  readonly leaderHours: number;
  readonly falseVerdicts: readonly string[];
  readonly moves: number;
  readonly accused: number;
  readonly takeovers: LongRunTally["takeovers"];
  readonly missed: LongRunTally["missed"];
}

interface Part {
  readonly plan: LongRunPlan;
  readonly tally: LongRunTally;
}

/** Simulated hours of one job: short enough that no core waits long for the other at the end. */
const PART_HOURS = 5;
const STRIKES_PER_HOUR = 80;

export async function runHours(plan: HoursPlan): Promise<HoursResult> {
  const parts: Part[] = [];
  await runPool(new URL(import.meta.url), jobsOf(plan), (part) => parts.push(part as Part));
  parts.sort((a, b) => a.plan.seed - b.plan.seed);
  const calm = parts.filter((part) => !part.plan.strikes);
  const struck = parts.filter((part) => part.plan.strikes);
  return {
    leaderHours: calm.reduce((sum, { tally }) => sum + tally.leaderHours, 0),
    falseVerdicts: parts.flatMap(({ plan: { seed, strikes }, tally }) =>
      tally.falseVerdicts.map(
        ({ atMs, accused, by }) =>
          `${by} declares ${accused} dead at ${(atMs / 1_000).toFixed(3)} s of seed ${seed}${strikes ? ", between strikes" : ""}`,
      ),
    ),
    moves: calm.reduce((sum, { tally }) => sum + tally.moves, 0),
    accused: calm.reduce((sum, { tally }) => sum + tally.accused, 0),
    takeovers: struck.flatMap(({ tally }) => tally.takeovers),
    missed: struck.flatMap(({ tally }) => tally.missed),
  };
}

function jobsOf({ nodes, hours, loss, stallMs, seed, strikes, timing }: HoursPlan): readonly LongRunPlan[] {
  const shared = { nodes, loss, stallMs, timing };
  const split = (total: number, from: number, isStruck: boolean): readonly LongRunPlan[] =>
    Array.from({ length: Math.ceil(total / PART_HOURS) }, (_, part) => ({
      ...shared,
      hours: Math.min(PART_HOURS, total - part * PART_HOURS),
      seed: from + part,
      strikes: isStruck,
    }));
  return [...split(strikes / STRIKES_PER_HOUR, seed + 1_000_000, true), ...split(hours, seed, false)];
}

/** Rows of the histogram end with these, in ms. */
const BINS_MS = [100, 150, 200, 300, 400, 500, 600, 700, 800, 1_000, 1_200, 1_500, 3_000, 8_000];

export function describeHours(plan: HoursPlan, result: HoursResult): string {
  const { leaderHours, falseVerdicts, moves, accused } = result;
  const stalls = plan.stallMs === 0 ? "no stalls" : `stalls of ${plan.stallMs} ms each minute on every node`;
  const perHour = leaderHours === 0 ? 0 : (falseVerdicts.length * 100) / leaderHours;
  return [
    `${plan.nodes} nodes, ${plan.hours} h, ${plan.loss * 100} % loss on every hop, ${stalls}, seed ${plan.seed}`,
    `  false verdicts  ${falseVerdicts.length} in ${leaderHours.toFixed(1)} leader hours (${perHour.toFixed(2)} in 100)`,
    ...falseVerdicts.map((text) => `    ${text}`),
    `  moves           ${moves}`,
    `  suspected       ${accused} incarnations, by fast detection or memberlist's own`,
    ...(plan.strikes === 0 ? [] : describeTakeovers(result)),
    "",
  ].join("\n");
}

function row(name: string, cells: readonly string[]): string {
  return `  ${name.padEnd(16)}${cells.map((cell) => cell.padStart(14)).join("")}`;
}

function describeTakeovers({ takeovers, missed }: HoursResult): readonly string[] {
  const faults = [...new Set(takeovers.map(({ fault }) => fault))];
  const columns = faults.map((fault) => takeovers.filter((one) => one.fault === fault));
  const figure = (of: "noticedMs" | "takenMs", p: number): readonly string[] =>
    columns.map((column) =>
      quantile(
        column.map((one) => one[of]),
        p,
      ).toFixed(0),
    );
  const bins = BINS_MS.map((mostMs, index) => {
    const leastMs = BINS_MS[index - 1] ?? 0;
    const counts = columns.map(
      (column) => column.filter(({ noticedMs }) => noticedMs > leastMs && noticedMs <= mostMs).length,
    );
    return { name: `${leastMs}-${mostMs}`, counts };
  });
  const missedOf = (fault: LeaderFault): number => missed.filter((one) => one === fault).length;
  return [
    row("ms", faults),
    row("noticed p50", figure("noticedMs", 50)),
    row("        p99", figure("noticedMs", 99)),
    row("        max", figure("noticedMs", 100)),
    row("taken   p50", figure("takenMs", 50)),
    row("        p99", figure("takenMs", 99)),
    row("        max", figure("takenMs", 100)),
    ...bins
      .filter(({ counts }) => counts.some((count) => count > 0))
      .map(({ name, counts }) => row(name, counts.map(String))),
    row(
      "not noticed",
      faults.map((fault) => String(missedOf(fault))),
    ),
  ];
}

/** By the nearest rank. */
function quantile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)] ?? Number.NaN;
}

serveJobs((plan: LongRunPlan): Part => ({ plan, tally: new LongRun(plan).run() }));
