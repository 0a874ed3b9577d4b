/** What the stores of the kinds that decide hold, as a snapshot. What did not change since the last one is the same object. */
import { isDeepStrictEqual } from "node:util";
import { acceptPools, type ReadPool } from "../../desired/accept-pools.ts";
import type {
  AdvertisementFacts,
  ClusterSnapshot,
  EndpointSliceFacts,
  PoolFacts,
  ServiceFacts,
} from "../../desired/snapshot.ts";
import { SNAPSHOT_KINDS, type SnapshotChange } from "../../desired/snapshot-difference.ts";
import type { ResourceProblem } from "../watched.ts";
import { type HeldResource, titleOf } from "./held-resource.ts";
import { KINDS } from "./kinds.ts";
import type { ObjectStore, StoredObject } from "./object-store.ts";

/** An L2Advertisement as it counts, and which object of that name it is a form of. */
export interface GoodForm {
  readonly uid: string;
  readonly facts: AdvertisementFacts;
}

export type SnapshotKind = (typeof SNAPSHOT_KINDS)[number];
export type SnapshotStores = Readonly<Record<SnapshotKind, ObjectStore<HeldResource>>>;
type Facts = ReadonlyMap<string, unknown>;

export class ClusterReading {
  readonly #stores: SnapshotStores;
  readonly #changed = new Set<SnapshotKind>(SNAPSHOT_KINDS);
  #snapshot: ClusterSnapshot | undefined;
  /** The snapshot was read from the stores: what follows from objects that are as they were then is in it. */
  #isOwn = false;
  /** While slices are read: Services came or went, so that every slice is to be looked at. */
  #hasOtherServices = false;
  readonly #problems = new Map<SnapshotKind, readonly ResourceProblem[]>();

  #goodForms: ReadonlyMap<string, GoodForm> = new Map();

  constructor(stores: SnapshotStores) {
    this.#stores = stores;
  }

