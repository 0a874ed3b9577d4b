/** Speakers that do not follow MetalLB's rule beside its own: each for a part of invariant 14. */
import { Council } from "../../speaker/council.ts";
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import type { Mutant } from "./mutants.ts";

function withoutNode(snapshot: ClusterSnapshot, name: string): ClusterSnapshot {
  return { ...snapshot, nodes: new Map([...snapshot.nodes].filter(([other]) => other !== name)) };
}

export const MIXED_MUTANTS: readonly Mutant[] = [
  {
    name: "does not count members without metadata",
    invariant: 14,
    scenario: "mixed",
    seed: 1,
    speaker: ({ council }) => {
      Object.defineProperty(council, "rule", {
        get: () => ({ ...Reflect.get(Council.prototype, "rule", council), rule: "arpeggio-1" }),
      });
    },
  },
  {
    name: "leaves out a node that MetalLB would choose",
    invariant: 14,
    scenario: "mixed",
    seed: 1,
    speaker: ({ council }) => {
      council.applySnapshot = (snapshot, announced, nowMs) =>
        Council.prototype.applySnapshot.call(council, withoutNode(snapshot, "n2"), announced, nowMs);
    },
  },
];
