/** `hack/kube audit`: which verbs our programs used on a cluster so far, beside those they are granted. */
import { SPEAKER_GRANTS } from "../../../api/rbac.ts";
import { kubectl } from "../kubectl.ts";
import type { Cluster } from "../topology.ts";
import { compareOnCluster } from "./cluster-audit.ts";
import { userOf } from "./compare-rights.ts";
import { formatComparison } from "./rights-report.ts";

/** Prints a table for each ServiceAccount; says whether nothing was refused and nothing beyond the table. */
export async function audit(cluster: Cluster): Promise<boolean> {
  const comparisons = await compareOnCluster(cluster, await hasMetricsRights(cluster));
  process.stdout.write(comparisons.map(formatComparison).join("\n"));
  return comparisons.every(({ refused, beyond }) => refused.length === 0 && beyond.length === 0);
}

async function hasMetricsRights(cluster: Cluster): Promise<boolean> {
  const question = ["auth", "can-i", "create", "tokenreviews.authentication.k8s.io"];
  // A "no" ends kubectl with an error.
  const answer = await kubectl(cluster, [...question, `--as=${userOf(SPEAKER_GRANTS)}`]).catch(() => "no");
  return answer.trim() === "yes";
}
