/** Speakers with one fault in what they remember of sticky addresses: each for invariant 16. */
import { Holding } from "../../speaker/holding.ts";
import type { Mutant } from "./mutants.ts";

export const STICKY_MUTANTS: readonly Mutant[] = [
  {
    name: "hears of no holder, and takes back what it would lead",
    invariant: 16,
    scenario: "sticky",
    seed: 1,
    speaker: ({ council }) => {
      council.holding.hear = () => false;
    },
  },
  {
    name: "takes over in the old term",
    invariant: 16,
    scenario: "sticky",
    seed: 1,
    speaker: ({ council }) => {
      council.holding.hold = (decisions, answering, nowMs) => {
        const late = decisions.map((decision) =>
          decision.sticky === undefined
            ? decision
            : { ...decision, sticky: { ...decision.sticky, term: Math.max(1, decision.sticky.term - 1) } },
        );
        return Holding.prototype.hold.call(council.holding, late, answering, nowMs);
      };
    },
  },
];
