/** One leader for every address group, the same on every node that knows the same (DESIGN D3, D5). Pure. */
import type { AddressGroup } from "../desired/group.ts";
import type { Decision, ElectionView } from "./decision.ts";
import { Electorate } from "./electorate.ts";
import { RankMemory } from "./rank-memory.ts";

/** Decides every group, in the order of the groups. `Election` comes to the same decisions a few at a time. */
export function decide(
  groups: readonly AddressGroup[],
  view: ElectionView,
  memory: RankMemory = new RankMemory(),
): readonly Decision[] {
  const electorate = new Electorate(view, memory);
  return groups.flatMap((group) => electorate.decide(group));
}
