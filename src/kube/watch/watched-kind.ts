/** What is read of a kind, and how: the form of the rows in kinds.ts and controller-kinds.ts. Pure. */
import { fields, type Kept, whole } from "./keep.ts";

export interface WatchedKind {
  readonly kind: string;
  readonly apiVersion: string;
  /** As in paths and RBAC rules. */
  readonly resource: string;
  /** all: of every namespace, or of none. own: that of the daemon itself. */
  readonly scope: "all" | "own";
  /** Besides name, namespace, uid, creationTimestamp and resourceVersion. */
  readonly kept: Kept;
  /** Absent: listed and watched. Otherwise only listed, so often. */
  readonly listEveryMs?: number;
  readonly pageLimit: number;
  /** One object tells enough: that there are any. */
  readonly isFirstPageEnough?: true;
  /** How often the server is asked when it does not know the kind. */
  readonly absentEveryMs: number;
  /** Most clusters do not have it. */
  readonly isOptional?: true;
  /** Objects arrive without spec and status. */
  readonly isMetadataOnly?: true;
  /** What of the kind is asked for at all, if it is always the same. */
  readonly labelSelector?: string;
  /** Its numbers may be above 2^53: those are read as text. */
  readonly hasLargeNumbers?: true;
}

const PAGE = 500;
const SELDOM_MS = 60_000;
/** Without pools and advertisements nothing can be announced: their definitions are waited for. */
export const OFTEN_MS = 5_000;
export const METALLB = "metallb.io/v1beta1";

const identity = { name: whole, namespace: whole, uid: whole, creationTimestamp: whole, resourceVersion: whole };

export function metadata(others: Readonly<Record<string, Kept>>): Kept {
  return fields({ ...identity, ...others });
}

export function kind(
  name: string,
  apiVersion: string,
  resource: string,
  kept: Kept,
  others: Partial<WatchedKind> = {},
): WatchedKind {
  return { kind: name, apiVersion, resource, scope: "all", kept, pageLimit: PAGE, absentEveryMs: SELDOM_MS, ...others };
}

/** Without query. */
export function pathOf({ apiVersion, resource, scope }: WatchedKind, namespace: string): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return scope === "own" ? `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}` : `${root}/${resource}`;
}

/** The form that the answer is asked in. */
export function acceptOf({ isMetadataOnly }: WatchedKind, verb: "list" | "watch"): string {
  if (isMetadataOnly !== true) return "application/json";
  const form = verb === "list" ? "PartialObjectMetadataList" : "PartialObjectMetadata";
  return `application/json;as=${form};g=meta.k8s.io;v=v1`;
}
