/** The kinds that a speaker reads, what of each is kept, and how: a table of this folder's README, which a test holds equal to this one. */
import { ENDPOINT_SLICE_LABELS } from "../../../api/annotations.ts";
import { each, fields, keysUnder, whole } from "./keep.ts";
import { CONFIGURATION_STATES, NAMESPACES, SERVICE_METADATA, SERVICE_SPEC } from "./shared-kinds.ts";
import { kind, METALLB, metadata, OFTEN_MS, type WatchedKind } from "./watched-kind.ts";

const BGP_MS = 600_000;

const OURS = keysUnder("arpeggio.dev/");

export const KINDS = {
  services: kind(
    "Service",
    "v1",
    "services",
    fields({
      metadata: SERVICE_METADATA,
      spec: fields({ ...SERVICE_SPEC, ports: whole }),
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
  namespaces: NAMESPACES,
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
  configurationState: CONFIGURATION_STATES,
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
