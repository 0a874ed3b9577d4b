/** What a Node object says, in the words that nodes use of themselves (DESIGN D3, D4). Pure. */
import { NODE_TAINTS } from "../../api/annotations.ts";
import type { NodeFacts } from "../desired/snapshot.ts";
import { hasExcludeLabel } from "./eligibility.ts";
import type { WordFlag } from "./word.ts";

export interface NodeFlagOptions {
  /** `--ignore-cordon` and `--ignore-exclude-lb`. */
  readonly ignoresCordon: boolean;
  readonly ignoresExcludeLabel: boolean;
}

type NodeFlag = Extract<WordFlag, "stepping-down" | "cordoned" | "network-unavailable" | "excluded" | "out-of-service">;

/** Without a Node, all false. */
export function flagsOfNode(
  node: NodeFacts | undefined,
  options: NodeFlagOptions,
): Readonly<Record<NodeFlag, boolean>> {
  return {
    "stepping-down": node?.wantsStepDown === true,
    cordoned: node !== undefined && !options.ignoresCordon && !node.ignoresCordon && isCordoned(node),
    "network-unavailable": node?.isNetworkUnavailable === true,
    excluded: node !== undefined && !options.ignoresExcludeLabel && hasExcludeLabel(node),
    "out-of-service": node?.taintKeys.includes(NODE_TAINTS.outOfService) === true,
  };
}

function isCordoned({ isUnschedulable, taintKeys }: NodeFacts): boolean {
  const { deletedByAutoscaler, disruptedByKarpenter } = NODE_TAINTS;
  return isUnschedulable || taintKeys.includes(deletedByAutoscaler) || taintKeys.includes(disruptedByKarpenter);
}
