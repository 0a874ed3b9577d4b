/** What a decoder of strangers' bytes returns: a value, or one reason from a closed set. Nothing here throws. */

export type Decoded<Value, Drop extends string> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: Drop };

export function decoded<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

export function dropped<Drop extends string>(reason: Drop): { readonly ok: false; readonly reason: Drop } {
  return { ok: false, reason };
}
