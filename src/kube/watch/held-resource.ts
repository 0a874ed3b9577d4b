/** An object of a kind that decides, as it counts: what is good of it now, else what was, and a sentence where it is refused. Pure. */
import { annotationProblems } from "../../desired/annotation-problems.ts";
import { lastGood } from "../../desired/last-good.ts";
import { fieldOf, type ResourceReader, readResource } from "../../desired/resource-readers.ts";
import type { SnapshotChange } from "../../desired/snapshot-difference.ts";
import type { ObjectIdentity } from "../watched.ts";
import type { ReadValue } from "./object-store.ts";
import type { WatchedKind } from "./watched-kind.ts";

export interface HeldResource {
  /** Absent: nothing of it counts. */
  readonly change?: SnapshotChange;
  /** Why it is refused, if it is. */
  readonly sentence?: string;
  /** What is wrong with it though it counts: annotations whose default stands. */
  readonly remarks?: readonly string[];
  /** Of a pool that is not refused: its entries as written, one for each of its ranges. */
  readonly entries?: readonly string[];
}

/** A Service of another type is known by name only. */
const NOTHING: HeldResource = {};

/** `remembered`: the good form that a former process knew of the same object (by uid). */
export function heldResourceReader(
  kind: WatchedKind,
  reader: ResourceReader,
  remembered: (identity: ObjectIdentity) => SnapshotChange | undefined = () => undefined,
): ReadValue<HeldResource> {
  return (raw, identity, last, storeKey) => {
    // Items of a list carry neither, and metadata alone says another kind.
    const value = { ...(kind.kept.of(raw) as object), apiVersion: kind.apiVersion, kind: kind.kind };
    const spec = fieldOf(value, "spec");
    if (reader.kind === "services" && fieldOf(spec, "type") !== "LoadBalancer") return NOTHING;
    const key = reader.isKeyedByNamespace ? storeKey : identity.name;
    const { change, fault } = readResource(reader, value, key);
    const remarks = remarksOf(reader, titleOf(kind.kind, identity), value);
    if (fault === undefined) return { ...counting(change), ...entriesOf(reader, spec), ...remarks };
    const stands = lastGood(last === undefined ? remembered(identity) : last.change, change);
    const sentence = `${titleOf(kind.kind, identity)}: ${fault.sentence}${consequenceOf(reader, stands)}`;
    return { ...counting(stands), sentence, ...remarks };
  };
}

/** For sentences: `IPAddressPool metallb-system/main`. */
export function titleOf(kind: string, { namespace, name }: Pick<ObjectIdentity, "namespace" | "name">): string {
  return `${kind} ${namespace === "" ? name : `${namespace}/${name}`}`;
}

function counting(change: SnapshotChange | undefined): Pick<HeldResource, "change"> {
  return change === undefined ? {} : { change };
}

function entriesOf(reader: ResourceReader, spec: unknown): Pick<HeldResource, "entries"> {
  return reader.kind === "pools" ? { entries: fieldOf(spec, "addresses") as readonly string[] } : {};
}

function remarksOf({ kind }: ResourceReader, title: string, value: unknown): Pick<HeldResource, "remarks"> {
  const problems = annotationProblems(kind, value);
  return problems.length === 0 ? {} : { remarks: problems.map(({ sentence }) => `${title}: ${sentence}`) };
}

/** Of a pool whatever can be read counts on, which goes without saying. */
function consequenceOf({ kind }: ResourceReader, stands: SnapshotChange | undefined): string {
  if (kind === "pools") return "";
  return stands === undefined ? "; it does not count" : "; its last good form stands";
}
