/** What is written to the API server, as /status says it. Pure. */
import type { StatusDocument } from "../api/status.ts";
import { describePump } from "../src/daemon/pump-status.ts";
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
