/** Services for tests: what the API server would have filled in is filled in, from the cluster IPs. */
import { type AllocatorService, readService } from "../../src/allocator/service.ts";

export interface ServiceSpec {
  readonly type?: string;
  readonly clusterIPs?: readonly string[];
  readonly ipFamilyPolicy?: string;
  readonly ipFamilies?: readonly string[];
  readonly loadBalancerIP?: string;
  readonly loadBalancerClass?: string;
  readonly externalTrafficPolicy?: string;
  readonly ports?: readonly { readonly protocol?: string; readonly port: number }[];
  readonly selector?: Readonly<Record<string, string>>;
}

export interface ServiceOptions {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly createdAt?: string;
  readonly resourceVersion?: string;
  readonly isBeingDeleted?: boolean;
  /** `status.loadBalancer.ingress`: an address, or an entry as written. */
  readonly ingress?: readonly (string | object)[];
  readonly conditions?: readonly object[];
}

export const IPV4_ONLY: ServiceSpec = { clusterIPs: ["10.96.0.1"] };
export const IPV6_ONLY: ServiceSpec = { clusterIPs: ["fd00:96::1"], ipFamilies: ["IPv6"] };
export const DUAL: ServiceSpec = { clusterIPs: ["10.96.0.1", "fd00:96::1"], ipFamilies: ["IPv4", "IPv6"] };
export const REQUIRES: ServiceSpec = { ...DUAL, ipFamilyPolicy: "RequireDualStack" };
export const PREFERS: ServiceSpec = { ...DUAL, ipFamilyPolicy: "PreferDualStack" };

export function resource(name: string, spec: ServiceSpec = IPV4_ONLY, options: ServiceOptions = {}): object {
  const { namespace = "default", labels = {}, annotations = {}, createdAt = "2026-01-01T00:00:00Z" } = options;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name,
      namespace,
      uid: `uid-${namespace}-${name}`,
      resourceVersion: options.resourceVersion ?? "1",
      labels,
      annotations,
      creationTimestamp: createdAt,
      ...(options.isBeingDeleted === true ? { deletionTimestamp: "2026-01-02T00:00:00Z" } : {}),
    },
    spec: {
      type: "LoadBalancer",
      ports: [{ protocol: "TCP", port: 80 }],
      selector: { app: name },
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      ...spec,
    },
    status: {
      loadBalancer: {
        ingress: (options.ingress ?? []).map((entry) => (typeof entry === "string" ? { ip: entry } : entry)),
      },
      conditions: options.conditions ?? [],
    },
  };
}

export function service(name: string, spec?: ServiceSpec, options?: ServiceOptions): AllocatorService {
  const read = readService(resource(name, spec, options));
  if (read === undefined) throw new Error(`no Service: ${name}`);
  return read;
}
