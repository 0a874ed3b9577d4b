/**
 * What our programs may do with the Kubernetes API: each verb is used, and none is used that is not here (a test compares with an audit
 * log). A server-side apply counts as patch. `hack/manifests` makes the roles in manifests/base/rbac.yaml and docs/rbac.md from it.
 */

export type Verb = "get" | "list" | "watch" | "create" | "patch" | "delete";

export interface Grant {
  /** Empty for the core group. */
  readonly apiGroup: string;
  readonly resources: readonly string[];
  readonly verbs: readonly Verb[];
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

/** More for the speaker, in components/prometheus alone: who may read /metrics is the API server's to say. */
export const METRICS_GRANTS: Grants = {
  serviceAccount: "arpeggio-speaker",
  cluster: [
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
  ],
  namespace: [],
};
