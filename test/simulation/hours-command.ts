/** The options of `hack/simulate --hours`. */
import { FAST_TIMING, type FastTiming } from "../../src/gossip/fast/fast-timing.ts";
import { describeHours, type HoursPlan, runHours } from "./hours.ts";

export interface HoursOptions {
  readonly hours: string;
  readonly loss: string;
  readonly "stall-ms": string;
  readonly nodes: string;
  readonly strikes: string;
  readonly set: readonly string[];
  readonly seed?: string | undefined;
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
    const result = await runHours(plan);
    verdicts += result.falseVerdicts.length;
    process.stdout.write(describeHours(plan, result));
    process.stdout.write(`  ${((performance.now() - beganMs) / 1_000).toFixed(0)} s\n\n`);
  }
  return verdicts === 0 ? 0 : 1;
}

/** Or what is wrong with them. */
export function plansOf(options: HoursOptions): readonly HoursPlan[] | string {
  const [hours, loss, stallMs, strikes, seed] = [
    options.hours,
    options.loss,
    options["stall-ms"],
    options.strikes,
    options.seed ?? "1",
  ].map(Number);
  const sizes = options.nodes.split(",").map(Number);
  const figures = [hours, loss, stallMs, strikes, seed, ...sizes];
  if (figures.some((figure) => figure === undefined || !Number.isFinite(figure) || figure < 0)) return "not a number";
  if ((loss ?? 0) > 100 || (stallMs ?? 0) > 30_000 || sizes.some((size) => size < 2 || size > 100)) {
    return "--loss is a percentage, --stall-ms 30000 at most, --nodes from 2 to 100";
  }
  const timing = timingOf(options.set);
  if (typeof timing === "string") return timing;
  const shared = { hours: hours ?? 0, loss: (loss ?? 0) / 100, stallMs: stallMs ?? 0, strikes: strikes ?? 0 };
  return sizes.map((nodes) => ({ ...shared, nodes, seed: seed ?? 1, timing }));
}

function timingOf(settings: readonly string[]): Partial<FastTiming> | string {
  const timing: Record<string, number> = {};
  for (const setting of settings) {
    const [name = "", value = ""] = setting.split("=");
    const figure = Number(value);
    if (!(name in FAST_TIMING) || value === "" || !Number.isFinite(figure) || figure < 0) {
      return `--set ${setting}: NAME=VALUE, of ${Object.keys(FAST_TIMING).join(", ")}`;
    }
    timing[name] = figure;
  }
  return timing;
}
