/**
 * JSON whose integers may be larger than a number of JavaScript holds: those are read as text. Kubernetes' int64 fields go to 2^63-1, and
 * what was rounded is refused when it is written back. Pure.
 */

/** ECMAScript's JSON.parse with source text access, which Node has and TypeScript's library does not know yet. */
type ParseWithSource = (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown;

const parseWithSource = JSON.parse as ParseWithSource;

/** Throws as JSON.parse does. */
export function parseExactJson(text: string): unknown {
  return parseWithSource(text, (_key, value, { source }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
      ? source
      : value,
  );
}