  get problems(): readonly ResourceProblem[] {
    return [...this.#problems.values()].flat();
  }

  /** Of every advertisement that counts, by name: what stands in for one that is refused when its last good form is forgotten. */
  get goodForms(): ReadonlyMap<string, GoodForm> {
    return this.#goodForms;
  }

  /** The store of this kind holds something else. */
  markChanged(kind: SnapshotKind): void {
    this.#changed.add(kind);
  }

  /** A snapshot from elsewhere counts until now: what is equal in the next one stays the same. */
  take(snapshot: ClusterSnapshot): void {
    this.#snapshot = snapshot;
    this.#isOwn = false;
    for (const kind of SNAPSHOT_KINDS) this.#changed.add(kind);
  }

  /** The last snapshot itself when nothing in it changed. */
  read(): ClusterSnapshot {
    const before = this.#snapshot;
    const maps = new Map<SnapshotKind, Facts>();
    for (const kind of SNAPSHOT_KINDS) {
      const known: Facts | undefined = before?.[kind];
      const services = maps.get("services") as ReadonlyMap<string, ServiceFacts> | undefined;
      const facts = known !== undefined && !this.#changed.has(kind) ? known : this.#read(kind, known, services);
      maps.set(kind, facts);
      // Slices count while their Service does.
      this.#hasOtherServices = kind === "services" && !hasSameKeys(known, facts);
      if (this.#hasOtherServices) this.#changed.add("endpointSlices");
    }
    this.#changed.clear();
    this.#isOwn = true;
    if (before !== undefined && SNAPSHOT_KINDS.every((kind) => maps.get(kind) === before[kind])) return before;
    // Each map was filled from facts of its own kind.
    this.#snapshot = { source: "kubernetes", ...Object.fromEntries(maps) } as unknown as ClusterSnapshot;
    return this.#snapshot;
  }

  /** A large cluster changes a few objects at a time: what follows from them is put into a copy of what is known. */
  #read(kind: SnapshotKind, known: Facts | undefined, services: ReadonlyMap<string, ServiceFacts> | undefined): Facts {
    const keys = this.#stores[kind].takeChanged();
    if (known === undefined || keys === undefined || this.#isWhole(kind) || this.#hasProblems(kind, keys)) {
      return kept(known, this.#factsOf(kind, services));
    }
    let copy: Map<string, unknown> | undefined;
    for (const key of keys) {
      // Of these kinds the store's keys are the snapshot's.
      const facts = countedIn(this.#stores[kind].objects.get(key), services)?.facts;
      const before = known.get(key);
      if (before === facts || isDeepStrictEqual(before, facts)) continue;
      copy ??= new Map(known);
      if (facts === undefined) copy.delete(key);
      else copy.set(key, facts);
    }
    return copy ?? known;
  }

  /** Pools are judged together, and of advertisements more is kept than what counts. */
  #isWhole(kind: SnapshotKind): boolean {
    return !this.#isOwn || this.#hasOtherServices || kind === "pools" || kind === "advertisements";
  }

  /** Now or before, of any of the kind or of one that changed. */
  #hasProblems(kind: SnapshotKind, keys: ReadonlySet<string>): boolean {
    if ((this.#problems.get(kind) ?? []).length > 0) return true;
    for (const key of keys) {
      const { sentence, remarks } = this.#stores[kind].objects.get(key)?.value ?? {};
      if (sentence !== undefined || remarks !== undefined) return true;
    }
    return false;
  }

  #factsOf(kind: SnapshotKind, services: ReadonlyMap<string, ServiceFacts> | undefined): Facts {
    const { objects } = this.#stores[kind];
    const found: ResourceProblem[] = [];
    for (const object of objects.values()) addProblems(found, kind, object);
    this.#problems.set(kind, found);
    if (kind === "pools") return this.#poolsOf(objects.values(), found);
    if (kind === "advertisements") this.#goodForms = kept(this.#goodForms, goodFormsOf(objects.values()));
    const facts = new Map<string, unknown>();
    for (const object of objects.values()) {
      const change = countedIn(object, services);
      if (change !== undefined) facts.set(change.key, change.facts);
    }
    return facts;
  }

  #poolsOf(objects: Iterable<StoredObject<HeldResource>>, found: readonly ResourceProblem[]): Facts {
    const byName = new Map([...objects].map((object) => [object.identity.name, object]));
    const { pools, overlaps } = acceptPools([...byName.values()].flatMap(readPool));
    const overlapping = overlaps.flatMap(({ pool, sentence }) => {
      const object = byName.get(pool.name);
      if (object === undefined) return [];
      return [problemOf("pools", object, `${titleOf(KINDS.pools.kind, object.identity)}: ${sentence}`)];
    });
    this.#problems.set("pools", [...found, ...overlapping]);
    return pools;
  }
}

function readPool({ value }: StoredObject<HeldResource>): readonly ReadPool[] {
  const { change, sentence, entries } = value;
  if (change?.kind !== "pools" || change.facts === undefined) return [];
  const facts: PoolFacts = change.facts;
  return [{ facts, isRefused: sentence !== undefined, ...(entries === undefined ? {} : { entries }) }];
}

function goodFormsOf(objects: Iterable<StoredObject<HeldResource>>): ReadonlyMap<string, GoodForm> {
  const forms = new Map<string, GoodForm>();
  for (const { identity, value } of objects) {
    const { change } = value;
    if (change?.kind !== "advertisements" || change.facts === undefined) continue;
    forms.set(change.key, { uid: identity.uid, facts: change.facts });
  }
  return forms;
}

function addProblems(found: ResourceProblem[], kind: SnapshotKind, object: StoredObject<HeldResource>): void {
  const { sentence, remarks } = object.value;
  if (sentence !== undefined) found.push(problemOf(kind, object, sentence));
  for (const remark of remarks ?? []) found.push(problemOf(kind, object, remark, "default-stands"));
}

function problemOf(
  kind: SnapshotKind,
  { identity }: StoredObject<HeldResource>,
  sentence: string,
  problem: ResourceProblem["problem"] = "refused",
): ResourceProblem {
  const { namespace, name, uid } = identity;
  return { kind: KINDS[kind].kind, namespace, name, uid, sentence, problem };
}

/** What counts of an object. A slice counts while its Service does. */
function countedIn(
  object: StoredObject<HeldResource> | undefined,
  services: ReadonlyMap<string, ServiceFacts> | undefined,
): SnapshotChange | undefined {
  const change = object?.value.change;
  if (change?.facts === undefined) return undefined;
  const isLost = change.kind === "endpointSlices" && services !== undefined && !isOfAny(change.facts, services);
  return isLost ? undefined : change;
}

function hasSameKeys(a: Facts | undefined, b: Facts): boolean {
  if (a === undefined || a.size !== b.size) return false;
  if (a !== b) for (const key of b.keys()) if (!a.has(key)) return false;
  return true;
}

function isOfAny({ namespace, serviceName }: EndpointSliceFacts, services: ReadonlyMap<string, ServiceFacts>): boolean {
  return services.has(`${namespace}/${serviceName}`);
}

/** Equal facts stay the same objects, and a map of only such ones the same map. */
function kept<Value>(
  before: ReadonlyMap<string, Value> | undefined,
  next: ReadonlyMap<string, Value>,
): ReadonlyMap<string, Value> {
  if (before === undefined || before === next) return next;
  const result = new Map<string, Value>();
  let isSame = before.size === next.size;
  for (const [key, facts] of next) {
    const known = before.get(key);
    const isEqual = known === facts || isDeepStrictEqual(known, facts);
    result.set(key, isEqual && known !== undefined ? known : facts);
    isSame &&= isEqual;
  }
  return isSame ? before : result;
}
