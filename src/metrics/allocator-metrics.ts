/** Every series of the controller, once: those of pools under MetalLB's names, so that dashboards and alerts go on working. */
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { ControllerStatusDocument, PoolsDocument } from "../../api/allocator.ts";
import { createClusterSeries } from "./cluster-series.ts";

export interface AllocatorMetrics {
  /** From the documents that HTTP shows, so that /metrics cannot say another thing. */
  apply(status: ControllerStatusDocument, pools: PoolsDocument): void;
  /** Prometheus' text format, version 0.0.4. */
  text(): Promise<string>;
}

export function createAllocatorMetrics(version: string): AllocatorMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "arpeggio_build_info",
    help: "1, labelled with the version.",
    labelNames: ["version"],
    registers,
  }).set({ version }, 1);
  const ofPool = (name: string, help: string) =>
    new Gauge({ name: `metallb_allocator_${name}`, help, labelNames: ["pool"], registers });
  const total = ofPool("addresses_total", "Addresses of the pool that may be given, or are.");
  const total4 = ofPool("ipv4_addresses_total", "Of those IPv4.");
  const total6 = ofPool("ipv6_addresses_total", "Of those IPv6.");
  const used = ofPool("addresses_in_use_total", "Addresses of the pool that Services have, each once.");
  const used4 = ofPool("ipv4_addresses_in_use_total", "Of those IPv4.");
  const used6 = ofPool("ipv6_addresses_in_use_total", "Of those IPv6.");
  const services = ofPool("services_allocated_total", "Services that have addresses of the pool.");
  const pending = new Gauge({
    name: "arpeggio_allocator_pending_services",
    help: "Services that something they ask for is missing for.",
    registers,
  });
  const others = new Gauge({
    name: "arpeggio_allocator_other_allocators",
    help: "Pods of MetalLB's controller in the namespace: while there are any nothing is allocated.",
    registers,
  });
  const problems = new Gauge({
    name: "arpeggio_source_problems",
    help: "Objects or files of the source that cannot be used as they are.",
    labelNames: ["kind"],
    registers,
  });
  const applyCluster = createClusterSeries(registry);
  const ofPools = [total, total4, total6, used, used4, used6, services];
  return {
    apply: (status, { items }) => {
      for (const series of ofPools) series.reset();
      for (const { name: pool, assignedIPv4, assignedIPv6, availableIPv4, availableIPv6, services: count } of items) {
        const [in4, in6] = [Number(assignedIPv4), Number(assignedIPv6)];
        const [all4, all6] = [in4 + Number(availableIPv4), in6 + Number(availableIPv6)];
        total.set({ pool }, all4 + all6);
        total4.set({ pool }, all4);
        total6.set({ pool }, all6);
        used.set({ pool }, in4 + in6);
        used4.set({ pool }, in4);
        used6.set({ pool }, in6);
        services.set({ pool }, count);
      }
      applyCluster(status);
      pending.set(status.services.pending);
      others.set(status.neighbours?.otherAllocators.length ?? 0);
      problems.set({ kind: status.source.kind }, status.source.problems.length);
    },
    text: () => registry.metrics(),
  };
}
