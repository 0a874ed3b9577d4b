/** What differs between two maps of facts. Objects, not equal ones: whoever patches a snapshot keeps what did not change. Pure. */

/** Keys that are new, gone, or of another object than before. */
export function changedKeys<Value>(before: ReadonlyMap<string, Value>, after: ReadonlyMap<string, Value>): string[] {
  if (before === after) return [];
  const changed: string[] = [];
  let kept = 0;
  for (const [key, value] of after) {
    const known = before.get(key);
    if (known !== undefined) kept++;
    if (known !== value) changed.push(key);
  }
  if (kept < before.size) for (const key of before.keys()) if (!after.has(key)) changed.push(key);
  return changed;
}

export function hasSameValues<Value>(a: ReadonlyMap<string, Value>, b: ReadonlyMap<string, Value>): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [key, value] of b) if (a.get(key) !== value) return false;
  return true;
}
