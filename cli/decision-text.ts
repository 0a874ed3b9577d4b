/** `arpeggio why` as text: the leader's decision, then what the others say if that is something else. Pure. */
import type { ClusterDecisionDocument } from "../api/cluster-decision.ts";
import type { ClusterServiceDecisionDocument } from "../api/cluster-service-decision.ts";
import { formatAddress } from "../src/http/address-text.ts";
import { formatTable } from "../src/http/table.ts";
import { formatProblems, reachedColumn } from "./status-text.ts";

type ViewEntry = ClusterDecisionDocument["speakers"][number];

export function formatClusterDecision(document: ClusterDecisionDocument): string {
  return joined([...decisionParts(document), formatProblems(document.problems, verdictOf(document))]);
}

/** One address after the other; what is wrong with any comes last. */
export function formatServiceDecision({ decisions, problems }: ClusterServiceDecisionDocument): string {
  const [first] = decisions;
  const verdict = first === undefined ? "" : verdictOf(first);
  return joined([...decisions.flatMap(decisionParts), formatProblems(problems, verdict)]);
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}

function decisionParts({ decision, speakers }: ClusterDecisionDocument): readonly string[] {
  return [decision === undefined ? "" : formatAddress(decision), areOfOneMind(speakers) ? "" : formatViews(speakers)];
}

function verdictOf({ speakers }: ClusterDecisionDocument): string {
  return speakers.length === 1 ? "the speaker answers" : `all ${speakers.length} speakers say the same`;
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
