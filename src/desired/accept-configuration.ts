/**
 * MetalLB's acceptance of a configuration, part of `metallb-1` (DESIGN D5): one that takes the pool from under an address that
 * this node announces is refused whole, and the last accepted one stands until the address is given up. Pure.
 */
import { type Ip, parseIp } from "../net/ip.ts";
import { rangeHolds } from "../net/prefix.ts";
import { hasSameValues } from "./keyed-difference.ts";
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
  const refusal = accepted === undefined || accepted === next ? undefined : orphanIn(accepted, next, announced);
  if (accepted === undefined || refusal === undefined) return { snapshot: next };
  const { pools, advertisements, nodes } = accepted;
  return { snapshot: { ...next, pools, advertisements, nodes }, refusal };
}

function orphanIn(accepted: ClusterSnapshot, next: ClusterSnapshot, announced: ReadonlySet<Ip>): string | undefined {
  // What is announced is in a pool that counts. There may be thousands, and the pools rarely change.
  if (hasSameValues(accepted.pools, next.pools)) return undefined;
  const ranges = [...next.pools.values()].flatMap((pool) => pool.ranges);
  const orphans = new Set([...announced].filter((ip) => !ranges.some((range) => rangeHolds(range, ip))));
  if (orphans.size === 0) return undefined;
  for (const { isLoadBalancer, addresses, namespace, name } of next.services.values()) {
    if (!isLoadBalancer) continue;
    const ip = addresses.map(parseIp).find((address) => address !== undefined && orphans.has(address));
    if (ip !== undefined)
      return `no pool holds ${ip} of Service ${namespace}/${name} any more, which this node announces: pools, advertisements and nodes count as they were before, until it gives the address up (election rule metallb-1)`;
  }
  return undefined;
}
