/** `hack/simulate --prices`: what a lower and a higher value of each number of fast detection does, as a Markdown table. */
import type { LeaderFault } from "./check-failover.ts";
import { type HoursPlan, type HoursResult, quantile, runHours } from "./hours.ts";
import { LONG_RUN_TIMING, type LongRunTiming } from "./long-run.ts";

interface Priced {
  readonly name: keyof LongRunTiming;
  /** One lower and one higher, where that means something. */
  readonly values: readonly [number, number];
  /** Where it means something; absent: three. */
  readonly nodes?: number;
}

export const PRICED: readonly Priced[] = [
  { name: "pingIntervalMs", values: [50, 200] },
  { name: "escalationMs", values: [25, 90] },
  { name: "accuseMs", values: [350, 600] },
  { name: "hungMs", values: [700, 1_300] },
  { name: "hostFreshMs", values: [200, 500] },
  { name: "stretchFactor", values: [1, 3] },
  { name: "mostStretchMs", values: [1_500, 6_000] },
  { name: "deafMs", values: [150, 350] },
  { name: "lateMs", values: [50, 250] },
  { name: "accusationSayings", values: [2, 10] },
  { name: "accusationIntervalMs", values: [10, 50] },
  { name: "accusedForMs", values: [1_000, 10_000] },
  { name: "unwatchedAskMs", values: [250, 450] },
  { name: "unwatchedMs", values: [400, 1_000] },
  { name: "gapMs", values: [125, 500] },
  { name: "aloneMs", values: [150, 600] },
  // Nobody is lone where a third could accuse.
  { name: "loneMs", values: [450, 1_000], nodes: 2 },
  { name: "loneRefusals", values: [1, 3], nodes: 2 },
  { name: "refusalIntervalMs", values: [25, 100], nodes: 2 },
  // Three nodes have no more than two watchers for a leader, and one helper; five have four and three.
  { name: "watchers", values: [2, 4], nodes: 5 },
  { name: "helpers", values: [1, 2], nodes: 5 },
];

const USUAL_NODES = 3;
/** Each minute, on every node: such a stall is usual, and such a one is rare. */
const STALLS_MS = [300, 800] as const;

interface Row {
  readonly label: string;
  readonly nodes: number;
  readonly timing: Partial<LongRunTiming>;
}

export function rowsOf(priced: readonly Priced[]): readonly Row[] {
  const sizes = new Set(priced.map(({ nodes }) => nodes ?? USUAL_NODES));
  return [...sizes].flatMap((nodes) => [
    { label: "as they are", nodes, timing: {} },
    ...priced
      .filter((one) => (one.nodes ?? USUAL_NODES) === nodes)
      .flatMap(({ name, values }) =>
        values.map((value) => ({
          label: `\`${name}\` ${value}, not ${LONG_RUN_TIMING[name]}`,
          nodes,
          timing: { [name]: value },
        })),
      ),
  ]);
}

export type PricesPlan = Pick<HoursPlan, "hours" | "loss" | "strikes" | "seed">;

/** Tells the table line by line, in its order, as soon as all that stands before is known. */
export async function runPrices(
  plan: PricesPlan,
  print: (line: string) => void,
  priced: readonly Priced[] = PRICED,
): Promise<void> {
  const rows = rowsOf(priced);
  const plans = rows.flatMap(({ nodes, timing }) =>
    STALLS_MS.map((stallMs, which) => ({
      ...plan,
      nodes,
      timing,
      stallMs,
      strikes: which === 0 ? plan.strikes : 0,
    })),
  );
  const results: HoursResult[] = [];
  let told = 0;
  for (const line of HEAD) print(line);
  await runHours(plans, (result, index) => {
    results[index] = result;
    for (let row = rows[told]; row !== undefined; row = rows[++told]) {
      const [usual, rare] = [results[2 * told], results[2 * told + 1]];
      if (usual === undefined || rare === undefined) return;
      print(lineOf(row, usual, rare));
    }
  });
}

const FAULTS: readonly LeaderFault[] = ["process kill", "host kill", "freeze"];

const HEAD: readonly string[] = [
  "| nodes | number, value | declared dead who lived | moves | suspected in 100 h of leaders | killed | host dead | frozen | datagrams/s | mute ms/h |",
  "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
];

function lineOf({ label, nodes }: Row, usual: HoursResult, rare: HoursResult): string {
  const both = (figure: (result: HoursResult) => number): string =>
    [usual, rare].map((result) => figure(result).toFixed(0)).join(" / ");
  const cells = [
    nodes.toFixed(0),
    label,
    both(({ falseVerdicts }) => falseVerdicts.length),
    both(({ moves }) => moves),
    both(({ accused, leaderHours }) => (100 * accused) / leaderHours),
    ...FAULTS.map((fault) => noticedOf(usual, fault)),
    (usual.datagrams / usual.nodeHours / 3_600).toFixed(1),
    both(({ muteMs, nodeHours }) => muteMs / nodeHours),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** ms, p50 / p99, and how many nobody noticed in time. */
function noticedOf({ takeovers, missed }: HoursResult, fault: LeaderFault): string {
  const values = takeovers.filter((one) => one.fault === fault).map(({ noticedMs }) => noticedMs);
  const late = missed.filter((one) => one === fault).length;
  const figures = [50, 99].map((p) => quantile(values, p).toFixed(0)).join(" / ");
  return late === 0 ? figures : `${figures}, ${late} missed`;
}
