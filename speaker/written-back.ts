/** What is written to the API server, as /status says it. Pure. */
import type { StatusDocument } from "../api/status.ts";
import type { KubernetesWriterStatus } from "../src/kube/write/kubernetes-writer.ts";

export type WrittenBack = NonNullable<StatusDocument["writtenBack"]>;

export function describeWrites({ objects, events, ledServices, droppedFields }: KubernetesWriterStatus): WrittenBack {
  return {
    objects: describePump(objects),
    events: { ...describePump(events), dropped: events.dropped },
    ledServices,
    ...(droppedFields === undefined ? {} : { droppedFields: [...droppedFields] }),
  };
}

function describePump(status: KubernetesWriterStatus["objects"]): WrittenBack["objects"] {
  const { pending, written, failed, isApiAway, lastError, lastErrorWallMs, missingRights } = status;
  return {
    pending,
    written,
    failed,
    isApiAway,
    missingRights: [...missingRights],
    ...(lastError === undefined ? {} : { lastError }),
    ...(lastErrorWallMs === undefined ? {} : { lastErrorAt: new Date(lastErrorWallMs).toISOString() }),
  };
}
