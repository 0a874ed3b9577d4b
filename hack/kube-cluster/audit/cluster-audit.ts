/** The audit log of a cluster of hack/kube, and the comparison of all that it says of our ServiceAccounts. */
import {
  CONTROLLER_GRANTS,
  CONTROLLER_METRICS_GRANTS,
  type Grants,
  MAKE_KEY_GRANTS,
  METRICS_GRANTS,
  SPEAKER_GRANTS,
  TAKEOVER_GRANTS,
} from "../../../api/rbac.ts";
import { controlFolder } from "../cluster.ts";
import { auditLogPath } from "../plane.ts";
import type { Cluster } from "../topology.ts";
import { type AuditRequest, readAuditLog } from "./audit-log.ts";
import { type Comparison, compareRights, type Refusals, userOf } from "./compare-rights.ts";

/** Every request of these ServiceAccounts so far, oldest first. */
export function readClusterAudit(cluster: Cluster, accounts: readonly Grants[]): Promise<readonly AuditRequest[]> {
  return readAuditLog(auditLogPath({ folder: controlFolder(cluster) }), new Set(accounts.map(userOf)));
}

const CONTROLLER = userOf(CONTROLLER_GRANTS);

/** Components whose rights are there beside those that everybody has. */
export interface MoreRights {
  /** prometheus: the speaker may ask who reads /metrics. */
  readonly speakerMetrics: boolean;
  /** prometheus-controller: so may the controller. */
  readonly controllerMetrics: boolean;
}

/** The speaker's, the key Job's and the controller's, in this order. */
export async function compareOnCluster(
  cluster: Cluster,
  more: MoreRights,
  onPurpose: readonly Refusals[] = [],
): Promise<readonly Comparison[]> {
  const requests = await readClusterAudit(cluster, [SPEAKER_GRANTS, MAKE_KEY_GRANTS, CONTROLLER_GRANTS]);
  const speaker = [SPEAKER_GRANTS, ...(more.speakerMetrics ? [METRICS_GRANTS] : [])] as const;
  // Component takeover is there for a while only.
  const hasTakenOver = requests.some(({ resource, user }) => resource === "endpointslices" && user === CONTROLLER);
  const controller = [
    CONTROLLER_GRANTS,
    ...(more.controllerMetrics ? [CONTROLLER_METRICS_GRANTS] : []),
    ...(hasTakenOver ? [TAKEOVER_GRANTS] : []),
  ] as const;
  return [
    compareRights(speaker, requests, onPurpose),
    compareRights([MAKE_KEY_GRANTS], requests),
    compareRights(controller, requests, onPurpose),
  ];
}
