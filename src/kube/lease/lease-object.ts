/** coordination.k8s.io/v1 Lease: what of it is read, and how it is written. Pure. */

/** The part of a Lease that its holders write. */
export interface LeaseRecord {
  /** Empty: nobody holds it. */
  readonly holder: string;
  readonly durationSeconds: number;
  readonly acquiredAt?: string;
  readonly renewedAt?: string;
  /** How often the holder changed. */
  readonly transitions: number;
}

export interface LeaseObject {
  readonly resourceVersion: string;
  readonly record: LeaseRecord;
}

/** undefined: no Lease. What is missing or of another type counts as unset: whoever wrote that holds nothing by it. */
export function readLease(object: unknown): LeaseObject | undefined {
  const { metadata, spec } = fieldsOf(object);
  const { resourceVersion } = fieldsOf(metadata);
  if (typeof resourceVersion !== "string") return undefined;
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = fieldsOf(spec);
  return {
    resourceVersion,
    record: {
      holder: typeof holderIdentity === "string" ? holderIdentity : "",
      durationSeconds: typeof leaseDurationSeconds === "number" ? leaseDurationSeconds : 0,
      ...(typeof acquireTime === "string" ? { acquiredAt: acquireTime } : {}),
      ...(typeof renewTime === "string" ? { renewedAt: renewTime } : {}),
      transitions: typeof leaseTransitions === "number" ? leaseTransitions : 0,
    },
  };
}

/** As it is sent. Without a resourceVersion it is created; with one it replaces exactly that version. */
export function buildLease(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  record: LeaseRecord,
  resourceVersion?: string,
): unknown {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace, name, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    spec: {
      holderIdentity: record.holder,
      leaseDurationSeconds: record.durationSeconds,
      ...(record.acquiredAt === undefined ? {} : { acquireTime: record.acquiredAt }),
      ...(record.renewedAt === undefined ? {} : { renewTime: record.renewedAt }),
      leaseTransitions: record.transitions,
    },
  };
}

/** Kubernetes' MicroTime: RFC 3339 with exactly six digits; the API server refuses others. */
export function formatMicroTime(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, -1)}000Z`;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
