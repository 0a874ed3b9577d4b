/** Annotations of ours whose value is none of theirs: named, while the default stands, for half a wish must not take an address away. Pure. */
import { ADVERTISEMENT_ANNOTATIONS } from "../../api/annotations.ts";
import { fault } from "./sentence.ts";

/** Of an L2Advertisement, a sentence each. `annotations`: as they came, of any form. */
export function annotationProblems(annotations: unknown): readonly string[] {
  if (typeof annotations !== "object" || annotations === null) return [];
  const values = new Map(Object.entries(annotations));
  return Object.entries(ADVERTISEMENT_ANNOTATIONS).flatMap(([key, allowed]: [string, readonly string[]]) => {
    const value: unknown = values.get(key);
    if (value === undefined || (typeof value === "string" && allowed.includes(value))) return [];
    const must = `must be ${allowed.join(" or ")}; the default, ${allowed[0]}, stands`;
    return [fault(["metadata", "annotations", key], value, must).sentence];
  });
}
