/** What a source of truth (Kubernetes or a folder of files) says, reduced to what `derive` needs. Plain values that survive postMessage. */
import type { Range } from "../net/prefix.ts";

export type NodeName = string;

export interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly LabelExpression[];
}

export interface LabelExpression {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values: readonly string[];
}

/** Which Services a pool is for (`spec.serviceAllocation`); both a namespace and a Service test must hold where both are set. */
export interface PoolAllocation {
  readonly namespaces: readonly string[];
  readonly namespaceSelectors: readonly LabelSelector[];
  readonly serviceSelectors: readonly LabelSelector[];
}

export interface PoolFacts {
  readonly name: string;
  /** metadata.creationTimestamp as written; where pools overlap, the oldest holds an address, and empty is the oldest. */
  readonly createdAt: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ranges: readonly Range[];
  /** Absent: for every Service. */
  readonly allocation?: PoolAllocation;
}

export interface NamespaceFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface AdvertisementFacts {
  readonly name: string;
  readonly poolNames: readonly string[];
  readonly poolSelectors: readonly LabelSelector[];
  readonly nodeSelectors: readonly LabelSelector[];
  readonly serviceSelectors: readonly LabelSelector[];
  /** Link names; empty means every link. */
  readonly interfaces: readonly string[];
  readonly preferredNodes: readonly { readonly weight: number; readonly preference: LabelSelector }[];
  /** Annotations of ours that ask for another than the default; absent: none does. */
  readonly isSticky?: true;
  readonly isStrict?: true;
}

export interface ServiceFacts {
  readonly namespace: string;
  readonly name: string;
  /** metadata.creationTimestamp as written; empty sorts first (a file without one is the oldest). */
  readonly createdAt: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly isLoadBalancer: boolean;
  readonly loadBalancerClass?: string;
  /** As written, in order; not yet parsed. With the files source the fallbacks of DESIGN D2 have been applied. */
  readonly addresses: readonly string[];
  readonly externalTrafficPolicy: "Cluster" | "Local";
  /** The allow-shared-ip annotation is present, even if empty. */
  readonly hasSharingKey: boolean;
  readonly isBeingDeleted: boolean;
}

export interface EndpointFacts {
  readonly nodeName?: string;
  /** undefined counts as true, as Kubernetes says. */
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
}

export interface EndpointSliceFacts {
  readonly namespace: string;
  readonly name: string;
  readonly serviceName: string;
  readonly endpoints: readonly EndpointFacts[];
}

export interface NodeFacts {
  readonly name: NodeName;
  readonly labels: Readonly<Record<string, string>>;
  readonly isUnschedulable: boolean;
  readonly taintKeys: readonly string[];
  readonly isNetworkUnavailable: boolean;
  /** The condition Ready says False or Unknown: counts only while gossip is off. */
  readonly isNotReady: boolean;
  readonly wantsStepDown: boolean;
  /** The annotation says that a cordon does not count. */
  readonly ignoresCordon: boolean;
  /** status.addresses of type InternalIP, as written. */
  readonly internalIps: readonly string[];
}

export type SourceKind = "kubernetes" | "files";

/** Services and slices, by key, that are others than in the snapshot before. Who has both can do without comparing them. */
export interface ChangedKeys {
  readonly services: ReadonlySet<string>;
  readonly endpointSlices: ReadonlySet<string>;
}

/** A complete reading. "Not read yet" is the absence of a snapshot, never an empty one. Keys: name, or namespace/name. */
export interface ClusterSnapshot {
  readonly source: SourceKind;
  readonly pools: ReadonlyMap<string, PoolFacts>;
  readonly advertisements: ReadonlyMap<string, AdvertisementFacts>;
  readonly services: ReadonlyMap<string, ServiceFacts>;
  readonly endpointSlices: ReadonlyMap<string, EndpointSliceFacts>;
  readonly nodes: ReadonlyMap<string, NodeFacts>;
  readonly namespaces: ReadonlyMap<string, NamespaceFacts>;
}
