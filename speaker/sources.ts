/** What /status says of the sources of truth. */
import type { StatusDocument } from "../api/status.ts";
import type { ClusterSnapshot } from "../src/desired/snapshot.ts";

type SourceStatus = StatusDocument["sources"][number];

/** `problems` are sentences that begin with file and line. */
export function filesStatus(
  folder: string,
  snapshot: ClusterSnapshot | undefined,
  problems: readonly string[],
  lastChangeMs: number | undefined,
): SourceStatus {
  return {
    kind: "files",
    location: folder,
    state: snapshot === undefined ? "reading" : "current",
    objects: snapshot === undefined ? {} : objectsOf(snapshot),
    problems: [...problems],
    ...(lastChangeMs === undefined ? {} : { lastChange: new Date(lastChangeMs).toISOString() }),
  };
}

function objectsOf(snapshot: ClusterSnapshot): Readonly<Record<string, number>> {
  return {
    IPAddressPool: snapshot.pools.size,
    L2Advertisement: snapshot.advertisements.size,
    Service: snapshot.services.size,
    EndpointSlice: snapshot.endpointSlices.size,
    Node: snapshot.nodes.size,
  };
}
