/** What a ServiceAccount did, beside what it was granted (api/rbac.ts). Pure. */
import { type Grants, NAMESPACE } from "../../../api/rbac.ts";
import type { AuditRequest } from "./audit-log.ts";

/** One verb on one resource. */
export interface Right {
  readonly apiGroup: string;
  readonly resource: string;
  readonly verb: string;
  /** Absent: in every namespace. */
  readonly namespace?: string;
}

/** A stretch of wall time in which a test took rights away, and why. */
export interface Refusals {
  readonly fromMs: number;
  readonly toMs: number;
  readonly why: string;
}

/** Requests that are alike. */
export interface Occurrence {
  readonly right: Right;
  readonly requests: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly pods: readonly string[];
}

export interface Comparison {
  readonly serviceAccount: string;
  /** Every right of the table, with the requests that needed it and were let through. */
  readonly granted: readonly (Right & { readonly requests: number })[];
  /** Let through, though the table does not grant it. */
  readonly beyond: readonly Occurrence[];
  /** For want of a right. */
  readonly refused: readonly Occurrence[];
  /** Likewise, while a test had taken the right away. */
  readonly refusedOnPurpose: readonly (Occurrence & { readonly why: string })[];
  /** Let through by RBAC and turned away by admission, as in a namespace that is being deleted. */
  readonly notAdmitted: readonly Occurrence[];
  /** Asked for by path, which every user may who has a name: `/openapi/v3/…`. */
  readonly paths: readonly string[];
  /** Requests whose token belonged to no pod: not the program's own, so they are not judged. */
  readonly withoutPod: number;
}

export function userOf({ serviceAccount }: Grants): string {
  return `system:serviceaccount:${NAMESPACE}:${serviceAccount}`;
}

/** `grants`: all of one ServiceAccount. */
export function compareRights(
  grants: readonly [Grants, ...Grants[]],
  requests: readonly AuditRequest[],
  onPurpose: readonly Refusals[] = [],
): Comparison {
  const [{ serviceAccount }] = grants;
  const user = userOf(grants[0]);
  const rights = grants.flatMap(rightsOf);
  const used = new Map(rights.map((right) => [right, 0]));
  const beyond = new Tally();
  const refused = new Tally();
  const notAdmitted = new Tally();
  const excused = new Map<Refusals, Tally>();
  const paths = new Set<string>();
  let withoutPod = 0;
  for (const request of requests) {
    if (request.user !== user) continue;
    if (request.pod === undefined) {
      withoutPod++;
    } else if (!request.isAllowed) {
      const excuse = onPurpose.find(({ fromMs, toMs }) => fromMs <= request.atMs && request.atMs <= toMs);
      const tally = excuse === undefined ? refused : (excused.get(excuse) ?? new Tally());
      if (excuse !== undefined) excused.set(excuse, tally);
      tally.add(request);
    } else if (request.resource === undefined) {
      paths.add(request.path);
    } else {
      const right = rights.find((one) => isNeeded(one, request));
      if (right === undefined) beyond.add(request);
      else used.set(right, (used.get(right) ?? 0) + 1);
      if (request.code === FORBIDDEN) notAdmitted.add(request);
    }
  }
  return {
    serviceAccount,
    granted: rights.map((right) => ({ ...right, requests: used.get(right) ?? 0 })),
    beyond: beyond.occurrences(),
    refused: refused.occurrences(),
    refusedOnPurpose: [...excused].flatMap(([{ why }, tally]) =>
      tally.occurrences().map((occurrence) => ({ ...occurrence, why })),
    ),
    notAdmitted: notAdmitted.occurrences(),
    paths: [...paths].toSorted(),
    withoutPod,
  };
}

export function unusedOf({ granted }: Comparison): Comparison["granted"] {
  return granted.filter(({ requests }) => requests === 0);
}

const FORBIDDEN = 403;

function rightsOf({ cluster, namespace }: Grants): Right[] {
  const everywhere = cluster.flatMap(spread);
  return [...everywhere, ...namespace.flatMap(spread).map((right) => ({ ...right, namespace: NAMESPACE }))];
}

function spread({ apiGroup, resources, verbs }: Grants["cluster"][number]): Right[] {
  return resources.flatMap((resource) => verbs.map((verb) => ({ apiGroup, resource, verb })));
}

function isNeeded({ apiGroup, resource, verb, namespace }: Right, request: AuditRequest): boolean {
  return (
    apiGroup === request.apiGroup &&
    resource === request.resource &&
    verb === request.verb &&
    (namespace === undefined || namespace === request.namespace)
  );
}

/** Requests by what they asked for, in the order of their first. */
class Tally {
  readonly #occurrences = new Map<string, Occurrence>();

  add({ apiGroup, resource, path, verb, namespace, atMs, pod }: AuditRequest): void {
    const name = resource ?? path;
    const key = [apiGroup, name, verb, namespace].join(" ");
    const known = this.#occurrences.get(key);
    const pods = new Set([...(known?.pods ?? []), ...(pod === undefined ? [] : [pod])]);
    this.#occurrences.set(key, {
      right: { apiGroup, resource: name, verb, ...(namespace === undefined ? {} : { namespace }) },
      requests: (known?.requests ?? 0) + 1,
      firstMs: Math.min(known?.firstMs ?? atMs, atMs),
      lastMs: Math.max(known?.lastMs ?? atMs, atMs),
      pods: [...pods],
    });
  }

  occurrences(): readonly Occurrence[] {
    return [...this.#occurrences.values()];
  }
}
