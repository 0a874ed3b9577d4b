/** That several nodes hold themselves elected, for a person. Pure. */
import type { ContestGround } from "../../api/reasons.ts";
import type { StatusDocument } from "../../api/status.ts";
import { formatTable } from "./table.ts";

export type DifferingViews = NonNullable<StatusDocument["addresses"][number]["viewsDiffer"]>;
type View = DifferingViews["views"][number];

/** Digits of a hash that tell candidates apart at a glance. */
export const HASH_DIGITS = 12;

const GROUNDS: Readonly<Record<ContestGround, { readonly name: string; readonly of: (view: View) => string }>> = {
  rule: { name: "election rule", of: ({ rule }) => rule },
  term: { name: "term", of: ({ term }) => String(term) },
  freshness: { name: "view of the API, by revision,", of: ({ freshness }) => String(freshness) },
  tier: { name: "tier", of: ({ tier }) => String(tier) },
  score: { name: "score", of: ({ score }) => String(score) },
  "endpoint-class": { name: "endpoints", of: ({ endpointClass }) => endpointClass },
  hash: { name: "hash", of: ({ hash }) => hash.slice(0, HASH_DIGITS) },
  name: { name: "name", of: ({ node }) => node },
};

/** "n1 answers, and n2 would, too, in its own view; n1's tier is the better one: 1, not 2". */
export function differingViewsSentence({ answering, decidedBy, views }: DifferingViews): string {
  const others = views.slice(1).map(({ node }) => node);
  const { name, of } = GROUNDS[decidedBy];
  const values = views.slice(0, 2).map(of).join(", not ");
  return `${answering} answers, and ${others.join(" and ")} would, too, in its own view; the ${name} of ${answering} is the better one: ${values}`;
}

export function formatViews({ views }: DifferingViews): string {
  return formatTable(
    ["VIEW OF", "RULE", "TERM", "FRESHNESS", "TIER", "SCORE", "ENDPOINTS", "HASH"],
    views.map(({ node, rule, term, freshness, tier, score, endpointClass, hash }) => [
      node,
      rule,
      String(term),
      freshness === 0 ? "-" : String(freshness),
      String(tier),
      String(score),
      endpointClass,
      hash.slice(0, HASH_DIGITS),
    ]),
  );
}
