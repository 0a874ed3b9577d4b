/**
 * Two sides of a healed partition meet, and only the smaller settles (DESIGN D3): by members, then by not holding the lowest
 * name. The other side is heard of piece by piece; ours is the smaller as soon as theirs has grown past it, and a tie is judged
 * only when theirs has as many: then either all of it is known, or it is the larger anyway. Pure.
 */
import type { NodeName } from "../desired/snapshot.ts";

/** How long newcomers count as one other side: pieces of it arrive by gossip. */
export const MERGE_MS = 10_000;

export interface Merge {
  readonly begunMs: number;
  readonly ours: readonly NodeName[];
  readonly theirs: readonly NodeName[];
  readonly isOursSmaller: boolean;
}

/** `side`: our members before the newcomers came, ourselves among them. Undefined while nobody meets anybody. */
export function mergeOf(
  merge: Merge | undefined,
  side: readonly NodeName[],
  newcomers: readonly NodeName[],
  nowMs: number,
): Merge | undefined {
  const running = merge !== undefined && nowMs < merge.begunMs + MERGE_MS ? merge : undefined;
  if (newcomers.length === 0) return running;
  const ours = running?.ours ?? side;
  const theirs = [...new Set([...(running?.theirs ?? []), ...newcomers])].filter((name) => !ours.includes(name));
  return { begunMs: running?.begunMs ?? nowMs, ours, theirs, isOursSmaller: isSmaller(ours, theirs) };
}

function isSmaller(ours: readonly NodeName[], theirs: readonly NodeName[]): boolean {
  if (ours.length !== theirs.length) return ours.length < theirs.length;
  return lowestOf(theirs) < lowestOf(ours);
}

function lowestOf(names: readonly NodeName[]): NodeName {
  return names.reduce((lowest, name) => (name < lowest ? name : lowest));
}
