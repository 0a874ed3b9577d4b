/** The options of `hack/simulate --hours`, and of `--prices`. */
import { describeHours, type HoursPlan, runHours } from "./hours.ts";
import { SPEAKER_TIMING, type SpeakerTiming } from "./other-timing.ts";
import { runPrices } from "./prices.ts";
import { runTroublePrices } from "./trouble-prices.ts";

export interface HoursOptions {
  readonly hours: string;
  readonly loss: string;
  readonly "stall-ms": string;
  readonly nodes: string;
  readonly strikes: string;
  readonly set: readonly string[];
  readonly seed?: string | undefined;
  /** Of prices: how often each trouble is run through, in place of hours of loss. */
  readonly troubles?: string | undefined;
}

/** Exit code: 0, 1 when somebody who lives was declared dead, 2 for options that mean nothing. */
export async function simulateHours(options: HoursOptions): Promise<number> {
  const plans = plansOf(options);
  if (typeof plans === "string") {
    process.stderr.write(`${plans}\n`);
    return 2;
  }
  let verdicts = 0;
  for (const plan of plans) {
    const beganMs = performance.now();
    await runHours([plan], (result) => {
      verdicts += result.falseVerdicts.length;
      process.stdout.write(describeHours(plan, result));
    });
    process.stdout.write(`  ${secondsSince(beganMs)} s\n\n`);
  }
  return verdicts === 0 ? 0 : 1;
}

/** Exit code: 0, 2 for options that mean nothing. */
export async function simulatePrices(options: HoursOptions): Promise<number> {
  const plans = plansOf({ ...options, nodes: "3" });
  if (typeof plans === "string") {
    process.stderr.write(`${plans}\n`);
    return 2;
  }
  const runs = options.troubles === undefined ? undefined : Number(options.troubles);
  if (runs !== undefined && !(Number.isInteger(runs) && runs > 0)) {
    process.stderr.write("--troubles: a number of runs\n");
    return 2;
  }
  const beganMs = performance.now();
  if (runs === undefined) await runPrices(plans, print);
  else await runTroublePrices(runs, plans[0]?.seed ?? 1, print);
  process.stdout.write(`\n${secondsSince(beganMs)} s\n`);
  return 0;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function secondsSince(beganMs: number): string {
  return ((performance.now() - beganMs) / 1_000).toFixed(0);
}

/** Or what is wrong with them. */
export function plansOf(options: HoursOptions): readonly HoursPlan[] | string {
  const [hours, loss, strikes, seed] = [options.hours, options.loss, options.strikes, options.seed ?? "1"].map(Number);
  const [stalls, sizes] = [options["stall-ms"], options.nodes].map((list) => list.split(",").map(Number));
  if (stalls === undefined || sizes === undefined) return "not a number";
  const figures = [hours, loss, strikes, seed, ...stalls, ...sizes];
  if (figures.some((figure) => figure === undefined || !Number.isFinite(figure) || figure < 0)) return "not a number";
  if ((loss ?? 0) > 100 || stalls.some((stallMs) => stallMs > 30_000) || sizes.some((size) => size < 2 || size > 100)) {
    return "--loss is a percentage, --stall-ms 30000 at most, --nodes from 2 to 100";
  }
  const timing = timingOf(options.set);
  if (typeof timing === "string") return timing;
  const shared = { hours: hours ?? 0, loss: (loss ?? 0) / 100, strikes: strikes ?? 0, seed: seed ?? 1, timing };
  return stalls.flatMap((stallMs) => sizes.map((nodes) => ({ ...shared, stallMs, nodes })));
}

function timingOf(settings: readonly string[]): Partial<SpeakerTiming> | string {
  const timing: Record<string, number> = {};
  for (const setting of settings) {
    const [name = "", value = ""] = setting.split("=");
    const figure = Number(value);
    if (!(name in SPEAKER_TIMING) || value === "" || !Number.isFinite(figure) || figure < 0) {
      return `--set ${setting}: NAME=VALUE, of ${Object.keys(SPEAKER_TIMING).join(", ")}`;
    }
    timing[name] = figure;
  }
  return timing;
}
