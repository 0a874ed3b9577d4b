/** Which of two claims stands (DESIGN D9): both sides compare them as sent, so both find the same winner. Pure. */
import type { ContestGround } from "../../api/reasons.ts";
import type { ClaimBasis } from "./ports.ts";

export interface Claimant {
  readonly node: string;
  readonly basis: ClaimBasis;
}

/** The older rule stands first: whoever uses it cannot know the younger one. An unknown rule is younger than ours. */
const RULES: readonly string[] = ["metallb-1", "arpeggio-1"];
/** Endpoints that are ready stand before such as only still serve or only begin to; "any" is a policy that does not tell them apart. */
const ENDPOINT_CLASSES: readonly string[] = ["ready", "any", "terminating", "fresh"];

/** In this order; the first that tells two claims apart decides. */
const GROUNDS: Readonly<Record<ContestGround, (a: Claimant, b: Claimant) => number>> = {
  rule: (a, b) => placeIn(RULES, a.basis.rule) - placeIn(RULES, b.basis.rule),
  term: (a, b) => b.basis.term - a.basis.term,
  freshness: (a, b) => compareFreshness(a.basis, b.basis),
  tier: (a, b) => a.basis.tier - b.basis.tier,
  score: (a, b) => b.basis.score - a.basis.score,
  "endpoint-class": (a, b) =>
    placeIn(ENDPOINT_CLASSES, a.basis.endpointClass) - placeIn(ENDPOINT_CLASSES, b.basis.endpointClass),
  hash: (a, b) => compareText(a.basis.hash, b.basis.hash),
  name: (a, b) => compareText(a.node, b.node),
};
const IN_ORDER = Object.entries(GROUNDS) as readonly (readonly [ContestGround, (typeof GROUNDS)[ContestGround]])[];

/** Negative when `a` wins, positive when `b` does; zero only for one node against itself. */
export function compareClaims(a: Claimant, b: Claimant): number {
  for (const [, compare] of IN_ORDER) {
    const order = compare(a, b);
    if (order !== 0) return order;
  }
  return 0;
}

export function groundOf(a: Claimant, b: Claimant): ContestGround {
  return IN_ORDER.find(([, compare]) => compare(a, b) !== 0)?.[0] ?? "name";
}

function compareFreshness(a: ClaimBasis, b: ClaimBasis): number {
  return hasComparableFreshness(a, b) ? b.freshness - a.freshness : 0;
}

/** Whether how new the views are may decide between two claims: a view of files has no revision, which 0 says. */
export function hasComparableFreshness(a: ClaimBasis, b: ClaimBasis): boolean {
  return a.freshness !== 0 && b.freshness !== 0;
}

/**
 * A claim as it counts against one that it has silenced: a winner that cannot say any more how new its view is has not lost by that
 * what it won by it.
 */
export function weighed(claim: Claimant, before: Claimant | undefined): Claimant {
  const { node, basis } = claim;
  if (before?.node !== node || basis.freshness !== 0) return { node, basis };
  return { node, basis: { ...basis, freshness: before.basis.freshness } };
}

/**
 * What is claimed against `winner` by one that it has silenced: a term that only follows the winner's, of which it has learned, wins
 * nothing back. Each would take the address from the other, in the next term every time.
 */
export function against(winner: Claimant, basis: ClaimBasis): ClaimBasis {
  return basis.term === winner.basis.term + 1 ? { ...basis, term: winner.basis.term } : basis;
}

/**
 * Whether one that hands over keeps the address against one that it has silenced, because its claim is still the better one: by an older
 * view the other would take it and give it to the next leader in its turn. Whoever wants to be rid of it is glad of anybody.
 */
export function holdsAgainst(own: Claimant, silenced: Claimant): boolean {
  return own.basis.tier <= silenced.basis.tier && compareClaims(own, silenced) < 0;
}

function placeIn(order: readonly string[], value: string): number {
  const place = order.indexOf(value);
  return place < 0 ? order.length : place;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
