/** Annotations of ours whose value is none of theirs: named, while the default stands, for half a wish must not take an address away. Pure. */
import { ADVERTISEMENT_ANNOTATIONS, NODE_ANNOTATION_VALUES } from "../../api/annotations.ts";
import { fieldOf } from "./resource-readers.ts";
import { type Fault, fault } from "./sentence.ts";
import type { SnapshotChange } from "./snapshot-difference.ts";

type Values = Readonly<Record<string, readonly string[]>>;

/** Of Services annotations are MetalLB's, and are judged where they are read. */
const VALUES: Readonly<Partial<Record<SnapshotChange["kind"], Values>>> = {
  advertisements: ADVERTISEMENT_ANNOTATIONS,
  nodes: NODE_ANNOTATION_VALUES,
};

/** One for each. `value`: the object as it came, of any form. */
export function annotationProblems(kind: SnapshotChange["kind"], value: unknown): readonly Fault[] {
  const annotations = fieldOf(fieldOf(value, "metadata"), "annotations");
  return Object.entries(VALUES[kind] ?? {}).flatMap(([key, allowed]) => {
    const found = fieldOf(annotations, key);
    if (found === undefined || (typeof found === "string" && allowed.includes(found))) return [];
    const must = `must be ${allowed.join(" or ")}; the default, ${allowed[0]}, stands`;
    return [fault(["metadata", "annotations", key], found, must)];
  });
}
