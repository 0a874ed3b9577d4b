/** docs/drills.md, from what `hack/kube drill all --json` printed. Pure. */
import { drillDoes } from "./kube-cluster/drills/command.ts";

type DrillLine = Readonly<Record<string, unknown>>;

const HEAD = [
  "drill",
  "what is done",
  "moves",
  "first frame of another node",
  "longest gap",
  "sent",
  "lost",
  "reset",
  "besides",
];
/** Columns of their own, and what says nothing of how it went. */
const KNOWN: readonly string[] = [
  "drill",
  "run",
  "nodes",
  "firstFrameMs",
  "firstReplyMs",
  "longestGapMs",
  "sent",
  "lost",
  "resets",
  "moves",
  "macs",
  "bothAnswerMs",
];

/** `jsonLines`: one object a line, others are passed over. `measuredOn`: YYYY-MM-DD. */
export function formatDrills(jsonLines: string, measuredOn: string): string {
  const runs = jsonLines
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as DrillLine);
  const rows = runs.map((run) => [
    String(run["drill"]),
    drillDoes(String(run["drill"])),
    text(run["moves"]),
    inMs(run["firstFrameMs"]),
    inMs(run["longestGapMs"]),
    text(run["sent"]),
    text(run["lost"]),
    text(run["resets"]),
    besides(run),
  ]);
  const table = [HEAD, HEAD.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return [
    "# Drills on a cluster",
    "",
    "<!-- Generated: hack/kube drill all --json | node hack/readme.ts drills -->",
    "",
    `Measured on ${measuredOn} on Linux with 2 cores, one run each, on the cluster of three nodes that \`hack/kube up --nodes 3\` brings up:`,
    "`hack/kube drill all`. A client on another host opens 500 new connections a second through kube-proxy, each with one request;",
    "_lost_ is a request whose SYN stood unanswered for a second, _reset_ a connection that was open at the moment of a move.",
    "Before `apply` and in a crash nobody answers for a while; there _lost_ counts what was asked meanwhile.",
    "",
    ...table,
    "",
  ].join("\n");
}

function besides(run: DrillLine): string {
  const others = Object.entries(run).filter(([name]) => !KNOWN.includes(name));
  return others.map(([name, value]) => `${name} ${text(value)}`).join(", ");
}

function text(value: unknown): string {
  return typeof value === "number" ? value.toLocaleString("en-US") : "–";
}

function inMs(value: unknown): string {
  return typeof value === "number" ? `${Math.round(value).toLocaleString("en-US")} ms` : "–";
}
