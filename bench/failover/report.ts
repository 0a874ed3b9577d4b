/** What a run found, as tables for docs/failover.md. Pure. */
import { percentile } from "../../hack/netlab/percentile.ts";
import type { Verdict } from "../../hack/netlab/promises.ts";

/** Times in ms. */
export interface FaultResult {
  readonly nodes: number;
  readonly fault: string;
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
}

export function formatFaults(results: readonly FaultResult[], library: string): string {
  return formatTable([
    ["nodes", "fault", "Arpeggio: least / p50 / p99", "runs", `${library} alone`, "runs", "p50, times faster"],
    ...results.map(({ nodes, fault, ours, theirs }) => {
      const [mine, others] = [ours, theirs].map((list) => list.toSorted((a, b) => a - b));
      const ratio = percentile(others ?? [], 50) / percentile(mine ?? [], 50);
      return [
        String(nodes),
        fault,
        spreadOf(mine ?? []),
        String(ours.length),
        spreadOf(others ?? []),
        String(theirs.length),
        ratio.toFixed(0),
      ];
    }),
  ]);
}

export interface Promised {
  readonly scene: string;
  readonly verdict: Verdict;
}

export function formatPromises(promised: readonly Promised[]): string {
  return formatTable([
    ["drill", "what", "found", "kept"],
    ...promised.map(({ scene, verdict }) => [scene, verdict.what, verdict.found, verdict.isKept ? "yes" : "**no**"]),
  ]);
}

function spreadOf(sorted: readonly number[]): string {
  return [sorted[0], percentile(sorted, 50), percentile(sorted, 99)]
    .map((ms) => (ms ?? Number.NaN).toFixed(0))
    .join(" / ");
}

/** Markdown, the columns aligned. */
function formatTable(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const lineOf = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |\n`;
  return [head, widths.map((width) => "-".repeat(width)), ...rows.slice(1)].map(lineOf).join("");
}
