/**
 * What the allocator is told, and what it asks for: the whole of its contract with the daemon around it. Times are wall time, because
 * reservations outlive a process.
 */
import type { NamespaceFacts } from "../desired/snapshot.ts";
import type { Ip } from "../net/ip.ts";
import type { EventText } from "./event-texts.ts";
import type { AllocatorPool, PoolNumbers } from "./pool.ts";
import type { StatusChange } from "./reconcile.ts";
import type { AllocatorService, ServiceKey } from "./service.ts";

export type AllocatorEvent =
  /** A complete list; who is not in it is gone. Of every type and class. `place`: up to which resourceVersion it is complete; what is known to be newer stands. */
  | { readonly kind: "services"; readonly services: readonly AllocatorService[]; readonly place?: string }
  /** New or changed. One that is not newer than what is known is ignored. */
  | { readonly kind: "service"; readonly service: AllocatorService }
  /** `place`: as with a list; one that is known to be newer was made again meanwhile. */
  | { readonly kind: "service-gone"; readonly key: ServiceKey; readonly place?: string }
  /** All of them, whenever one changed. */
  | { readonly kind: "pools"; readonly pools: readonly AllocatorPool[] }
  | { readonly kind: "namespaces"; readonly namespaces: ReadonlyMap<string, NamespaceFacts> }
  /** Own addresses by Node name. */
  | { readonly kind: "nodes"; readonly nodes: ReadonlyMap<string, readonly Ip[]> }
  /** Keys of the ConfigMap; empty text where it or the key is missing. */
  | { readonly kind: "reservations"; readonly reserved: string; readonly pinned: string }
  | WriteAnswer
  | Leadership;

/**
 * May decide and write, or not. It may begin only after complete lists that were read since the last time it might not. `fence`: a name of
 * this leadership that no other ever had, such as holder and transitions of the lease. With it waiting Services get a new condition first,
 * which says it, so that what is still under way from whoever wrote before fails with 409. Without: nobody wrote before.
 */
export type Leadership =
  | { readonly kind: "lead"; readonly fence?: string }
  /** Forgets what was asked for; what is known stays. */
  | { readonly kind: "stand-by" };

export type WriteAnswer = { readonly kind: "written"; readonly key: ServiceKey; readonly id: number } & (
  | { readonly answer: "done"; readonly service: AllocatorService }
  /** 409: what was written against is not the newest. */
  | { readonly answer: "conflict" }
  /** 404 */
  | { readonly answer: "gone" }
  /** Any other answer of the server that says that nothing was written, and never will be. */
  | { readonly answer: "refused" }
  /** No answer: it may have been written, or may still be. */
  | { readonly answer: "unknown" }
);

export type Effect =
  /** A patch of `services/status` with this resourceVersion, as one request; its answer is an event with this id. */
  | {
      readonly kind: "write";
      readonly id: number;
      readonly key: ServiceKey;
      readonly uid: string;
      readonly resourceVersion: string;
      readonly change: StatusChange;
    }
  /** Read the Service and tell: what is known of it is old. */
  | { readonly kind: "read-again"; readonly key: ServiceKey }
  /** Of a Service, by namespace/name, or of a pool, by name. Once per cause. */
  | {
      readonly kind: "event";
      readonly about: "Service" | "IPAddressPool";
      readonly key: string;
      readonly uid: string;
      readonly text: EventText;
    }
  /** `IPAddressPool.status`; the last one of a pool stands until it is written. */
  | { readonly kind: "pool-status"; readonly pool: string; readonly uid: string; readonly numbers: PoolNumbers }
  /** Key `reserved` of the ConfigMap; the last one stands until it is written. */
  | { readonly kind: "reserve"; readonly reserved: string };
