/**
 * The value that was first given with an equal key, in place of this one: thousands that are equal are one object then. No answer
 * changes by it. `kept`: with so many different ones in `known` it begins anew, for such are hardly shared. Pure, but for `known`.
 */
export function shared<Value>(
  known: Map<string, Value>,
  key: string,
  value: Value,
  kept = Number.POSITIVE_INFINITY,
): Value {
  const same = known.get(key);
  if (same !== undefined) return same;
  if (known.size >= kept) known.clear();
  known.set(key, value);
  return value;
}
