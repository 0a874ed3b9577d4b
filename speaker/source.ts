/** A source of truth as the main thread runs it: a folder of files, or the Kubernetes API. */
import type { StatusDocument } from "../api/status.ts";
import type { ClusterSnapshot } from "../src/desired/snapshot.ts";

export type SourceStatus = StatusDocument["sources"][number];

/** How many of each kind were read, under the kind's own name. */
export function objectsOf(snapshot: ClusterSnapshot): Readonly<Record<string, number>> {
  return {
    IPAddressPool: snapshot.pools.size,
    L2Advertisement: snapshot.advertisements.size,
    Service: snapshot.services.size,
    EndpointSlice: snapshot.endpointSlices.size,
    Node: snapshot.nodes.size,
  };
}

export interface SourceListener {
  /**
   * The whole reading, whenever something in it changed; no snapshot: nothing complete could be read yet. `freshness`: how new it is, to
   * compare with other speakers, if that has changed; 0: not comparable.
   */
  changed(snapshot: ClusterSnapshot | undefined, problems: readonly string[], freshness?: number): void;
}

export interface RunningSource {
  /** Where it reads, for the log. */
  readonly location: string;
  start(): Promise<void>;
  status(): SourceStatus;
  close(): Promise<void>;
}
