/**
 * What Nodes, endpoints and Services can say that moves an address, or takes it away, each once: `hack/readme.ts signals` makes
 * docs/signals.md from it, and each row has its test on the wire. Tiers are those of an address's candidates, 1 is best.
 */
import { NODE_ANNOTATIONS, NODE_LABELS, NODE_TAINTS } from "./annotations.ts";

export interface Signal {
  /** What is written, and where. */
  readonly signal: string;
  /** What the speakers make of it, as a sentence. */
  readonly effect: string;
  /** From the event's arrival to the first frame of who answers then; absent: nothing moves. */
  readonly withinSeconds?: number;
}

const code = (text: string): string => `\`${text}\``;

export const SIGNALS: readonly Signal[] = [
  {
    signal: `Node ${code("spec.unschedulable")} (${code("kubectl cordon")}), taint ${code(NODE_TAINTS.deletedByAutoscaler)} or ${code(NODE_TAINTS.disruptedByKarpenter)}`,
    effect: `The node stands behind all that are not cordoned (tier 3). With all nodes cordoned nothing moves. ${code("--ignore-cordon")} on the speaker, or the Node's annotation ${code(`${NODE_ANNOTATIONS.ignoreCordon}: "true"`)}, turns it off.`,
    withinSeconds: 1,
  },
  {
    signal: `Node annotation ${code(`${NODE_ANNOTATIONS.stepDown}: "true"`)}, or ${code("POST /step-down")} on the node`,
    effect:
      "The same (tier 3), until it is removed. Of either annotation another value than true or false is named in `/status`, and asks for nothing.",
    withinSeconds: 1,
  },
  {
    signal: `Node label ${code(NODE_LABELS.excludeFromLoadBalancers)}, whatever its value`,
    effect: `The node is no candidate, and stops at once. ${code("--ignore-exclude-lb")} turns it off.`,
    withinSeconds: 1,
  },
  {
    signal: `Node condition ${code("NetworkUnavailable")} is True`,
    effect: "The node is the last resort (tier 4); beside MetalLB's speakers it is no candidate.",
    withinSeconds: 1,
  },
  {
    signal: `Node condition ${code("Ready")} is False or Unknown`,
    effect:
      "Nothing, while its speaker lives in gossip: the API server must not move addresses. With gossip off the node is no candidate, at once.",
  },
  {
    signal: `Node taint ${code(NODE_TAINTS.outOfService)}; Node deleted; speaker without Node`,
    effect: "The node is no candidate.",
    withinSeconds: 1,
  },
  {
    signal: `Service with ${code("externalTrafficPolicy: Local")}: the last ready endpoint on the leader's node is terminating, but still serves`,
    effect: "Nodes with a ready endpoint come first, so that the address is gone before the pod is.",
    withinSeconds: 1,
  },
  {
    signal: `Service with ${code("externalTrafficPolicy: Local")}: an endpoint turns ready on a node that had none`,
    effect:
      "For 2 s the node comes after those that serve already, because its kube-proxy may have no rule yet; where nobody serves it leads at once.",
    withinSeconds: 3,
  },
  {
    signal: "No endpoint serves; under policy Local: none on the node",
    effect: "Nobody answers; under Local the node is no candidate.",
    withinSeconds: 1,
  },
  {
    signal: `Endpoint without ${code("nodeName")}`,
    effect: "Counts for policy Cluster, not for Local.",
  },
  {
    signal: `Service ${code("loadBalancerClass")} other than ${code("--lb-class")}`,
    effect: "The Service is ignored: no announcement, event or status.",
    withinSeconds: 1,
  },
  {
    signal: `Namespace, its labels, or the Service's labels are not admitted by the pool's ${code("serviceAllocation")}`,
    effect: "The Service is not announced; beside MetalLB's speakers, which do not look, it is.",
    withinSeconds: 1,
  },
  {
    signal: "Speaker ends (SIGTERM: rollout, drain of its pod, shutdown)",
    effect: "Behind everybody (tier 5); it answers on until the next leader was heard, and then ends.",
    withinSeconds: 1,
  },
];
