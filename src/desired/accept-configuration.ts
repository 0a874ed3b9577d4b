/**
 * MetalLB's acceptance of a configuration, part of `metallb-1` (DESIGN D5): one that takes the pool from under an address that
 * this node announces is refused whole, and the last accepted one stands until the address is given up. Pure.
 */
import { type Ip, parseIp } from "../net/ip.ts";
import { rangeHolds } from "../net/prefix.ts";
import type { ClusterSnapshot } from "./snapshot.ts";

export interface Acceptance {
  /** What counts: Services and endpoints always as they were read. */
  readonly snapshot: ClusterSnapshot;
  /** A sentence, when pools, advertisements and Nodes still count as they were accepted before. */
  readonly refusal?: string;
}

export function acceptConfiguration(
  accepted: ClusterSnapshot | undefined,
  next: ClusterSnapshot,
  announced: ReadonlySet<Ip>,
): Acceptance {
  const refusal = accepted === undefined || accepted === next ? undefined : orphanIn(next, announced);
  if (accepted === undefined || refusal === undefined) return { snapshot: next };
  const { pools, advertisements, nodes } = accepted;
  return { snapshot: { ...next, pools, advertisements, nodes }, refusal };
}

function orphanIn(next: ClusterSnapshot, announced: ReadonlySet<Ip>): string | undefined {
  const ranges = [...next.pools.values()].flatMap((pool) => pool.ranges);
  for (const { isLoadBalancer, addresses, namespace, name } of next.services.values()) {
    if (!isLoadBalancer) continue;
    for (const text of addresses) {
      const ip = parseIp(text);
      if (ip === undefined || !announced.has(ip)) continue;
      if (!ranges.some((range) => rangeHolds(range, ip)))
        return `no pool holds ${ip} of Service ${namespace}/${name} any more, which this node announces: pools, advertisements and nodes count as they were before, until it gives the address up (election rule metallb-1)`;
    }
  }
  return undefined;
}
