/** Which of two claims stands (DESIGN D9): both sides compare them as sent, so both find the same winner. Pure. */
import type { ClaimBasis } from "./ports.ts";

export interface Claimant {
  readonly node: string;
  readonly basis: ClaimBasis;
}

/** The older rule stands first: whoever uses it cannot know the younger one. An unknown rule is younger than ours. */
const RULES: readonly string[] = ["metallb-1", "arpeggio-1"];
/** Endpoints that are ready stand before such as only still serve or only begin to; "any" is a policy that does not tell them apart. */
const ENDPOINT_CLASSES: readonly string[] = ["ready", "any", "terminating", "fresh"];

/** Negative when `a` wins, positive when `b` does; zero only for one node against itself. */
export function compareClaims(a: Claimant, b: Claimant): number {
  return (
    placeIn(RULES, a.basis.rule) - placeIn(RULES, b.basis.rule) ||
    b.basis.term - a.basis.term ||
    compareFreshness(a.basis.freshness, b.basis.freshness) ||
    a.basis.tier - b.basis.tier ||
    b.basis.score - a.basis.score ||
    placeIn(ENDPOINT_CLASSES, a.basis.endpointClass) - placeIn(ENDPOINT_CLASSES, b.basis.endpointClass) ||
    compareText(a.basis.hash, b.basis.hash) ||
    compareText(a.node, b.node)
  );
}

/** 0 says "not comparable": a view of files has no revision. */
function compareFreshness(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : b - a;
}

/** Whether how new the views are may decide between two claims. */
export function hasComparableFreshness(a: ClaimBasis, b: ClaimBasis): boolean {
  return a.freshness !== 0 && b.freshness !== 0;
}

function placeIn(order: readonly string[], value: string): number {
  const place = order.indexOf(value);
  return place < 0 ? order.length : place;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
