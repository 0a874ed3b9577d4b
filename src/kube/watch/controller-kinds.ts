/** The kinds that a controller reads, what of each is kept, and how: a table of this folder's README, which a test holds equal to this one. */
import { each, fields, keysUnder, whole } from "./keep.ts";
import { CONFIGURATION_STATES, NAMESPACES, SERVICE_METADATA, SERVICE_SPEC } from "./shared-kinds.ts";
import { kind, METALLB, metadata, OFTEN_MS, type WatchedKind } from "./watched-kind.ts";

export const CONTROLLER_KINDS = {
  services: kind(
    "Service",
    "v1",
    "services",
    fields({
      metadata: SERVICE_METADATA,
      spec: fields({
        ...SERVICE_SPEC,
        clusterIP: whole,
        loadBalancerIP: whole,
        ports: each(fields({ protocol: whole, port: whole })),
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
  namespaces: NAMESPACES,
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
  configurationState: CONFIGURATION_STATES,
} as const satisfies Readonly<Record<string, WatchedKind>>;

export type ControllerKindName = keyof typeof CONTROLLER_KINDS;
