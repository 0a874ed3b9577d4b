/** Short ways to write snapshots in tests: every field has the default that a user's YAML would get. */
import type {
  AdvertisementFacts,
  ClusterSnapshot,
  EndpointFacts,
  EndpointSliceFacts,
  LabelSelector,
  NamespaceFacts,
  NodeFacts,
  PoolFacts,
  ServiceFacts,
} from "../../src/desired/snapshot.ts";
import { parsePrefix, rangeOfPrefix } from "../../src/net/prefix.ts";

export function labels(matchLabels: Readonly<Record<string, string>>): LabelSelector {
  return { matchLabels, matchExpressions: [] };
}

export function pool(name: string, prefixes: readonly string[], facts: Partial<PoolFacts> = {}): PoolFacts {
  const ranges = prefixes.map((text) => {
    const prefix = parsePrefix(text);
    if (prefix === undefined) throw new Error(`no prefix: ${text}`);
    return rangeOfPrefix(prefix);
  });
  return { name, createdAt: "", labels: {}, ranges, ...facts };
}

export function advertisement(name: string, facts: Partial<AdvertisementFacts> = {}): AdvertisementFacts {
  return {
    name,
    poolNames: [],
    poolSelectors: [],
    nodeSelectors: [],
    serviceSelectors: [],
    interfaces: [],
    preferredNodes: [],
    ...facts,
  };
}

export function service(name: string, addresses: readonly string[], facts: Partial<ServiceFacts> = {}): ServiceFacts {
  return {
    namespace: "default",
    name,
    createdAt: "",
    labels: {},
    isLoadBalancer: true,
    addresses,
    externalTrafficPolicy: "Cluster",
    hasSharingKey: false,
    isBeingDeleted: false,
    ...facts,
  };
}

export function slice(
  serviceName: string,
  endpoints: readonly EndpointFacts[],
  name = serviceName,
): EndpointSliceFacts {
  return { namespace: "default", name, serviceName, endpoints };
}

export function node(name: string, facts: Partial<NodeFacts> = {}): NodeFacts {
  return {
    name,
    labels: { "kubernetes.io/hostname": name },
    isUnschedulable: false,
    taintKeys: [],
    isNetworkUnavailable: false,
    isNotReady: false,
    wantsStepDown: false,
    ignoresCordon: false,
    internalIps: [],
    ...facts,
  };
}

interface Contents {
  readonly source?: ClusterSnapshot["source"];
  readonly pools?: readonly PoolFacts[];
  readonly advertisements?: readonly AdvertisementFacts[];
  readonly services?: readonly ServiceFacts[];
  readonly endpointSlices?: readonly EndpointSliceFacts[];
  readonly nodes?: readonly NodeFacts[];
  readonly namespaces?: readonly NamespaceFacts[];
}

export function snapshot(contents: Contents): ClusterSnapshot {
  return {
    source: contents.source ?? "kubernetes",
    pools: new Map((contents.pools ?? []).map((facts) => [facts.name, facts])),
    advertisements: new Map((contents.advertisements ?? []).map((facts) => [facts.name, facts])),
    services: new Map((contents.services ?? []).map((facts) => [`${facts.namespace}/${facts.name}`, facts])),
    endpointSlices: new Map(
      (contents.endpointSlices ?? []).map((facts) => [`${facts.namespace}/${facts.name}`, facts]),
    ),
    nodes: new Map((contents.nodes ?? []).map((facts) => [facts.name, facts])),
    namespaces: new Map((contents.namespaces ?? []).map((facts) => [facts.name, facts])),
  };
}
