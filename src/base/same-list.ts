/** Whether two lists hold the same items, by identity, in the same order. Pure. */
export function isSameList<Item>(a: readonly Item[], b: readonly Item[]): boolean {
  return a === b || (a.length === b.length && a.every((item, index) => item === b[index]));
}
