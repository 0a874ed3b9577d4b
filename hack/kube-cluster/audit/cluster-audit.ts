/** The audit log of a cluster of hack/kube, and the comparison of all that it says of our ServiceAccounts. */
import { type Grants, MAKE_KEY_GRANTS, METRICS_GRANTS, SPEAKER_GRANTS } from "../../../api/rbac.ts";
import { controlFolder } from "../cluster.ts";
import { auditLogPath } from "../plane.ts";
import type { Cluster } from "../topology.ts";
import { type AuditRequest, readAuditLog } from "./audit-log.ts";
import { type Comparison, compareRights, type Refusals, userOf } from "./compare-rights.ts";

/** Every request of these ServiceAccounts so far, oldest first. */
export function readClusterAudit(cluster: Cluster, accounts: readonly Grants[]): Promise<readonly AuditRequest[]> {
  return readAuditLog(auditLogPath({ folder: controlFolder(cluster) }), new Set(accounts.map(userOf)));
}

/** The speaker's and the key Job's, in this order. `hasMetricsRights`: the speaker may ask who reads /metrics. */
export async function compareOnCluster(
  cluster: Cluster,
  hasMetricsRights: boolean,
  onPurpose: readonly Refusals[] = [],
): Promise<readonly Comparison[]> {
  const requests = await readClusterAudit(cluster, [SPEAKER_GRANTS, MAKE_KEY_GRANTS]);
  const speaker = compareRights(
    hasMetricsRights ? [SPEAKER_GRANTS, METRICS_GRANTS] : [SPEAKER_GRANTS],
    requests,
    onPurpose,
  );
  return [speaker, compareRights([MAKE_KEY_GRANTS], requests)];
}
