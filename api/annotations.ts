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
  /** Present with any value but "false": this node's addresses move elsewhere as long as somebody else can lead them. */
  stepDown: "arpeggio.dev/step-down",
} as const;

/** The newer key wins by its presence, even if it is empty. */
export const SERVICE_ANNOTATIONS = {
  loadBalancerIps: "metallb.io/loadBalancerIPs",
  legacyLoadBalancerIps: "metallb.universe.tf/loadBalancerIPs",
  allowSharedIp: "metallb.io/allow-shared-ip",
  legacyAllowSharedIp: "metallb.universe.tf/allow-shared-ip",
} as const;

export const ENDPOINT_SLICE_LABELS = {
  serviceName: "kubernetes.io/service-name",
} as const;
