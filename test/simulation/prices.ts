/** `hack/simulate --prices`: what a lower and a higher value of each number of fast detection does, as a Markdown table. */
import type { LeaderFault } from "./check-failover.ts";
import { type HoursPlan, type HoursResult, quantile, runHours } from "./hours.ts";
import { SPEAKER_TIMING, type SpeakerTiming } from "./other-timing.ts";

interface Priced {
  readonly name: keyof SpeakerTiming;
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

interface Row {
  readonly label: string;
  readonly nodes: number;
  readonly timing: Partial<SpeakerTiming>;
}

export function rowsOf(priced: readonly Priced[]): readonly Row[] {
  const sizes = new Set(priced.map(({ nodes }) => nodes ?? USUAL_NODES));
  return [...sizes].flatMap((nodes) => [
    { label: "as they are", nodes, timing: {} },
    ...priced
      .filter((one) => (one.nodes ?? USUAL_NODES) === nodes)
      .flatMap(({ name, values }) =>
        values.map((value) => ({
          label: `\`${name}\` ${value}, not ${SPEAKER_TIMING[name]}`,
          nodes,
          timing: { [name]: value },
        })),
      ),
  ]);
}

/**
 * Tells the table line by line, in its order, as soon as all that stands before is known. Each value is run as every plan says, in as
 * many nodes as it wants; leaders are struck down in runs of the first alone.
 */
export async function runPrices(
  plans: readonly HoursPlan[],
  print: (line: string) => void,
  priced: readonly Priced[] = PRICED,
): Promise<void> {
  const rows = rowsOf(priced);
  const results = rows.map((): HoursResult[] => []);
  let told = 0;
  for (const line of headOf(plans)) print(line);
  const all = rows.flatMap(({ nodes, timing }) =>
    plans.map((plan, which) => ({ ...plan, nodes, timing, strikes: which === 0 ? plan.strikes : 0 })),
  );
  await runHours(all, (result, index) => {
    const ofRow = results[Math.floor(index / plans.length)];
    if (ofRow !== undefined) ofRow[index % plans.length] = result;
    for (let row = rows[told]; row !== undefined; row = rows[++told]) {
      const known = Object.values(results[told] ?? []);
      if (known.length < plans.length) return;
      print(lineOf(row, known));
    }
  });
}

const FAULTS: readonly LeaderFault[] = ["process kill", "host kill", "freeze"];

function headOf(plans: readonly HoursPlan[]): readonly string[] {
  const stalls = plans.map(({ stallMs }) => (stallMs === 0 ? "none" : stallMs)).join(" / ");
  const columns = [
    "nodes",
    `value (stalls: ${stalls})`,
    "declared dead who lived",
    "moves",
    "suspected in 100 h of leaders",
    "killed: p50 / p99",
    "host dead",
    "frozen",
    "datagrams/s",
    "mute ms/h",
  ];
  return [columns, columns.map(() => "---")].map(formatLine);
}

/** A row of a Markdown table. */
export function formatLine(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** `results`: one of each plan. */
function lineOf({ label, nodes }: Row, results: readonly HoursResult[]): string {
  const each = (figure: (result: HoursResult) => number, digits = 0): string =>
    results.map((result) => (result.nodeHours === 0 ? "-" : figure(result).toFixed(digits))).join(" / ");
  return formatLine([
    String(nodes),
    label,
    each(({ falseVerdicts }) => falseVerdicts.length),
    each(({ moves }) => moves),
    each(({ accused, leaderHours }) => (100 * accused) / leaderHours),
    ...FAULTS.map((fault) => noticedOf(results, fault)),
    each(({ datagrams, nodeHours }) => datagrams / nodeHours / 3_600, 1),
    each(({ muteMs, nodeHours }) => muteMs / nodeHours),
  ]);
}

/** ms, p50 / p99, and how many nobody noticed in time. */
function noticedOf(results: readonly HoursResult[], fault: LeaderFault): string {
  const taken = results.flatMap(({ takeovers }) => takeovers).filter((one) => one.fault === fault);
  const values = taken.map(({ noticedMs }) => noticedMs);
  const late = results.flatMap(({ missed }) => missed).filter((one) => one === fault).length;
  if (values.length + late === 0) return "-";
  const figures = [50, 99].map((p) => quantile(values, p).toFixed(0)).join(" / ");
  return late === 0 ? figures : `${figures}, ${late} missed`;
}
