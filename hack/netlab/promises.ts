/** What is promised of a drill's runs (DESIGN §5), and whether they keep it. Pure. */
import type { Extra } from "./deed.ts";
import type { DrillName } from "./drills.ts";
import type { Figures } from "./measure.ts";
import { percentile } from "./percentile.ts";

export interface DrillResult {
  readonly figures: Figures;
  readonly extra: Extra;
}

export interface Verdict {
  /** The figure, and over what. */
  readonly what: string;
  readonly found: string;
  readonly isKept: boolean;
}

interface Bound {
  readonly what: string;
  /** Null: there was nothing to measure, which keeps no promise. */
  readonly valueOf: (result: DrillResult) => number | null;
  /** 100: every run. */
  readonly percentile: number;
  readonly least?: number;
  readonly most: number;
  readonly unit?: "ms";
}

function firstAnswer(percentileRank: number, most: number): Bound {
  return {
    what: "first answer of another node",
    valueOf: ({ figures }) => figures.firstReplyMs,
    percentile: percentileRank,
    most,
    unit: "ms",
  };
}

const NO_REQUEST_LOST: Bound = {
  what: "requests lost",
  valueOf: ({ figures }) => figures.lost,
  percentile: 100,
  most: 0,
};
const ONE_ANSWERS: Bound = {
  what: "nodes that answer in the end",
  valueOf: ({ figures }) => figures.answerersWhenAlone ?? null,
  percentile: 100,
  least: 1,
  most: 1,
};
const NO_QUEUED_ANSWER: Bound = {
  what: "answers of the thawed leader to what it had queued",
  valueOf: ({ figures }) => figures.answersAfterThaw ?? null,
  percentile: 100,
  most: 0,
};

function moves(most: number): Bound {
  return { what: "moves", valueOf: ({ figures }) => figures.moves, percentile: 100, most };
}

function extraOf(name: string): Bound["valueOf"] {
  return ({ extra }) => {
    const value = extra[name];
    return typeof value === "number" ? value : null;
  };
}

const PROMISES: Readonly<Partial<Record<DrillName, readonly Bound[]>>> = {
  kill: [firstAnswer(50, 200), firstAnswer(99, 500)],
  crash: [firstAnswer(50, 500), firstAnswer(99, 700)],
  freeze: [firstAnswer(99, 1_200), NO_QUEUED_ANSWER],
  "freeze-2s": [firstAnswer(99, 1_200), NO_QUEUED_ANSWER],
  "step-down": [NO_REQUEST_LOST],
  restart: [NO_REQUEST_LOST],
  "stall-300": [
    moves(0),
    { what: "addresses that moved", valueOf: extraOf("addressesMoved"), percentile: 100, most: 0 },
  ],
  "asymmetric-cut": [moves(3)],
  "uplink-blip": [moves(0)],
  "views-differ": [
    ONE_ANSWERS,
    {
      what: "nodes that say which view differs",
      valueOf: extraOf("nodesThatSayWhichView"),
      percentile: 100,
      least: 1,
      most: Number.POSITIVE_INFINITY,
    },
  ],
  heal: [
    {
      what: "two answer together",
      valueOf: ({ figures }) => figures.bothAnswerMs,
      percentile: 99,
      most: 499,
      unit: "ms",
    },
    { what: "islands have merged", valueOf: extraOf("mergedMs"), percentile: 100, most: 12_000, unit: "ms" },
    ONE_ANSWERS,
  ],
};

/** Empty: nothing is promised of this drill alone. */
export function judge(drill: DrillName, results: readonly DrillResult[]): readonly Verdict[] {
  return (PROMISES[drill] ?? []).map((bound) => verdictOf(bound, results));
}

function verdictOf(
  { what, valueOf, percentile: p, least = 0, most, unit }: Bound,
  results: readonly DrillResult[],
): Verdict {
  const values = results.map(valueOf);
  const measured = values.filter((value) => value !== null).toSorted((a, b) => a - b);
  const rank = p === 100 ? "" : `, p${p}`;
  const of = `${what}${rank}, in ${results.length} ${results.length === 1 ? "run" : "runs"}`;
  const missing = values.length - measured.length;
  if (measured.length === 0 || missing > 0) {
    return { what: of, found: `none in ${missing}`, isKept: false };
  }
  const high = percentile(measured, p);
  const low = measured[0] ?? Number.NaN;
  const words = unit === undefined ? "" : ` ${unit}`;
  const bound =
    most === Number.POSITIVE_INFINITY ? `${least} or more` : least === most ? `${most}` : `at most ${most}${words}`;
  return { what: of, found: `${high}${words}, promised ${bound}`, isKept: low >= least && high <= most };
}
