/** Links of this node on one segment, as /status says it of the one that is silent. Pure. */
import type { SharedSegment } from "../src/announcer/plan.ts";

/** Sentences by the index of the silent link. `nameOf`: of a link's index. */
export function segmentProblems(
  shared: readonly SharedSegment[],
  nameOf: (linkIndex: number) => string,
): ReadonlyMap<number, readonly string[]> {
  return new Map(
    shared.map(({ linkIndex, silentLinkIndex }) => [
      silentLinkIndex,
      [`is on one segment with ${nameOf(linkIndex)}, which answers in its place where both may`],
    ]),
  );
}
