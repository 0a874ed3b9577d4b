/** Every label, annotation and taint key that Arpeggio reads or writes, once. Names of Kubernetes and MetalLB are theirs. */

export const NODE_LABELS = {
  hostname: "kubernetes.io/hostname",
  /** Its presence counts, whatever its value. */
  excludeFromLoadBalancers: "node.kubernetes.io/exclude-from-external-load-balancers",
} as const;

export const NODE_TAINTS = {
  outOfService: "node.kubernetes.io/out-of-service",
  deletedByAutoscaler: "ToBeDeletedByClusterAutoscaler",
  disruptedByKarpenter: "karpenter.sh/disrupted",
} as const;

export const NODE_ANNOTATIONS = {
  /** "true": this node's addresses move elsewhere as long as somebody else can lead them. */
  stepDown: "arpeggio.dev/step-down",
  /** "true": that this node is cordoned does not count. */
  ignoreCordon: "arpeggio.dev/ignore-cordon",
} as const;

/** What may stand there; the first is the default. */
export const NODE_ANNOTATION_VALUES = {
  [NODE_ANNOTATIONS.stepDown]: ["false", "true"],
  [NODE_ANNOTATIONS.ignoreCordon]: ["false", "true"],
} as const;

/** A returning node does not take its addresses back. */
export const STICKY_ANNOTATION = "arpeggio.dev/sticky";
/** strict: nobody answers rather than two. */
export const UNIQUENESS_ANNOTATION = "arpeggio.dev/uniqueness";

/** On an L2Advertisement: what MetalLB's has no fields for, with what may stand there; the first is the default. */
export const ADVERTISEMENT_ANNOTATIONS = {
  [STICKY_ANNOTATION]: ["false", "true"],
  [UNIQUENESS_ANNOTATION]: ["available", "strict"],
  /** What is done when a stranger has the address. */
  "arpeggio.dev/conflict-policy": ["defend", "yield"],
} as const;

/** The newer key wins by its presence, even if it is empty. */
export const SERVICE_ANNOTATIONS = {
  loadBalancerIps: "metallb.io/loadBalancerIPs",
  legacyLoadBalancerIps: "metallb.universe.tf/loadBalancerIPs",
  allowSharedIp: "metallb.io/allow-shared-ip",
  legacyAllowSharedIp: "metallb.universe.tf/allow-shared-ip",
  addressPool: "metallb.io/address-pool",
  legacyAddressPool: "metallb.universe.tf/address-pool",
  /** Written by the allocator: the pool of the addresses that the Service has. */
  allocatedFromPool: "metallb.io/ip-allocated-from-pool",
} as const;

export const POOL_ANNOTATIONS = {
  /** How long an address is kept for the name of a Service that was deleted: `90m`, `24h`, `7d`. */
  reserveFor: "arpeggio.dev/reserve-for",
} as const;

/** The condition of a Service that the allocator writes. */
export const ALLOCATED_CONDITION = "arpeggio.dev/Allocated";

export const NAMESPACE_LABELS = {
  /** Kubernetes gives it to every namespace. */
  name: "kubernetes.io/metadata.name",
} as const;

export const ENDPOINT_SLICE_LABELS = {
  serviceName: "kubernetes.io/service-name",
} as const;

/** On a ServiceL2Status, MetalLB's. */
export const L2_STATUS_LABELS = {
  node: "metallb.io/node",
  serviceName: "metallb.io/service-name",
  serviceNamespace: "metallb.io/service-namespace",
} as const;

/** On a ServiceL2Status: what its fields have no room for. */
export const L2_STATUS_ANNOTATIONS = {
  /** When this leadership began: RFC 3339 with milliseconds. */
  since: "arpeggio.dev/since",
  /** Why this node leads: a code of reasons.ts. */
  reason: "arpeggio.dev/reason",
  /** Absent when nobody was known to lead before. */
  previousNode: "arpeggio.dev/previous-node",
  /** `link=mac,…`, sorted. */
  mac: "arpeggio.dev/mac",
  /** Place among the candidates, and how many they are: `1/3`. */
  rank: "arpeggio.dev/rank",
} as const;

/** On a ConfigurationState, MetalLB's. */
export const CONFIGURATION_STATE_LABELS = {
  componentType: "metallb.io/component-type",
  nodeName: "metallb.io/node-name",
} as const;
