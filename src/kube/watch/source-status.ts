/** What a Kubernetes source says of itself, for /status and the metrics. Pure. */
import type { ReflectorState } from "./reflector-state.ts";

export interface KindStatus {
  readonly kind: string;
  readonly state: "listing" | "watching" | "waiting";
  readonly objects: number;
  /** The last event or bookmark, or the end of the last list: wall time, ISO 8601. */
  readonly lastEvent?: string;
  readonly reconnects: number;
  readonly relists: number;
  /** A sentence; absent when all is well. */
  readonly lastError?: string;
}

export interface KubernetesSourceStatus {
  /** reading: there is no snapshot yet. stale: one from before the start, or a kind that decides is not being watched well. */
  readonly state: "reading" | "current" | "stale";
  readonly watches: readonly KindStatus[];
  /** What is the matter with the source itself, whole sentences. */
  readonly sentences: readonly string[];
  /** Exceptions in what reads the objects; they stop nothing. */
  readonly faults: number;
}

/** `wallStartMs`: wall time at the clock's zero. */
export function kindStatus(kind: string, state: ReflectorState, objects: number, wallStartMs: number): KindStatus {
  const { phase, lastEventMs, reconnects, relists, lastError } = state;
  return {
    kind,
    state: phase.kind,
    objects,
    ...(lastEventMs === undefined ? {} : { lastEvent: new Date(wallStartMs + lastEventMs).toISOString() }),
    reconnects,
    relists,
    ...(lastError === undefined ? {} : { lastError }),
  };
}

export function absentSentence(kinds: readonly string[]): string {
  return `the API server does not know ${kinds.join(" and ")}: apply manifests/crd`;
}

export function cachedSentence(savedMs: number): string {
  return `no list has succeeded since the start: the snapshot of ${new Date(savedMs).toISOString()} from the cache folder stands`;
}
