/** How the watches on the API server are, one for each kind. With another source there are none. */
import { Gauge, type Registry } from "prom-client";
import type { StatusDocument } from "../../api/status.ts";

export function createWatchSeries(registry: Registry): (status: StatusDocument) => void {
  const registers = [registry];
  const up = new Gauge({
    name: "arpeggio_kube_watch_up",
    help: "1 while the watch of this kind is open.",
    labelNames: ["kind"],
    registers,
  });
  const lastEvent = new Gauge({
    name: "arpeggio_kube_last_event_timestamp_seconds",
    help: "When the watch of this kind heard something last: an event, a bookmark, or the end of a list.",
    labelNames: ["kind"],
    registers,
  });
  return ({ sources }) => {
    up.reset();
    lastEvent.reset();
    for (const { kind, state, lastEvent: at } of sources.flatMap(({ watches = [] }) => watches)) {
      up.set({ kind }, state === "watching" ? 1 : 0);
      if (at !== undefined) lastEvent.set({ kind }, Date.parse(at) / 1_000);
    }
  };
}
