/** Objects as a cluster has them, and their paths. */
import type { MemoryObject } from "./memory-api.ts";

export const NAMESPACE = "metallb-system";
const METALLB = `/apis/metallb.io/v1beta1/namespaces/${NAMESPACE}`;

export const PATHS = {
  services: "/api/v1/services",
  endpointSlices: "/apis/discovery.k8s.io/v1/endpointslices",
  nodes: "/api/v1/nodes",
  namespaces: "/api/v1/namespaces",
  pools: `${METALLB}/ipaddresspools`,
  advertisements: `${METALLB}/l2advertisements`,
  l2Statuses: `${METALLB}/servicel2statuses`,
  configurationStates: `${METALLB}/configurationstates`,
  bgpAdvertisements: `${METALLB}/bgpadvertisements`,
  pods: `/api/v1/namespaces/${NAMESPACE}/pods`,
} as const;

export function service(name: string, ip?: string, others: Readonly<Record<string, unknown>> = {}): MemoryObject {
  return {
    metadata: { name, namespace: "default", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { type: "LoadBalancer", externalTrafficPolicy: "Cluster", ...others },
    status: { loadBalancer: ip === undefined ? {} : { ingress: [{ ip }] } },
  };
}

export function slice(name: string, serviceName: string, nodeName: string): MemoryObject {
  return {
    metadata: { name, namespace: "default", labels: { "kubernetes.io/service-name": serviceName } },
    endpoints: [
      { addresses: ["198.51.100.1"], nodeName, conditions: { ready: true, serving: true, terminating: false } },
    ],
  };
}

export function node(name: string): MemoryObject {
  return { metadata: { name, labels: { "kubernetes.io/hostname": name } }, spec: {}, status: {} };
}

export function pool(name: string, addresses: readonly unknown[], createdAt = "2026-01-01T00:00:00Z"): MemoryObject {
  return { metadata: { name, namespace: NAMESPACE, creationTimestamp: createdAt }, spec: { addresses } };
}

export function advertisement(name: string, spec: Readonly<Record<string, unknown>> = {}): MemoryObject {
  return { metadata: { name, namespace: NAMESPACE }, spec };
}
