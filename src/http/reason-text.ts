/** What the words of api/reasons.ts mean, for a person who reads /status. Pure. */
import type { AddressReason, LeadReason, TierReason } from "../../api/reasons.ts";

const REASON_TEXT: Readonly<Record<AddressReason | LeadReason | TierReason, string>> = {
  "only-candidate": "no other node may lead it",
  "best-tier": "the other candidates are in a worse tier",
  sticky: "the address is sticky: who holds it keeps it while nobody is in a better tier",
  "preferred-node": "an advertisement prefers this node",
  "ready-endpoint": "it has a ready endpoint, the others only terminating ones",
  "lowest-hash": "several nodes are equal in all else; this one has the lowest hash",
  "no-members": "no speaker is alive",
  "not-ready":
    "the speaker has not read its sources, opened its sockets or met its peers (gossip off: the Node is not Ready)",
  excluded: "label node.kubernetes.io/exclude-from-external-load-balancers",
  "out-of-service": "taint node.kubernetes.io/out-of-service",
  "no-node-object": "there is no Node object of this name",
  "not-selected": "no advertisement selects the node",
  "no-local-endpoint": "externalTrafficPolicy is Local and no endpoint on the node serves",
  "endpoint-without-node": "externalTrafficPolicy is Local, and an endpoint that serves says not on which node it is",
  "no-serving-endpoint": "no endpoint of the Service serves",
  "network-unavailable": "the node's network is unavailable",
  "not-common-to-group": "not every Service of the group may be led there",
  settling: "it joined or came back less than 10 s ago",
  damped: "it restarted or was lost too often lately",
  "link-returning": "its link was down a short time ago, or too often lately",
  cordoned: "the node is cordoned or about to be removed",
  "stepping-down": "it was asked to step down",
  "no-usable-link": "no usable link of the node holds the address",
  leaving: "the speaker is shutting down",
  "not-load-balancer": "the Service is not of type LoadBalancer",
  "other-load-balancer-class": "the Service has another loadBalancerClass",
  "being-deleted": "the Service is being deleted",
  "no-address": "the Service has no address",
  "invalid-address": "the Service's address is no IP address",
  "no-pool": "no pool holds the address",
  "not-admitted-by-pool": "the pool's serviceAllocation does not admit the Service",
  "no-advertisement": "no L2Advertisement reaches the address",
  orphan: "the node that is elected does not lead it in its own eyes; this one comes next",
  "other-leader": "another node leads it in its eyes",
  "unknown-address": "it has no Service with the address",
  "views-differ": "another node's better claim keeps it silent",
  "no-link": "it has no link to answer on",
  "no-lease": "the address is strict, and most of the expected speakers do not grant it",
  silent: "it says nothing, and does not answer for the address",
  "shared-address-with-service-selector": "the address is shared, and an advertisement selects Services by label",
};

/** For a word that came from another node, which may be of a later version. */
export function foreignReasonText(reason: string): string {
  return reason in REASON_TEXT ? `${reason}: ${REASON_TEXT[reason as keyof typeof REASON_TEXT]}` : reason;
}

export function reasonText(reason: AddressReason | TierReason): string {
  return REASON_TEXT[reason];
}
