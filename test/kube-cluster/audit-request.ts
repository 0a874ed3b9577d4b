import type { AuditRequest } from "../../hack/kube-cluster/audit/audit-log.ts";

let made = 0;

/** One of the speaker's, let through, but for what is said. */
export function auditRequest(others: Partial<AuditRequest> = {}): AuditRequest {
  return {
    id: `request-${made++}`,
    atMs: Date.parse("2026-11-29T23:40:00.000Z"),
    user: "system:serviceaccount:metallb-system:arpeggio-speaker",
    pod: "arpeggio-speaker-a",
    verb: "list",
    apiGroup: "",
    resource: "services",
    namespace: undefined,
    path: "/",
    code: 200,
    isAllowed: true,
    ...others,
  };
}
