/**
 * What our programs may do with the Kubernetes API: each verb is used, and none is used that is not here (a test compares with an audit
 * log). A server-side apply counts as patch. `hack/manifests` makes the roles in manifests and docs/rbac.md from it.
 */

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";

export interface Grant {
  /** Empty for the core group. */
  readonly apiGroup: string;
  readonly resources: readonly string[];
  readonly verbs: readonly Verb[];
  /** Only objects of these names; absent: of any. A `create` cannot be limited so. */
  readonly names?: readonly string[];
  /** What for, to be continued after "to". */
  readonly to: string;
}

export interface Grants {
  readonly serviceAccount: string;
  /** In every namespace. */
  readonly cluster: readonly Grant[];
  /** In our own namespace alone. */
  readonly namespace: readonly Grant[];
}

export const NAMESPACE = "metallb-system";

const METALLB = "metallb.io";

const CONFIGURATION_STATES: readonly Grant[] = [
  {
    apiGroup: METALLB,
    resources: ["configurationstates"],
    verbs: ["get", "list", "watch", "create", "patch"],
    to: "say whether the resources are valid",
  },
  {
    apiGroup: METALLB,
    resources: ["configurationstates/status"],
    verbs: ["patch"],
    to: "say whether the resources are valid",
  },
];

export const SPEAKER_GRANTS: Grants = {
  serviceAccount: "arpeggio-speaker",
  cluster: [
    {
      apiGroup: "",
      resources: ["services", "nodes", "namespaces"],
      verbs: ["list", "watch"],
      to: "know which addresses are wanted, and which nodes may lead them",
    },
    {
      apiGroup: "discovery.k8s.io",
      resources: ["endpointslices"],
      verbs: ["list", "watch"],
      to: "know which Services are served, and where",
    },
    { apiGroup: "", resources: ["events"], verbs: ["create"], to: "tell of a Service's moves in `kubectl describe`" },
  ],
  namespace: [
    { apiGroup: "", resources: ["pods"], verbs: ["list", "watch"], to: "find the other speakers" },
    {
      apiGroup: METALLB,
      resources: ["ipaddresspools", "l2advertisements"],
      verbs: ["list", "watch"],
      to: "know what to announce",
    },
    {
      apiGroup: METALLB,
      resources: ["bgpadvertisements", "bgppeers"],
      verbs: ["list"],
      to: "say aloud that BGP is not served",
    },
    {
      apiGroup: METALLB,
      resources: ["servicel2statuses"],
      verbs: ["get", "list", "watch", "create", "patch", "delete"],
      to: "say which node announces a Service",
    },
    {
      apiGroup: METALLB,
      resources: ["servicel2statuses/status"],
      verbs: ["patch"],
      to: "say which node announces a Service",
    },
    ...CONFIGURATION_STATES,
  ],
};

export const CONTROLLER_GRANTS: Grants = {
  serviceAccount: "arpeggio-controller",
  cluster: [
    {
      apiGroup: "",
      resources: ["services"],
      verbs: ["get", "list", "watch"],
      to: "know which addresses are wanted, and which are taken",
    },
    { apiGroup: "", resources: ["services/status"], verbs: ["patch"], to: "give a Service its addresses" },
    {
      apiGroup: "",
      resources: ["namespaces", "nodes"],
      verbs: ["list", "watch"],
      to: "know whom a pool admits, and which addresses are a Node's own",
    },
    { apiGroup: "", resources: ["events"], verbs: ["create"], to: "tell of it in `kubectl describe`" },
  ],
  namespace: [
    { apiGroup: "", resources: ["pods"], verbs: ["list", "watch"], to: "stand still while MetalLB's controller runs" },
    { apiGroup: METALLB, resources: ["ipaddresspools"], verbs: ["list", "watch"], to: "know what to give" },
    {
      apiGroup: METALLB,
      resources: ["ipaddresspools/status"],
      verbs: ["patch"],
      to: "say how many addresses are given and left",
    },
    {
      apiGroup: "coordination.k8s.io",
      resources: ["leases"],
      verbs: ["create"],
      to: "make the Lease that says which replica allocates",
    },
    {
      apiGroup: "coordination.k8s.io",
      resources: ["leases"],
      names: ["arpeggio-controller"],
      verbs: ["get", "list", "watch", "update"],
      to: "hold it, or wait for it",
    },
    { apiGroup: "", resources: ["secrets"], verbs: ["create"], to: "make the Secret `memberlist` if there is none" },
    {
      apiGroup: "",
      resources: ["secrets"],
      names: ["memberlist"],
      verbs: ["get", "patch"],
      to: "take it from MetalLB's Deployment, whose end would be its own; its data is not read",
    },
    { apiGroup: "", resources: ["configmaps"], verbs: ["create"], to: "make the list of reserved addresses" },
    {
      apiGroup: "",
      resources: ["configmaps"],
      names: ["arpeggio-reservations"],
      verbs: ["list", "watch", "patch"],
      to: "keep it",
    },
    ...CONFIGURATION_STATES,
  ],
};

const ADMISSION = "admissionregistration.k8s.io";

/** More for the controller, in components/takeover alone. */
export const TAKEOVER_GRANTS: Grants = {
  serviceAccount: "arpeggio-controller",
  cluster: [
    {
      apiGroup: ADMISSION,
      resources: ["validatingwebhookconfigurations"],
      names: ["metallb-webhook-configuration"],
      verbs: ["get", "delete"],
      to: "delete MetalLB's webhook when nobody answers it",
    },
    {
      apiGroup: ADMISSION,
      resources: ["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
      names: ["arpeggio-pools", "arpeggio-pool-overlaps", "arpeggio-advertisements"],
      verbs: ["get"],
      to: "know that something checks in its place",
    },
  ],
  namespace: [
    {
      apiGroup: "discovery.k8s.io",
      resources: ["endpointslices"],
      verbs: ["list"],
      to: "know whether somebody answers the webhook",
    },
  ],
};

/** The Job that makes the gossip key. A `create` cannot be limited to one name. */
export const MAKE_KEY_GRANTS: Grants = {
  serviceAccount: "arpeggio-make-key",
  cluster: [],
  namespace: [
    { apiGroup: "", resources: ["secrets"], verbs: ["create"], to: "make the Secret `memberlist` if there is none" },
  ],
};

const ASK_WHO_READS_METRICS: readonly Grant[] = [
  {
    apiGroup: "authentication.k8s.io",
    resources: ["tokenreviews"],
    verbs: ["create"],
    to: "know who asks for /metrics",
  },
  {
    apiGroup: "authorization.k8s.io",
    resources: ["subjectaccessreviews"],
    verbs: ["create"],
    to: "know whether they may read /metrics",
  },
];

/** More for both, in components/prometheus alone: who may read /metrics is the API server's to say. */
export const METRICS_GRANTS: Grants = {
  serviceAccount: "arpeggio-speaker",
  cluster: ASK_WHO_READS_METRICS,
  namespace: [],
};
export const CONTROLLER_METRICS_GRANTS: Grants = {
  serviceAccount: "arpeggio-controller",
  cluster: ASK_WHO_READS_METRICS,
  namespace: [],
};
