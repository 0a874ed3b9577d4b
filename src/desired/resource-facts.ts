/** Resources that passed their schema, reduced to the facts of a snapshot: the same for every source of truth. Pure. */
import {
  ENDPOINT_SLICE_LABELS,
  NODE_ANNOTATIONS,
  SERVICE_ANNOTATIONS,
  STICKY_ANNOTATION,
  UNIQUENESS_ANNOTATION,
} from "../../api/annotations.ts";
import type { EndpointSliceResource } from "../../api/endpoint-slice.ts";
import type { IPAddressPoolResource } from "../../api/ip-address-pool.ts";
import type { L2AdvertisementResource } from "../../api/l2-advertisement.ts";
import type { LabelSelectorResource } from "../../api/label-selector.ts";
import type { NamespaceResource } from "../../api/namespace.ts";
import type { NodeResource } from "../../api/node.ts";
import type { ServiceResource } from "../../api/service.ts";
import { parsePoolEntry } from "./pool-entry.ts";
import type {
  AdvertisementFacts,
  EndpointFacts,
  EndpointSliceFacts,
  LabelSelector,
  NamespaceFacts,
  NodeFacts,
  PoolAllocation,
  PoolFacts,
  ServiceFacts,
} from "./snapshot.ts";

/** What a missing `metadata.namespace` means. */
export const DEFAULT_NAMESPACE = "default";

/** Entries that cannot be read are left out; whoever validates says so. */
export function poolFacts({ metadata, spec }: IPAddressPoolResource): PoolFacts {
  const ranges = spec.addresses.flatMap((text) => {
    const entry = parsePoolEntry(text);
    return entry.ok ? [entry.value] : [];
  });
  const allocation = allocationFacts(spec.serviceAllocation);
  return {
    name: metadata.name,
    createdAt: metadata.creationTimestamp ?? "",
    labels: metadata.labels ?? {},
    ranges,
    ...(allocation === undefined ? {} : { allocation }),
  };
}

/** Undefined when only a priority is set: that is for the allocator, and every Service is admitted. */
function allocationFacts(allocation: IPAddressPoolResource["spec"]["serviceAllocation"]): PoolAllocation | undefined {
  const { namespaces = [], namespaceSelectors = [], serviceSelectors = [] } = allocation ?? {};
  if (namespaces.length + namespaceSelectors.length + serviceSelectors.length === 0) return undefined;
  return {
    namespaces,
    namespaceSelectors: namespaceSelectors.map(selectorFacts),
    serviceSelectors: serviceSelectors.map(selectorFacts),
  };
}

export function advertisementFacts({ metadata, spec }: L2AdvertisementResource): AdvertisementFacts {
  return {
    name: metadata.name,
    poolNames: spec?.ipAddressPools ?? [],
    poolSelectors: (spec?.ipAddressPoolSelectors ?? []).map(selectorFacts),
    nodeSelectors: (spec?.nodeSelectors ?? []).map(selectorFacts),
    serviceSelectors: (spec?.serviceSelectors ?? []).map(selectorFacts),
    interfaces: spec?.interfaces ?? [],
    preferredNodes: (spec?.preferredNodeSelectors ?? []).map(({ weight, preference }) => ({
      weight,
      preference: selectorFacts(preference),
    })),
    ...(isAsked(metadata.annotations?.[STICKY_ANNOTATION]) ? { isSticky: true } : {}),
    ...(metadata.annotations?.[UNIQUENESS_ANNOTATION] === "strict" ? { isStrict: true } : {}),
  };
}

/** `addresses`: where they come from depends on the source (DESIGN D2). */
export function serviceFacts({ metadata, spec }: ServiceResource, addresses: readonly string[]): ServiceFacts {
  const { allowSharedIp, legacyAllowSharedIp } = SERVICE_ANNOTATIONS;
  const annotations = metadata.annotations ?? {};
  const loadBalancerClass = spec?.loadBalancerClass;
  return {
    namespace: metadata.namespace ?? DEFAULT_NAMESPACE,
    name: metadata.name,
    createdAt: metadata.creationTimestamp ?? "",
    labels: metadata.labels ?? {},
    isLoadBalancer: spec?.type === "LoadBalancer",
    ...(typeof loadBalancerClass === "string" ? { loadBalancerClass } : {}),
    addresses,
    externalTrafficPolicy: spec?.externalTrafficPolicy === "Local" ? "Local" : "Cluster",
    hasSharingKey: allowSharedIp in annotations || legacyAllowSharedIp in annotations,
    isBeingDeleted: typeof metadata.deletionTimestamp === "string",
  };
}

/** Addresses that the Service has been given. An entry with a host name only is kept, to be refused as no address. */
export function ingressAddresses({ status }: ServiceResource): readonly string[] {
  return (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname ?? "");
}

/** Undefined for a slice that names no Service. */
export function endpointSliceFacts({ metadata, endpoints }: EndpointSliceResource): EndpointSliceFacts | undefined {
  const serviceName = metadata.labels?.[ENDPOINT_SLICE_LABELS.serviceName];
  if (serviceName === undefined) return undefined;
  return {
    namespace: metadata.namespace ?? DEFAULT_NAMESPACE,
    name: metadata.name,
    serviceName,
    endpoints: (endpoints ?? []).map(endpointFacts),
  };
}

export function namespaceFacts({ metadata }: NamespaceResource): NamespaceFacts {
  return { name: metadata.name, labels: metadata.labels ?? {} };
}

export function nodeFacts({ metadata, spec, status }: NodeResource): NodeFacts {
  return {
    name: metadata.name,
    labels: metadata.labels ?? {},
    isUnschedulable: spec?.unschedulable === true,
    taintKeys: (spec?.taints ?? []).map(({ key }) => key),
    isNetworkUnavailable: (status?.conditions ?? []).some(
      ({ type, status: is }) => type === "NetworkUnavailable" && is === "True",
    ),
    isNotReady: (status?.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is !== "True"),
    wantsStepDown: isAsked(metadata.annotations?.[NODE_ANNOTATIONS.stepDown]),
    ignoresCordon: isAsked(metadata.annotations?.[NODE_ANNOTATIONS.ignoreCordon]),
    internalIps: (status?.addresses ?? []).filter(({ type }) => type === "InternalIP").map(({ address }) => address),
  };
}

/** Another value is named (see annotation-problems.ts), and asks for nothing. */
function isAsked(annotation: string | undefined): boolean {
  return annotation === "true";
}

function endpointFacts({
  nodeName,
  conditions,
}: NonNullable<EndpointSliceResource["endpoints"]>[number]): EndpointFacts {
  const { ready, serving, terminating } = conditions ?? {};
  return {
    ...(typeof nodeName === "string" ? { nodeName } : {}),
    ...(typeof ready === "boolean" ? { ready } : {}),
    ...(typeof serving === "boolean" ? { serving } : {}),
    ...(typeof terminating === "boolean" ? { terminating } : {}),
  };
}

function selectorFacts({ matchLabels, matchExpressions }: LabelSelectorResource): LabelSelector {
  return {
    matchLabels: matchLabels ?? {},
    matchExpressions: (matchExpressions ?? []).map(({ key, operator, values }) => ({
      key,
      operator,
      values: values ?? [],
    })),
  };
}
