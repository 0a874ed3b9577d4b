/** The kinds that are read, what of each is kept, and how: the table of this folder's README, which a test holds equal to this one. */
import { ENDPOINT_SLICE_LABELS } from "../../../api/annotations.ts";
import { each, fields, type Kept, keysUnder, whole } from "./keep.ts";

export interface WatchedKind {
  readonly kind: string;
  readonly apiVersion: string;
  /** As in paths and RBAC rules. */
  readonly resource: string;
  /** all: of every namespace, or of none. own: the speaker's namespace. */
  readonly scope: "all" | "own";
  /** Besides name, namespace, uid, creationTimestamp and resourceVersion. */
  readonly kept: Kept;
  /** Absent: listed and watched. Otherwise only listed, so often. */
  readonly listEveryMs?: number;
  readonly pageLimit: number;
  /** One object tells enough: that there are any. */
  readonly isFirstPageEnough?: true;
  /** How often the server is asked when it does not know the kind. */
  readonly absentEveryMs: number;
  /** Most clusters do not have it. */
  readonly isOptional?: true;
  /** Objects arrive without spec and status. */
  readonly isMetadataOnly?: true;
  /** What of the kind is asked for at all, if it is always the same. */
  readonly labelSelector?: string;
}

const PAGE = 500;
const SELDOM_MS = 60_000;
/** Without pools and advertisements nothing can be announced: their definitions are waited for. */
const OFTEN_MS = 5_000;
const BGP_MS = 600_000;

const OURS = keysUnder("arpeggio.dev/");
const identity = { name: whole, namespace: whole, uid: whole, creationTimestamp: whole, resourceVersion: whole };

function metadata(others: Readonly<Record<string, Kept>>): Kept {
  return fields({ ...identity, ...others });
}

function kind(
  name: string,
  apiVersion: string,
  resource: string,
  kept: Kept,
  others: Partial<WatchedKind> = {},
): WatchedKind {
  return { kind: name, apiVersion, resource, scope: "all", kept, pageLimit: PAGE, absentEveryMs: SELDOM_MS, ...others };
}

const METALLB = "metallb.io/v1beta1";

export const KINDS = {
  services: kind(
    "Service",
    "v1",
    "services",
    fields({
      metadata: metadata({
        labels: whole,
        annotations: keysUnder("arpeggio.dev/", "metallb.io/", "metallb.universe.tf/"),
        deletionTimestamp: whole,
      }),
      spec: fields({
        type: whole,
        clusterIPs: whole,
        ipFamilies: whole,
        ipFamilyPolicy: whole,
        externalTrafficPolicy: whole,
        loadBalancerClass: whole,
        ports: whole,
        selector: whole,
      }),
      status: fields({ loadBalancer: fields({ ingress: whole }) }),
    }),
  ),
  endpointSlices: kind(
    "EndpointSlice",
    "discovery.k8s.io/v1",
    "endpointslices",
    fields({
      metadata: metadata({ labels: fields({ [ENDPOINT_SLICE_LABELS.serviceName]: whole }) }),
      endpoints: each(
        fields({ nodeName: whole, conditions: fields({ ready: whole, serving: whole, terminating: whole }) }),
      ),
    }),
    { labelSelector: ENDPOINT_SLICE_LABELS.serviceName },
  ),
  nodes: kind(
    "Node",
    "v1",
    "nodes",
    fields({
      metadata: metadata({ labels: whole, annotations: OURS }),
      spec: fields({ unschedulable: whole, taints: whole }),
      status: fields({
        conditions: each(fields({ type: whole, status: whole, lastTransitionTime: whole })),
        addresses: whole,
      }),
    }),
  ),
  namespaces: kind("Namespace", "v1", "namespaces", fields({ metadata: metadata({ labels: whole }) }), {
    isMetadataOnly: true,
  }),
  pools: kind(
    "IPAddressPool",
    METALLB,
    "ipaddresspools",
    fields({ metadata: metadata({ generation: whole, labels: whole, annotations: OURS }), spec: whole }),
    { scope: "own", absentEveryMs: OFTEN_MS },
  ),
  advertisements: kind(
    "L2Advertisement",
    METALLB,
    "l2advertisements",
    fields({ metadata: metadata({ generation: whole, labels: whole, annotations: OURS }), spec: whole }),
    { scope: "own", absentEveryMs: OFTEN_MS },
  ),
  l2Statuses: kind(
    "ServiceL2Status",
    METALLB,
    "servicel2statuses",
    fields({
      metadata: metadata({ labels: whole, annotations: whole, ownerReferences: whole, deletionTimestamp: whole }),
      status: whole,
    }),
    { scope: "own" },
  ),
  configurationState: kind(
    "ConfigurationState",
    METALLB,
    "configurationstates",
    fields({ metadata: metadata({ labels: whole, ownerReferences: whole }), status: whole }),
    { scope: "own" },
  ),
  pods: kind(
    "Pod",
    "v1",
    "pods",
    fields({
      metadata: metadata({ deletionTimestamp: whole }),
      spec: fields({ nodeName: whole }),
      status: fields({ podIP: whole, phase: whole }),
    }),
    { scope: "own" },
  ),
  bgpAdvertisements: kind("BGPAdvertisement", METALLB, "bgpadvertisements", fields({ metadata: metadata({}) }), {
    scope: "own",
    listEveryMs: BGP_MS,
    absentEveryMs: BGP_MS,
    pageLimit: 1,
    isFirstPageEnough: true,
    isOptional: true,
  }),
  bgpPeers: kind("BGPPeer", "metallb.io/v1beta2", "bgppeers", fields({ metadata: metadata({}) }), {
    scope: "own",
    listEveryMs: BGP_MS,
    absentEveryMs: BGP_MS,
    pageLimit: 1,
    isFirstPageEnough: true,
    isOptional: true,
  }),
} as const satisfies Readonly<Record<string, WatchedKind>>;

export type KindName = keyof typeof KINDS;

/** Without query. */
export function pathOf({ apiVersion, resource, scope }: WatchedKind, namespace: string): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return scope === "own" ? `${root}/namespaces/${encodeURIComponent(namespace)}/${resource}` : `${root}/${resource}`;
}

/** The form that the answer is asked in. */
export function acceptOf({ isMetadataOnly }: WatchedKind, verb: "list" | "watch"): string {
  if (isMetadataOnly !== true) return "application/json";
  const form = verb === "list" ? "PartialObjectMetadataList" : "PartialObjectMetadata";
  return `application/json;as=${form};g=meta.k8s.io;v=v1`;
}
