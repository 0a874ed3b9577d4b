/**
 * A snapshot on its way to the wire thread (DESIGN D16): differences in messages small enough that neither thread stalls on one,
 * applied all together at the end mark. Plain values for postMessage. Pure, but for the receiver's own state.
 */
import { isDeepStrictEqual } from "node:util";
import { SharedFacts } from "./shared-facts.ts";
import type { ChangedKeys, ClusterSnapshot } from "./snapshot.ts";

export const MESSAGE_OBJECTS = 500;
export const MESSAGE_BYTES = 256 * 1_024;

/** The kinds of a snapshot. */
export const SNAPSHOT_KINDS = ["pools", "advertisements", "services", "endpointSlices", "nodes", "namespaces"] as const;
type Kind = (typeof SNAPSHOT_KINDS)[number];
type Facts<K extends Kind> = ClusterSnapshot[K] extends ReadonlyMap<string, infer Value> ? Value : never;

/** One object that is new or changed, or (without facts) gone. */
export type SnapshotChange = {
  [K in Kind]: { readonly kind: K; readonly key: string; readonly facts?: Facts<K> };
}[Kind];

export interface SnapshotMessage {
  readonly source: ClusterSnapshot["source"];
  /** The first message of a complete snapshot: what was known before is forgotten. */
  readonly isReset: boolean;
  readonly changes: readonly SnapshotChange[];
  /** The last message of a difference: now it counts. */
  readonly isEnd: boolean;
}

/**
 * No message when nothing changed; without `previous` the whole of `next`, at least one message even if it is empty. Each is put
 * together when it is asked for, so that no thread stalls on all of them.
 */
export function* diffSnapshots(
  previous: ClusterSnapshot | undefined,
  next: ClusterSnapshot,
): Generator<SnapshotMessage, void, undefined> {
  const { source } = next;
  const parts = partsOf(changesBetween(previous, next));
  let isReset = previous === undefined;
  let changes = parts.next().value ?? (isReset ? [] : undefined);
  while (changes !== undefined) {
    const following = parts.next().value;
    yield { source, isReset, changes, isEnd: following === undefined };
    isReset = false;
    changes = following;
  }
}

/**
 * Puts messages together again; one for each sender, in order. Its maps of Services and slices are changed in place, because
 * copying thousands costs milliseconds: a snapshot counts until the next one. Facts of a message are the receiver's from then on.
 */
export class SnapshotReceiver {
  readonly #sharedFacts = new SharedFacts();
  #current: ClusterSnapshot | undefined;
  /** What is to count at the end mark: differences, or the maps of a complete snapshot as far as they came. */
  #changes: SnapshotChange[] = [];
  #whole: Map<Kind, Map<string, unknown>> | undefined;
  #changed: ChangedKeys | undefined;

  /** What is different from the snapshot before, of the last one that was given; undefined: anything may be. */
  get changed(): ChangedKeys | undefined {
    return this.#changed;
  }

  /** The new snapshot at an end mark, undefined before. */
  apply(message: SnapshotMessage): ClusterSnapshot | undefined {
    if (message.isReset) {
      this.#whole = new Map();
      this.#changes = [];
      this.#changed = undefined;
    }
    for (const change of message.changes) {
      this.#sharedFacts.share(change);
      if (this.#whole === undefined) this.#changes.push(change);
      else patch(this.#whole, change, undefined);
    }
    if (!message.isEnd) return undefined;
    this.#current = this.#whole === undefined ? this.#patched(message) : snapshotOf(message.source, this.#whole);
    this.#whole = undefined;
    return this.#current;
  }

  #patched({ source }: SnapshotMessage): ClusterSnapshot {
    const copies = new Map<Kind, Map<string, unknown>>();
    for (const change of this.#changes) patch(copies, change, this.#current);
    const keysOf = (kind: Kind): ReadonlySet<string> =>
      new Set(this.#changes.filter((change) => change.kind === kind).map(({ key }) => key));
    this.#changed = { services: keysOf("services"), endpointSlices: keysOf("endpointSlices") };
    this.#changes = [];
    return snapshotOf(source, copies, this.#current);
  }
}

function* changesBetween(previous: ClusterSnapshot | undefined, next: ClusterSnapshot): Generator<SnapshotChange> {
  for (const kind of SNAPSHOT_KINDS) {
    const before = previous?.[kind];
    if (before === next[kind]) continue;
    for (const [key, facts] of next[kind]) {
      const other = before?.get(key);
      // Identity first: sources keep what did not change.
      if (other !== facts && !isDeepStrictEqual(other, facts)) yield { kind, key, facts } as SnapshotChange;
    }
    for (const key of before?.keys() ?? []) if (!next[kind].has(key)) yield { kind, key };
  }
}

function* partsOf(changes: Iterable<SnapshotChange>): Generator<SnapshotChange[], undefined, undefined> {
  let part: SnapshotChange[] = [];
  let bytes = 0;
  for (const change of changes) {
    const size = bytesOf(change);
    if (part.length === MESSAGE_OBJECTS || (part.length > 0 && bytes + size > MESSAGE_BYTES)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(change);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/** About what structured cloning writes: two bytes a character, and eight for anything else. */
function bytesOf(value: unknown): number {
  if (typeof value === "string") return 8 + 2 * value.length;
  if (typeof value !== "object" || value === null) return 8;
  let bytes = 8;
  for (const [key, part] of Object.entries(value)) bytes += 2 * key.length + bytesOf(part);
  return bytes;
}

/** One map type for all kinds: a change's kind says which facts it carries. Nothing is copied of a kind without changes. */
function patch(
  copies: Map<Kind, Map<string, unknown>>,
  { kind, key, facts }: SnapshotChange,
  base: ClusterSnapshot | undefined,
): void {
  const known = base?.[kind];
  const isInPlace = known !== undefined && (kind === "services" || kind === "endpointSlices");
  // It was made here.
  const copy = copies.get(kind) ?? (isInPlace ? (known as Map<string, unknown>) : new Map<string, unknown>(known));
  copies.set(kind, copy);
  if (facts === undefined) copy.delete(key);
  else copy.set(key, facts);
}

function snapshotOf(
  source: ClusterSnapshot["source"],
  copies: ReadonlyMap<Kind, ReadonlyMap<string, unknown>>,
  base?: ClusterSnapshot,
): ClusterSnapshot {
  const maps = SNAPSHOT_KINDS.map((kind) => {
    const known: ReadonlyMap<string, unknown> | undefined = copies.get(kind) ?? base?.[kind];
    return [kind, known ?? new Map<string, unknown>()] as const;
  });
  return { source, ...Object.fromEntries(maps) } as unknown as ClusterSnapshot;
}
