/** `hack/kube audit`: which verbs our programs used on a cluster so far, beside those they are granted. */
import { CONTROLLER_GRANTS, type Grants, NAMESPACE, SPEAKER_GRANTS } from "../../../api/rbac.ts";
import { kubectl } from "../kubectl.ts";
import type { Cluster } from "../topology.ts";
import { compareOnCluster } from "./cluster-audit.ts";
import { userOf } from "./compare-rights.ts";
import { formatComparison } from "./rights-report.ts";

/** Prints a table for each ServiceAccount; says whether nothing was refused and nothing beyond the table. */
export async function audit(cluster: Cluster): Promise<boolean> {
  const comparisons = await compareOnCluster(cluster, {
    speakerMetrics: await may(cluster, SPEAKER_GRANTS, "create", "tokenreviews.authentication.k8s.io"),
    controllerMetrics: await may(cluster, CONTROLLER_GRANTS, "create", "tokenreviews.authentication.k8s.io"),
  });
  process.stdout.write(comparisons.map(formatComparison).join("\n"));
  return comparisons.every(({ refused, beyond }) => refused.length === 0 && beyond.length === 0);
}

async function may(cluster: Cluster, account: Grants, verb: string, resource: string): Promise<boolean> {
  const question = ["auth", "can-i", verb, resource, "-n", NAMESPACE, `--as=${userOf(account)}`];
  // A "no" ends kubectl with an error.
  const answer = await kubectl(cluster, question).catch(() => "no");
  return answer.trim() === "yes";
}
