/** Why nobody announces a Service, as one sentence that names pool, node or label: what an event says. Pure. */
import type { NoGroupReason, RefusedService } from "../src/desired/group.ts";
import type { Decision, RefusalReason } from "../src/election/decision.ts";

/** An event holds about a thousand characters, and nobody reads more names. */
const NAMES_SHOWN = 10;

/** Follows "every candidate", and is followed by the names of nodes. */
const REFUSAL_PHRASE: Readonly<Record<RefusalReason, string>> = {
  "not-ready": "not ready to lead",
  "network-unavailable": "without network by condition NetworkUnavailable",
  excluded: "excluded by label node.kubernetes.io/exclude-from-external-load-balancers",
  "out-of-service": "out of service by taint node.kubernetes.io/out-of-service",
  "no-node-object": "without a Node object",
  "not-selected": "selected by no advertisement",
  "no-serving-endpoint": "without a serving endpoint",
  "no-local-endpoint": "without a serving endpoint of its own under externalTrafficPolicy Local",
  "endpoint-without-node":
    "without a serving endpoint of its own under externalTrafficPolicy Local, where an endpoint has no nodeName",
  "not-common-to-group": "unfit for another Service on the same address",
};

/** Undefined for what is none of our business: another's Service, or one that wants no address yet. */
export function refusedSentence(service: RefusedService): string | undefined {
  return REFUSED_SENTENCE[service.reason]?.(service);
}

const REFUSED_SENTENCE: Readonly<Partial<Record<NoGroupReason, (service: RefusedService) => string>>> = {
  "invalid-address": () => "status.loadBalancer.ingress has an entry that is no IP address",
  "no-pool": ({ addresses }) =>
    addresses.length === 1 ? `no pool holds ${addresses[0]}` : `no pool holds all of ${listOf(addresses)}`,
  "not-admitted-by-pool": ({ pool, namespace }) =>
    `pool ${pool} does not admit the Service: its serviceAllocation names other namespaces than ${namespace}, or other labels`,
  "no-advertisement": ({ pool, advertisements = [] }) =>
    advertisements.length === 0
      ? `no advertisement selects pool ${pool}`
      : `no advertisement of pool ${pool} selects the Service by its labels: ${listOf(advertisements)}`,
  "shared-address-with-service-selector": ({ pool, advertisements = [] }) =>
    `the address may be shared (annotation allow-shared-ip), and advertisements of pool ${pool} have serviceSelectors: ${listOf(advertisements)}`,
};

/** Of a decision without a leader. */
export function leaderlessSentence({ reason, refusals }: Pick<Decision, "reason" | "refusals">): string {
  if (reason === "no-serving-endpoint") return "no serving endpoint";
  const nodesBy = new Map<RefusalReason, string[]>();
  for (const refusal of refusals) nodesBy.set(refusal.reason, [...(nodesBy.get(refusal.reason) ?? []), refusal.node]);
  const parts = [...nodesBy].map(([why, nodes]) => `${REFUSAL_PHRASE[why]}: ${listOf(nodes)}`);
  if (parts.length === 0) return "no speaker is alive";
  return parts.length === 1 ? `every candidate ${parts[0]}` : `no candidate is left; ${parts.join("; ")}`;
}

function listOf(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN).join(", ");
  return names.length > NAMES_SHOWN ? `${shown} and ${names.length - NAMES_SHOWN} more` : shown;
}
