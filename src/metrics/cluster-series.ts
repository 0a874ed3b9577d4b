/**
 * What a controller of a cluster says of its API server: whether it leads, what it reads and writes, and MetalLB's series of its own client,
 * because its alerts ask for them. With a folder there are none.
 */
import { Counter, Gauge, type Registry } from "prom-client";
import type { ControllerStatusDocument } from "../../api/allocator.ts";

export function createClusterSeries(registry: Registry): (status: ControllerStatusDocument) => void {
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const leader = gauge("arpeggio_allocator_leader", "1 while this controller holds the Lease.");
  const allocating = gauge("arpeggio_allocator_allocating", "1 while this controller gives addresses.");
  const conflicts = counter(
    "arpeggio_allocator_write_conflicts_total",
    "Writes of Services that met another version than they were decided on (HTTP 409).",
  );
  const pending = gauge(
    "arpeggio_allocator_writes_pending",
    "Writes of Services under way, or waiting for their turn.",
  );
  const updates = counter("metallb_k8s_client_updates_total", "Changes of objects that were taken in.");
  const errors = counter("metallb_k8s_client_update_errors_total", "Writes that were refused or not answered.");
  const loaded = gauge("metallb_k8s_client_config_loaded_bool", "1 once the pools were read.");
  const stale = gauge(
    "metallb_k8s_client_config_stale_bool",
    "1 while a pool or a reservation cannot be used as it is.",
  );
  const up = new Gauge({
    name: "arpeggio_kube_watch_up",
    help: "1 while the watch of this kind is open.",
    labelNames: ["kind"],
    registers,
  });
  const gauges = [leader, allocating, pending, loaded, stale];
  const counters = [conflicts, updates, errors];
  return ({ state, source, lease, writes }) => {
    up.reset();
    for (const series of [...gauges, ...counters]) series.reset();
    if (lease === undefined || writes === undefined) {
      // Without a label prom-client shows a zero.
      for (const series of [...gauges, ...counters]) series.remove();
      return;
    }
    leader.set(Number(lease.isHeld));
    allocating.set(Number(state === "allocating"));
    conflicts.inc(writes.services.conflicts);
    pending.set(writes.services.pending);
    updates.inc(source.updates ?? 0);
    errors.inc(writes.services.failed + writes.objects.failed);
    loaded.set(
      Number(source.watches?.some((watch) => watch.kind === "IPAddressPool" && watch.lastEvent !== undefined)),
    );
    stale.set(Number(source.problems.length > 0));
    for (const { kind, state: watch } of source.watches ?? []) up.set({ kind }, watch === "watching" ? 1 : 0);
  };
}
