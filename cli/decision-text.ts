/** `arpeggio why ADDRESS` as text: the leader's decision, then what the others say if that is something else. Pure. */
import type { ClusterDecisionDocument } from "../api/cluster-decision.ts";
import { formatAddress } from "../src/http/address-text.ts";
import { formatTable } from "../src/http/table.ts";
import { formatProblems, reachedColumn } from "./status-text.ts";

type ViewEntry = ClusterDecisionDocument["speakers"][number];

export function formatClusterDecision({ decision, speakers, problems }: ClusterDecisionDocument): string {
  const verdict = speakers.length === 1 ? "the speaker answers" : `all ${speakers.length} speakers say the same`;
  return [
    decision === undefined ? "" : formatAddress(decision),
    areOfOneMind(speakers) ? "" : formatViews(speakers),
    formatProblems(problems, verdict),
  ]
    .filter((part) => part !== "")
    .join("\n");
}

function areOfOneMind(speakers: readonly ViewEntry[]): boolean {
  const opinions = speakers.map(({ says }) =>
    says === undefined ? "no answer" : JSON.stringify([says.isReady, says.knows, says.leader]),
  );
  return new Set(opinions).size < 2;
}

function formatViews(speakers: readonly ViewEntry[]): string {
  return formatTable(
    ["NODE", reachedColumn(speakers), "SAYS", "HERE", "REASON"],
    speakers.map(({ node, pod, url, says }) => [node ?? "-", pod ?? url ?? "-", ...viewCells(says)]),
  );
}

function viewCells(says: ViewEntry["says"]): readonly string[] {
  if (says === undefined) return ["no answer", "-", "-"];
  const here = says.isReady ? (says.state ?? "-") : `${says.state ?? "-"}, not ready`;
  if (!says.knows) return ["no such address", here, "-"];
  return [says.leader ?? "nobody", here, says.reason ?? "-"];
}
