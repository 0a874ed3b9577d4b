/**
 * MetalLB's acceptance of a configuration, part of `metallb-1` (DESIGN D5): one that takes the pool from under an address that
 * this node announces is refused whole, and the last accepted one stands until the address is given up. Pure.
 */
import { type Ip, parseIp } from "../net/ip.ts";
import { rangeHolds } from "../net/prefix.ts";
import type { ClusterSnapshot } from "./snapshot.ts";

/** `next` as it counts: its Services always, its pools, advertisements and Nodes only if no announced address loses its pool. */
export function acceptConfiguration(
  accepted: ClusterSnapshot | undefined,
  next: ClusterSnapshot,
  announced: ReadonlySet<Ip>,
): ClusterSnapshot {
  if (accepted === undefined || !orphansAny(next, announced)) return next;
  const { pools, advertisements, nodes } = accepted;
  return { ...next, pools, advertisements, nodes };
}

function orphansAny(next: ClusterSnapshot, announced: ReadonlySet<Ip>): boolean {
  const ranges = [...next.pools.values()].flatMap((pool) => pool.ranges);
  for (const { isLoadBalancer, addresses } of next.services.values()) {
    if (!isLoadBalancer) continue;
    for (const text of addresses) {
      const ip = parseIp(text);
      if (ip === undefined || !announced.has(ip)) continue;
      if (!ranges.some((range) => rangeHolds(range, ip))) return true;
    }
  }
  return false;
}
