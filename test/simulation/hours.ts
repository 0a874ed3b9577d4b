/** `hack/simulate --hours`: long runs on all cores, first without a fault of anybody, then with leaders that die, and what they gave. */
import { compareText } from "../../src/desired/text-order.ts";
import type { LeaderFault } from "./check-failover.ts";
import { type FalseVerdict, LongRun, type LongRunPlan, type LongRunTally } from "./long-run.ts";
import type { SpeakerTiming } from "./other-timing.ts";
import { runPool, serveJobs } from "./pool.ts";

export interface HoursPlan {
  readonly nodes: number;
  readonly hours: number;
  readonly loss: number;
  readonly stallMs: number;
  readonly seed: number;
  /** Leaders that die, hang or lose their host, over all. */
  readonly strikes: number;
  readonly timing: Partial<SpeakerTiming>;
}

export interface LeaderTally {
  readonly name: string;
  readonly hours: number;
  /** How often it was declared dead while it lived. */
  readonly falseVerdicts: number;
}

export interface HoursResult {
  /** Everybody who led something, in runs with strikes, too. */
  readonly leaders: readonly LeaderTally[];
  readonly falseVerdicts: readonly string[];
  /** Hours × nodes of the runs without strikes; what follows is counted in those alone. */
  readonly nodeHours: number;
  /** The same × nodes that led something. */
  readonly leaderHours: number;
  readonly moves: number;
  readonly accused: number;
  readonly datagrams: number;
  readonly muteMs: number;
  readonly takeovers: LongRunTally["takeovers"];
  readonly missed: LongRunTally["missed"];
}

interface Job {
  /** Index of the plan that it is a part of. */
  readonly of: number;
  readonly part: LongRunPlan;
}

interface Part extends Job {
  readonly tally: LongRunTally;
}

/** Simulated hours of one job: short enough that no core waits long for the other at the end. */
const PART_HOURS = 5;
const STRIKES_PER_HOUR = 80;

/** All plans at once, so that every core has work until the last; `done` is called as each is complete, in no order. */
export async function runHours(
  plans: readonly HoursPlan[],
  done: (result: HoursResult, index: number) => void,
): Promise<void> {
  const jobs = plans.flatMap((plan, of) => partsOf(plan).map((part): Job => ({ of, part })));
  const left = plans.map((_, index) => jobs.filter(({ of }) => of === index).length);
  const parts: Part[] = [];
  await runPool(new URL(import.meta.url), jobs, (given) => {
    const part = given as Part;
    parts.push(part);
    left[part.of] = (left[part.of] ?? 0) - 1;
    if (left[part.of] === 0) done(sumOf(parts.filter(({ of }) => of === part.of)), part.of);
  });
}

function sumOf(unordered: readonly Part[]): HoursResult {
  const parts = unordered.toSorted((a, b) => a.part.seed - b.part.seed);
  const calm = parts.filter(({ part }) => !part.strikes);
  const total = (figure: (one: Part) => number): number => calm.reduce((sum, one) => sum + figure(one), 0);
  return {
    leaders: leadersOf(parts),
    falseVerdicts: parts.flatMap(({ part, tally }) => tally.falseVerdicts.map((verdict) => describe(verdict, part))),
    nodeHours: total(({ part }) => part.nodes * part.hours),
    leaderHours: total(({ tally }) => sumOfValues(tally.leaderHours)),
    moves: total(({ tally }) => tally.moves),
    accused: total(({ tally }) => tally.accused),
    datagrams: total(({ tally }) => tally.datagrams),
    muteMs: total(({ tally }) => tally.muteMs),
    takeovers: parts.flatMap(({ tally }) => tally.takeovers),
    missed: parts.flatMap(({ tally }) => tally.missed),
  };
}

function sumOfValues(hours: ReadonlyMap<string, number>): number {
  return [...hours.values()].reduce((sum, each) => sum + each, 0);
}

function leadersOf(parts: readonly Part[]): readonly LeaderTally[] {
  const names = new Set(parts.flatMap(({ tally }) => [...tally.leaderHours.keys()]));
  return [...names].toSorted(compareText).map((name) => ({
    name,
    hours: parts.reduce((sum, { tally }) => sum + (tally.leaderHours.get(name) ?? 0), 0),
    falseVerdicts: parts.flatMap(({ tally }) => tally.falseVerdicts).filter(({ accused }) => accused === name).length,
  }));
}

function describe({ atMs, accused, by }: FalseVerdict, { seed, strikes }: LongRunPlan): string {
  return `${by} declares ${accused} dead at ${(atMs / 1_000).toFixed(3)} s of seed ${seed}${strikes ? ", between strikes" : ""}`;
}

function partsOf({ nodes, hours, loss, stallMs, seed, strikes, timing }: HoursPlan): readonly LongRunPlan[] {
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

const SECONDS_PER_HOUR = 3_600;

/** Rows of the histogram end with these, in ms. */
const BINS_MS = [100, 150, 200, 300, 400, 500, 600, 700, 800, 1_000, 1_200, 1_500, 3_000, 8_000];

export function describeHours(plan: HoursPlan, result: HoursResult): string {
  const { leaders, falseVerdicts, moves, accused, nodeHours, datagrams, muteMs } = result;
  const stalls = plan.stallMs === 0 ? "no stalls" : `stalls of ${plan.stallMs} ms each minute on every node`;
  const leaderHours = leaders.reduce((sum, { hours }) => sum + hours, 0);
  const perHour = leaderHours === 0 ? 0 : (falseVerdicts.length * 100) / leaderHours;
  return [
    `${plan.nodes} nodes, ${plan.hours} h, ${plan.loss * 100} % loss on every hop, ${stalls}, seed ${plan.seed}`,
    `  false verdicts  ${falseVerdicts.length} in ${leaderHours.toFixed(1)} leader hours (${perHour.toFixed(2)} in 100)`,
    ...leaders.map(
      ({ name, hours, falseVerdicts: about }) => `    ${name}  ${about} in ${hours.toFixed(1)} hours as a leader`,
    ),
    ...falseVerdicts.map((text) => `    ${text}`),
    ...(nodeHours === 0
      ? []
      : [
          `  moves           ${moves}`,
          `  suspected       ${accused} incarnations, by fast detection or memberlist's own`,
          `  datagrams       ${(datagrams / nodeHours / SECONDS_PER_HOUR).toFixed(1)} a second from each node`,
          `  mute            ${(muteMs / nodeHours).toFixed(1)} ms an hour on each node`,
        ]),
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

/** By the nearest rank; not a number without values. */
export function quantile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)] ?? Number.NaN;
}

serveJobs((job: Job): Part => ({ ...job, tally: new LongRun(job.part).run() }));
