/** The unit of election (DESIGN D3): Services joined over the addresses they share. */
import type { Ip } from "../net/ip.ts";
import type { AdvertisementFacts } from "./snapshot.ts";

export interface GroupService {
  readonly namespace: string;
  readonly name: string;
  readonly addresses: readonly Ip[];
  readonly externalTrafficPolicy: "Cluster" | "Local";
  /** The advertisements that reach this Service: of its pool, matching its labels. Never empty. */
  readonly advertisements: readonly AdvertisementFacts[];
  /** Nodes with an endpoint that is ready, and nodes whose only serving endpoints are terminating. */
  readonly readyNodes: ReadonlySet<string>;
  readonly terminatingNodes: ReadonlySet<string>;
  /** Of the ready ones under policy Local: those whose endpoint turned ready a moment ago. Absent: none. */
  readonly freshNodes?: ReadonlySet<string>;
  /** Some endpoint serves, wherever it is; with the files source a Service without any slice counts as served on every node. */
  readonly hasServingEndpoint: boolean;
  readonly isServedEverywhere: boolean;
  /** Some endpoint serves and names no node: it counts under policy Cluster only. */
  readonly hasUnplacedEndpoint: boolean;
}

export interface AddressGroup {
  /** First address of the oldest Service: what is hashed, and the group's name. */
  readonly key: Ip;
  readonly addresses: readonly Ip[];
  /** Oldest first. Never empty. */
  readonly services: readonly GroupService[];
}

/** Why an address of a Service is in no group, so that nobody stands for election. */
export type NoGroupReason =
  | "not-load-balancer"
  | "other-load-balancer-class"
  | "being-deleted"
  | "no-address"
  | "invalid-address"
  | "no-pool"
  | "not-admitted-by-pool"
  | "no-advertisement"
  | "shared-address-with-service-selector";

/** Why a Service is not announced, and by whom. */
export interface ServiceRefusal {
  readonly reason: NoGroupReason;
  /** The pool that holds its addresses. */
  readonly pool?: string;
  /** Advertisements of the pool that stand in the way, by name: whose serviceSelectors it does not match, or may not meet. */
  readonly advertisements?: readonly string[];
}

export interface RefusedService extends ServiceRefusal {
  readonly namespace: string;
  readonly name: string;
  /** Those that could be parsed. */
  readonly addresses: readonly Ip[];
}

export interface Derived {
  readonly groups: readonly AddressGroup[];
  readonly refused: readonly RefusedService[];
}
