/** What `hack/kube audit` prints. Pure. */
import { formatTable } from "../../../src/http/table.ts";
import { type Comparison, type Occurrence, type Right, unusedOf } from "./compare-rights.ts";

/** Everything that there is to see: each right with its requests, and what was beyond or refused. */
export function formatComparison(comparison: Comparison): string {
  const { serviceAccount, granted, beyond, refused, refusedOnPurpose, notAdmitted, paths, withoutPod } = comparison;
  const rows = granted.map((right) => [...cellsOf(right), right.requests === 0 ? "none" : String(right.requests)]);
  return [
    `${serviceAccount}\n`,
    formatTable(["NAMESPACE", "RESOURCE", "VERB", "REQUESTS"], rows),
    occurrences("refused", refused),
    occurrences("beyond the table", beyond),
    ...refusedOnPurpose.map((one) => occurrences(`refused on purpose, ${one.why}`, [one])),
    occurrences("not admitted", notAdmitted),
    ...paths.map((path) => `open to every user: ${path}\n`),
    ...(withoutPod > 0 ? [`not counted: ${withoutPod} with a token of no pod\n`] : []),
    `${summaryOf(comparison)}\n`,
  ].join("");
}

/** `granted 31, used 31, refused 0`; what is beyond the table only when there is any. */
export function summaryOf(comparison: Comparison): string {
  const granted = comparison.granted.length;
  const refused = requestsOf(comparison.refused);
  const beyond = requestsOf(comparison.beyond);
  const more = beyond === 0 ? "" : `, beyond ${beyond}`;
  return `granted ${granted}, used ${granted - unusedOf(comparison).length}, refused ${refused}${more}`;
}

/** `patch servicel2statuses/status (metallb.io) in metallb-system` */
export function formatRight({ apiGroup, resource, verb, namespace }: Right): string {
  const group = apiGroup === "" ? "" : ` (${apiGroup})`;
  return `${verb} ${resource}${group}${namespace === undefined ? "" : ` in ${namespace}`}`;
}

function cellsOf({ apiGroup, resource, verb, namespace }: Right): readonly string[] {
  return [namespace ?? "all", apiGroup === "" ? resource : `${resource} (${apiGroup})`, verb];
}

function occurrences(title: string, found: readonly Occurrence[]): string {
  const lines = found.map(({ right, requests, firstMs, lastMs, pods }) => {
    const times = `${requests} from ${timeOf(firstMs)} to ${timeOf(lastMs)}`;
    return `${title}: ${formatRight(right)}, ${times}, by ${pods.join(", ")}\n`;
  });
  return lines.join("");
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}

function requestsOf(found: readonly Occurrence[]): number {
  return found.reduce((sum, { requests }) => sum + requests, 0);
}
