/** From decisions to what this node does on the wire (DESIGN D8). Pure. */
import type { ClaimBasis, Duty } from "../src/announcer/ports.ts";
import { anySelectorMatches, type Labels } from "../src/desired/selectors.ts";
import type { NodeName } from "../src/desired/snapshot.ts";
import type { Candidate, Decision } from "../src/election/decision.ts";
import type { Ip } from "../src/net/ip.ts";
import type { LeadershipByIp } from "./leadership.ts";

export interface DutyView {
  readonly self: NodeName;
  /** Own incarnation in gossip, part of every claim. */
  readonly incarnation: number;
  readonly leadership: LeadershipByIp;
  /** Addresses this node answers for now, as leader or until the new leader shows itself. */
  readonly answering: ReadonlySet<Ip>;
  /** A death verdict about this node was refuted: others have taken over, so nothing is handed over, it stops at once. */
  readonly wasReplaced: boolean;
  /** Labels of the own Node: an advertisement that does not select this node names no links for it. */
  readonly ownLabels: Labels;
  /** Members with a word of their own, alive or suspect: they send and read claims. */
  readonly isOurs: (node: NodeName) => boolean;
}

/** A decision names its best candidates only; whoever is not among them claims nothing. */
const LAST_CANDIDATE: Omit<Candidate, "node"> = { tier: 5, score: 0, endpointClass: "any", hash: "f".repeat(64) };

export function dutiesOf(decisions: readonly Decision[], view: DutyView): Duty[] {
  return decisions.flatMap((decision) => {
    // Refused (no endpoint, excluded, not selected, no member): an ineligible node stops at once.
    if (decision.refusals.some(({ node }) => node === view.self)) return [];
    const own = decision.candidates.find(({ node }) => node === view.self) ?? LAST_CANDIDATE;
    return decision.group.addresses.flatMap((ip) => dutyOf(ip, decision, own, view) ?? []);
  });
}

function dutyOf(ip: Ip, decision: Decision, own: Omit<Candidate, "node">, view: DutyView): Duty | undefined {
  const { leader, second, group } = decision;
  const base = {
    ip,
    group: group.key,
    interfaces: interfacesOf(decision, view.ownLabels),
    basis: basisOf(decision, own, view),
  };
  const secondField = second === undefined ? {} : { second };
  if (leader === view.self) {
    const previous = view.leadership.get(ip)?.previousLeader;
    const claimsTo = previous !== undefined && previous !== view.self && view.isOurs(previous);
    return { ...base, ...secondField, role: "lead", ...(claimsTo ? { previousLeader: previous } : {}) };
  }
  if (leader !== undefined && view.answering.has(ip) && !view.wasReplaced) {
    const nextLeader = { node: leader, sendsClaims: view.isOurs(leader) };
    return { ...base, ...secondField, role: "moved", nextLeader };
  }
  return second === view.self ? { ...base, ...secondField, role: "second" } : undefined;
}

/** Union over the advertisements that reach the group and select this node; one that names no link allows every link. */
function interfacesOf({ group }: Decision, labels: Labels): readonly string[] {
  const advertisements = group.services
    .flatMap((service) => service.advertisements)
    .filter(({ nodeSelectors }) => anySelectorMatches(nodeSelectors, labels));
  if (advertisements.some(({ interfaces }) => interfaces.length === 0)) return [];
  return [...new Set(advertisements.flatMap(({ interfaces }) => interfaces))].toSorted();
}

function basisOf({ rule }: Decision, own: Omit<Candidate, "node">, { incarnation }: DutyView): ClaimBasis {
  const { tier, score, endpointClass, hash } = own;
  // Terms belong to sticky addresses and freshness to the Kubernetes source: both 0 until they exist.
  return { incarnation, rule, term: 0, freshness: 0, tier, score, endpointClass, hash };
}
