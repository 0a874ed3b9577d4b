/** What is written to the API server: ServiceL2Statuses and the ConfigurationState as "objects", and "events". With another source there are none. */
import { Counter, Gauge, type Registry } from "prom-client";
import type { StatusDocument } from "../../api/status.ts";

const WRITES = ["objects", "events"] as const;

export function createWriteSeries(registry: Registry): (status: StatusDocument) => void {
  const registers = [registry];
  const labelNames = ["writes"] as const;
  const pending = new Gauge({
    name: "arpeggio_kube_writes_pending",
    help: "What waits to be looked at or written.",
    labelNames,
    registers,
  });
  const written = new Counter({
    name: "arpeggio_kube_writes_total",
    help: "Requests that changed something.",
    labelNames,
    registers,
  });
  const failed = new Counter({
    name: "arpeggio_kube_write_failures_total",
    help: "Requests without an answer, or not answered as wished for.",
    labelNames,
    registers,
  });
  const dropped = new Counter({
    name: "arpeggio_kube_events_dropped_total",
    help: "Events that were overtaken by a later one of their subject, refused, or found no room.",
    labelNames: [],
    registers,
  });
  const missingRights = new Gauge({
    name: "arpeggio_kube_missing_rights",
    help: "Verbs on resources that this speaker needs and may not use.",
    labelNames,
    registers,
  });
  const all = [pending, written, failed, dropped, missingRights];
  return ({ writtenBack }) => {
    for (const series of all) series.reset();
    if (writtenBack === undefined) {
      // Without a label prom-client shows a zero.
      dropped.remove();
      return;
    }
    for (const writes of WRITES) {
      const status = writtenBack[writes];
      pending.set({ writes }, status.pending);
      written.inc({ writes }, status.written);
      failed.inc({ writes }, status.failed);
      missingRights.set({ writes }, status.missingRights.length);
    }
    dropped.inc(writtenBack.events.dropped);
  };
}
