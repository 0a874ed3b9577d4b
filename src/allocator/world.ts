/** All that a decision about one Service depends on besides the Service and the book. */
import { admits } from "../desired/pool-admission.ts";
import type { NamespaceFacts } from "../desired/snapshot.ts";
import type { Family, Ip } from "../net/ip.ts";
import type { NodeAddresses } from "./node-addresses.ts";
import type { AllocatorPool } from "./pool.ts";
import type { PoolSet } from "./pool-set.ts";
import type { Reservations } from "./reservations.ts";
import type { AllocatorService, ServiceKey } from "./service.ts";
import type { Sharing } from "./sharing.ts";

export interface World {
  readonly pools: PoolSet;
  readonly namespaces: ReadonlyMap<string, NamespaceFacts>;
  readonly nodes: NodeAddresses;
  readonly reservations: Reservations;
}

/** A Service that is about to be given addresses. */
export interface Applicant {
  readonly service: AllocatorService;
  readonly key: ServiceKey;
  readonly sharing: Sharing;
  /** Of its cluster IPs, IPv4 first. */
  readonly families: readonly Family[];
  /** Of two families one is enough. */
  readonly isOneEnough: boolean;
  /** The one it would rather have. */
  readonly primary: Family;
}

/** Addresses of one pool, IPv4 first. */
export interface Given {
  readonly addresses: readonly Ip[];
  readonly pool: AllocatorPool;
}

export function admitsService(pool: AllocatorPool, service: AllocatorService, world: World): boolean {
  return admits(pool, service, world.namespaces);
}
