/** The kinds that a controller reads, what of each is kept, and how: a table of this folder's README, which a test holds equal to this one. */
import { each, fields, keysUnder, whole } from "./keep.ts";
import { kind, METALLB, metadata, OFTEN_MS, type WatchedKind } from "./watched-kind.ts";

export const CONTROLLER_KINDS = {
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
        clusterIP: whole,
        clusterIPs: whole,
        ipFamilies: whole,
        ipFamilyPolicy: whole,
        externalTrafficPolicy: whole,
        loadBalancerClass: whole,
        loadBalancerIP: whole,
        ports: each(fields({ protocol: whole, port: whole })),
        selector: whole,
      }),
      status: fields({ loadBalancer: fields({ ingress: whole }), conditions: whole }),
    }),
  ),
  pools: kind(
    "IPAddressPool",
    METALLB,
    "ipaddresspools",
    fields({
      metadata: metadata({ labels: whole, annotations: keysUnder("arpeggio.dev/") }),
      spec: whole,
      status: whole,
    }),
    { scope: "own", absentEveryMs: OFTEN_MS, hasLargeNumbers: true },
  ),
  namespaces: kind("Namespace", "v1", "namespaces", fields({ metadata: metadata({ labels: whole }) }), {
    isMetadataOnly: true,
  }),
  nodes: kind("Node", "v1", "nodes", fields({ metadata: metadata({}), status: fields({ addresses: whole }) })),
  pods: kind(
    "Pod",
    "v1",
    "pods",
    fields({
      metadata: metadata({ labels: whole, deletionTimestamp: whole }),
      spec: fields({ nodeName: whole }),
      status: fields({ podIP: whole, phase: whole }),
    }),
    { scope: "own" },
  ),
  reservations: kind("ConfigMap", "v1", "configmaps", fields({ metadata: metadata({}), data: whole }), {
    scope: "own",
  }),
  lease: kind(
    "Lease",
    "coordination.k8s.io/v1",
    "leases",
    fields({
      metadata: metadata({}),
      spec: fields({
        holderIdentity: whole,
        leaseDurationSeconds: whole,
        acquireTime: whole,
        renewTime: whole,
        leaseTransitions: whole,
      }),
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
} as const satisfies Readonly<Record<string, WatchedKind>>;

export type ControllerKindName = keyof typeof CONTROLLER_KINDS;
