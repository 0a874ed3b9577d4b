/** What stands in for a resource that is refused now, so that refusing never takes an address away (DESIGN §4). Pure. */
import { rangesOverlap } from "../net/prefix.ts";
import type { PoolFacts } from "./snapshot.ts";
import type { SnapshotChange } from "./snapshot-difference.ts";

/** The last good form; a refused pool keeps its old ranges and those it can still read. `now`: what is readable of it. */
export function lastGood(
  before: SnapshotChange | undefined,
  now: SnapshotChange | undefined,
): SnapshotChange | undefined {
  if (before?.facts === undefined) return now;
  if (before.kind !== "pools" || now?.kind !== "pools") return before;
  return { ...before, facts: { ...before.facts, ranges: unionOf(before.facts, now.facts) } };
}

function unionOf(before: PoolFacts, now: PoolFacts | undefined): PoolFacts["ranges"] {
  const added = (now?.ranges ?? []).filter(
    (range) =>
      !before.ranges.some(
        ({ first, last, family }) => family === range.family && first === range.first && last === range.last,
      ),
  );
  return [...before.ranges, ...added];
}

/** The ranges of two pools that have an address in common, the first such two by position. */
export function overlapOf(a: PoolFacts, b: PoolFacts): { readonly inA: number; readonly inB: number } | undefined {
  for (const [inA, range] of a.ranges.entries()) {
    const inB = b.ranges.findIndex((other) => rangesOverlap(range, other));
    if (inB !== -1) return { inA, inB };
  }
  return undefined;
}
