/** Rows that kinds.ts and controller-kinds.ts have in common. Pure. */
import { fields, keysUnder, whole } from "./keep.ts";
import { kind, METALLB, metadata } from "./watched-kind.ts";

export const SERVICE_METADATA = metadata({
  labels: whole,
  annotations: keysUnder("arpeggio.dev/", "metallb.io/", "metallb.universe.tf/"),
  deletionTimestamp: whole,
});

/** Of a Service's spec, all that both decide by. */
export const SERVICE_SPEC = {
  type: whole,
  clusterIPs: whole,
  ipFamilies: whole,
  ipFamilyPolicy: whole,
  externalTrafficPolicy: whole,
  loadBalancerClass: whole,
  selector: whole,
};

export const NAMESPACES = kind("Namespace", "v1", "namespaces", fields({ metadata: metadata({ labels: whole }) }), {
  isMetadataOnly: true,
});

export const CONFIGURATION_STATES = kind(
  "ConfigurationState",
  METALLB,
  "configurationstates",
  fields({ metadata: metadata({ labels: whole, ownerReferences: whole }), status: whole }),
  { scope: "own" },
);
