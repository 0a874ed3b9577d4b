/** What is new in a list and what is gone from it, by identity. Pure, and quick where two long lists differ in one place. */

export interface ListDifference<Item> {
  readonly gone: readonly Item[];
  readonly come: readonly Item[];
}

const NONE: ListDifference<never> = { gone: [], come: [] };

/** Items are objects that stand once in each list. Where they stand does not count: one that moved is neither gone nor new. */
export function listDifference<Item extends object>(
  before: readonly Item[],
  after: readonly Item[],
): ListDifference<Item> {
  if (before === after) return NONE;
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let tail = 0;
  while (tail < shorter - start && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  if (start + tail === before.length && start + tail === after.length) return NONE;
  const old = new Set(start === before.length - tail ? [] : before.slice(start, before.length - tail));
  const come: Item[] = [];
  for (let index = start; index < after.length - tail; index++) {
    const item = after[index];
    if (item !== undefined && !old.delete(item)) come.push(item);
  }
  return { gone: [...old], come };
}
