/** The cluster's objects as a user would have made them, changed one at a time; every change gives a new snapshot. */
import type {
  AdvertisementFacts,
  ClusterSnapshot,
  EndpointSliceFacts,
  NodeFacts,
  PoolFacts,
  ServiceFacts,
} from "../../src/desired/snapshot.ts";
import { familyOf, type Ip } from "../../src/net/ip.ts";
import { parsePrefix, rangeOfPrefix } from "../../src/net/prefix.ts";
import { node as nodeFacts } from "../desired/facts.ts";

export const EXCLUDE_LABEL = "node.kubernetes.io/exclude-from-external-load-balancers";
export const OUT_OF_SERVICE_TAINT = "node.kubernetes.io/out-of-service";

export interface ServicePlan {
  readonly name: string;
  readonly addresses: readonly Ip[];
  readonly policy: "Cluster" | "Local";
  readonly isShared: boolean;
  /** Nodes with a ready endpoint. */
  readonly endpoints: readonly string[];
  /** Its addresses are of a pool whose advertisement is sticky. */
  readonly isSticky?: boolean;
}

export interface ClusterPlan {
  readonly nodes: readonly string[];
  readonly services: readonly ServicePlan[];
  /** Prefixes of the pool. */
  readonly pools: readonly string[];
  /** Its addresses are advertised as strict. */
  readonly isStrict?: true;
}

export function initialSnapshot(plan: ClusterPlan): ClusterSnapshot {
  const ranges = plan.pools.flatMap((text) => {
    const prefix = parsePrefix(text);
    return prefix === undefined ? [] : [rangeOfPrefix(prefix)];
  });
  const pool: PoolFacts = { name: "pool", createdAt: "2026-01-01T00:00:00Z", labels: {}, ranges };
  const sticky = plan.services.flatMap(({ isSticky, addresses }) => (isSticky === true ? addresses : []));
  const advertisement: AdvertisementFacts = {
    name: "advertisement",
    poolNames: [],
    poolSelectors: [],
    nodeSelectors: [],
    serviceSelectors: [],
    interfaces: [],
    preferredNodes: [],
    ...(plan.isStrict === undefined ? {} : { isStrict: true }),
  };
  return {
    source: "kubernetes",
    // Of two pools the older one has an address.
    pools: new Map([[pool.name, pool], ...(sticky.length === 0 ? [] : [["sticky", stickyPool(sticky)] as const])]),
    advertisements: new Map([
      [advertisement.name, advertisement],
      ...(sticky.length === 0
        ? []
        : [["sticky", { ...advertisement, name: "sticky", poolNames: ["sticky"], isSticky: true } as const] as const]),
    ]),
    services: new Map(plan.services.map((service, order) => [`default/${service.name}`, serviceFacts(service, order)])),
    endpointSlices: new Map(plan.services.map((service) => [`default/${service.name}-1`, sliceFacts(service)])),
    nodes: new Map(plan.nodes.map((name) => [name, nodeFacts(name)])),
    namespaces: new Map(),
  };
}

function stickyPool(addresses: readonly Ip[]): PoolFacts {
  const ranges = addresses.flatMap((ip) => parsePrefix(`${ip}/${familyOf(ip) === 4 ? 32 : 128}`) ?? []);
  return { name: "sticky", createdAt: "", labels: {}, ranges: ranges.map(rangeOfPrefix) };
}

function serviceFacts(service: ServicePlan, order: number): ServiceFacts {
  return {
    namespace: "default",
    name: service.name,
    createdAt: new Date(Date.UTC(2026, 0, 1) + 1_000 * order).toISOString(),
    labels: {},
    isLoadBalancer: true,
    addresses: service.addresses,
    externalTrafficPolicy: service.policy,
    hasSharingKey: service.isShared,
    isBeingDeleted: false,
  };
}

function sliceFacts({ name, endpoints }: ServicePlan): EndpointSliceFacts {
  return {
    namespace: "default",
    name: `${name}-1`,
    serviceName: name,
    endpoints: endpoints.map((nodeName) => ({ nodeName, ready: true, serving: true, terminating: false })),
  };
}

const REVISIONS = new WeakMap<ClusterSnapshot, number>();

/** Says which revision of the API a snapshot is: later ones have higher numbers. */
export function stampRevision(snapshot: ClusterSnapshot, revision: number): void {
  REVISIONS.set(snapshot, revision);
}

/** 0: not of a world's API server. */
export function revisionOf(snapshot: ClusterSnapshot): number {
  return REVISIONS.get(snapshot) ?? 0;
}

/** Changes one Node object; a name that is not there stays away. */
export function withNode(
  snapshot: ClusterSnapshot,
  name: string,
  change: (node: NodeFacts) => NodeFacts | undefined,
): ClusterSnapshot {
  const node = snapshot.nodes.get(name) ?? nodeFacts(name);
  const changed = change(node);
  const nodes = new Map(snapshot.nodes);
  if (changed === undefined) nodes.delete(name);
  else nodes.set(name, changed);
  return { ...snapshot, nodes };
}

export function withLabel(node: NodeFacts, key: string, isSet: boolean): NodeFacts {
  const labels = Object.fromEntries(Object.entries(node.labels).filter(([other]) => other !== key));
  return { ...node, labels: isSet ? { ...labels, [key]: "" } : labels };
}

export function withoutService(snapshot: ClusterSnapshot, service: string): ClusterSnapshot {
  const services = new Map(snapshot.services);
  services.delete(`default/${service}`);
  return { ...snapshot, services };
}

/** Every advertisement selects the nodes of these names alone. */
export function withOnlyNode(snapshot: ClusterSnapshot, ...names: readonly string[]): ClusterSnapshot {
  const nodeSelectors = names.map((name) => ({
    matchLabels: { "kubernetes.io/hostname": name },
    matchExpressions: [],
  }));
  const advertisements = [...snapshot.advertisements].map(
    ([key, facts]) => [key, { ...facts, nodeSelectors }] as const,
  );
  return { ...snapshot, advertisements: new Map(advertisements) };
}

/** Moves the endpoints of one Service. */
export function withEndpoints(snapshot: ClusterSnapshot, service: string, nodes: readonly string[]): ClusterSnapshot {
  const slices = new Map(snapshot.endpointSlices);
  const slice = slices.get(`default/${service}-1`);
  if (slice === undefined) return snapshot;
  const endpoints = nodes.map((nodeName) => ({ nodeName, ready: true, serving: true, terminating: false }));
  slices.set(`default/${service}-1`, { ...slice, endpoints });
  return { ...snapshot, endpointSlices: slices };
}
