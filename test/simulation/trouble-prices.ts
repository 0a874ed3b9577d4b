/** `hack/simulate --prices --troubles N`: what other numbers for who was in trouble, and for the brake, do to addresses, as a Markdown table. */
import { quantile } from "./hours.ts";
import { SPEAKER_TIMING, type SpeakerTiming } from "./other-timing.ts";
import { formatLine } from "./prices.ts";
import { type AddressTally, runTroubles } from "./trouble-run.ts";
import { TROUBLES, type Trouble, type TroubleName } from "./troubles.ts";

interface PricedInTrouble {
  readonly name: keyof SpeakerTiming;
  /** One lower and one higher. */
  readonly values: readonly [number, number];
  /** Where it matters. */
  readonly troubles: readonly TroubleName[];
}

export const PRICED_IN_TROUBLE: readonly PricedInTrouble[] = [
  { name: "settleMs", values: [3_000, 20_000], troubles: ["crashLoop", "diesAgain"] },
  { name: "linkHoldUpMs", values: [500, 5_000], troubles: ["flappingLink", "linkTwice"] },
  { name: "linkReturnMs", values: [4_000, 30_000], troubles: ["flappingLink", "linkTwice"] },
  { name: "dampingTroubles", values: [2, 5], troubles: ["crashLoop", "flappingLink"] },
  { name: "dampingWindowMs", values: [120_000, 1_200_000], troubles: ["crashLoop", "flappingLink"] },
  { name: "shortestDampingMs", values: [20_000, 180_000], troubles: ["crashLoop", "flappingLink"] },
  { name: "longestDampingMs", values: [120_000, 1_200_000], troubles: ["crashLoop", "flappingLink"] },
  { name: "brakeMs", values: [500, 5_000], troubles: ["twoHosts", "split"] },
];

interface Row {
  readonly trouble: TroubleName;
  readonly label: string;
  readonly timing: Partial<SpeakerTiming>;
}

const COLUMNS = ["trouble", "value", "moves", "nobody answers, s", "two answer, s", "back after s: p50 / longest"];
const HOUR_MS = 3_600_000;
/** Runs of a trouble that goes on, in place of each time that another happens: they are long. */
const SHORT_RUNS_TO_ONE = 10;

/** Tells the table line by line, in its order. `runs`: of each trouble that goes on; what happens once happens ten times as often. */
export async function runTroublePrices(
  runs: number,
  seed: number,
  print: (line: string) => void,
  priced: readonly PricedInTrouble[] = PRICED_IN_TROUBLE,
): Promise<void> {
  const rows = rowsOf(priced);
  const plans = rows.flatMap(({ trouble, timing }) =>
    Array.from({ length: runsOf(trouble, runs) }, (_, run) => ({ trouble, seed: seed + run, timing })),
  );
  const rowOfPlan = rows.flatMap((row, index) => Array.from({ length: runsOf(row.trouble, runs) }, () => index));
  const tallies = rows.map((): (readonly AddressTally[])[] => []);
  let told = 0;
  for (const line of [COLUMNS, COLUMNS.map(() => "---")]) print(formatLine(line));
  await runTroubles(plans, (ofRun, index) => {
    tallies[rowOfPlan[index] ?? 0]?.push(ofRun);
    for (let row = rows[told]; row !== undefined; row = rows[++told]) {
      const known = tallies[told] ?? [];
      if (known.length < runsOf(row.trouble, runs)) return;
      print(formatLine(cellsOf(row, known.flat())));
    }
  });
}

function rowsOf(priced: readonly PricedInTrouble[]): readonly Row[] {
  const troubles = (Object.keys(TROUBLES) as TroubleName[]).filter((name) =>
    priced.some((one) => one.troubles.includes(name)),
  );
  return troubles.flatMap((trouble) => [
    { trouble, label: "as they are", timing: {} },
    ...priced
      .filter((one) => one.troubles.includes(trouble))
      .flatMap(({ name, values }) =>
        values.map((value) => ({
          trouble,
          label: `\`${name}\` ${value}, not ${SPEAKER_TIMING[name]}`,
          timing: { [name]: value },
        })),
      ),
  ]);
}

function runsOf(trouble: TroubleName, runs: number): number {
  return TROUBLES[trouble].per === "hour" ? runs : runs * SHORT_RUNS_TO_ONE;
}

/** Of one address, in an hour of the trouble or each time that it happens. */
function cellsOf({ trouble: key, label }: Row, tallies: readonly AddressTally[]): readonly string[] {
  const trouble: Trouble = TROUBLES[key];
  const total = (figure: (tally: AddressTally) => number): number => tallies.reduce((sum, one) => sum + figure(one), 0);
  const per = trouble.per === "hour" ? total(({ troubledMs }) => troubledMs) / HOUR_MS : tallies.length;
  const back = tallies.flatMap(({ backMs }) => backMs ?? []);
  const lost = tallies.length - back.length;
  const backSeconds = [50, 100].map((p) => (quantile(back, p) / 1_000).toFixed(1)).join(" / ");
  return [
    `${trouble.name}${trouble.per === "hour" ? ", an hour of it" : ""}`,
    label,
    (total(({ moves }) => moves) / per).toFixed(1),
    (total(({ unansweredMs }) => unansweredMs) / per / 1_000).toFixed(2),
    (total(({ overlapMs }) => overlapMs) / per / 1_000).toFixed(2),
    lost === 0 ? backSeconds : `${backSeconds}, ${lost} not`,
  ];
}
