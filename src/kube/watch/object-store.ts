/** The objects of one kind, as they were read; a list takes their place when its last page is there, and never before. */
import { isDeepStrictEqual } from "node:util";
import { fieldOf } from "../../desired/resource-readers.ts";
import type { ObjectIdentity } from "../watched.ts";

export interface StoredObject<Value> {
  readonly identity: ObjectIdentity;
  readonly value: Value;
}

/**
 * From an object as it was received. `last`: what the same object (by uid) was read as before. `key`: name, or `namespace/name`; the
 * store's own, because thousands of them that are made twice take megabytes.
 */
export type ReadValue<Value> = (raw: unknown, identity: ObjectIdentity, last: Value | undefined, key: string) => Value;

export class ObjectStore<Value> {
  readonly #read: ReadValue<Value>;
  #objects = new Map<string, StoredObject<Value>>();
  #staged = new Map<string, StoredObject<Value>>();
  #changed: Set<string> | undefined;

  constructor(read: ReadValue<Value>) {
    this.#read = read;
  }

  /** By name, or `namespace/name`. The same map until the next commit, so that it may be kept to be read later. */
  get objects(): ReadonlyMap<string, StoredObject<Value>> {
    return this.#objects;
  }

  /** Keys that events were about since this was last called; undefined: a list took the place of everything. */
  takeChanged(): ReadonlySet<string> | undefined {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  /** An item of a list under way. */
  stage(raw: unknown): void {
    const read = this.#readObject(raw);
    if (read !== undefined) this.#staged.set(read.key, read.object);
  }

  discard(): void {
    this.#staged = new Map();
  }

  /** What was staged is all there is. Whether anything is another value now. */
  commit(): boolean {
    const before = this.#objects;
    this.#objects = this.#staged;
    this.#staged = new Map();
    this.#changed = undefined;
    if (before.size !== this.#objects.size) return true;
    for (const [key, { value }] of this.#objects) {
      if (!before.has(key) || before.get(key)?.value !== value) return true;
    }
    return false;
  }

  /** Whether it is another value now. */
  apply(raw: unknown): boolean {
    const read = this.#readObject(raw);
    if (read === undefined) return false;
    const { key, object } = read;
    const before = this.#objects.get(key);
    this.#objects.set(key, object);
    this.#changed?.add(key);
    return before === undefined || before.value !== object.value;
  }

  /** Whether it was there. */
  remove(raw: unknown): boolean {
    const identity = identityOf(raw);
    if (identity === undefined) return false;
    const key = keyOf(identity);
    this.#changed?.add(key);
    return this.#objects.delete(key);
  }

  /** A value that is equal to the last one is the last one, so that readers tell by identity what changed. */
  #readObject(raw: unknown): { readonly key: string; readonly object: StoredObject<Value> } | undefined {
    const identity = identityOf(raw);
    if (identity === undefined) return undefined;
    const key = keyOf(identity);
    const known = this.#objects.get(key);
    const isSame = known !== undefined && known.identity.uid === identity.uid;
    if (isSame && known.identity.resourceVersion === identity.resourceVersion) return { key, object: known };
    const value = this.#read(raw, identity, isSame ? known.value : undefined, key);
    const isAsBefore = known !== undefined && isDeepStrictEqual(known.value, value);
    return { key, object: { identity, value: isAsBefore ? known.value : value } };
  }
}

function keyOf({ namespace, name }: ObjectIdentity): string {
  // Joined, it is one text; a template's would be kept in its parts.
  return namespace === "" ? name : [namespace, name].join("/");
}

/** Undefined for what is no object of the API: a server gives all of these. */
function identityOf(raw: unknown): ObjectIdentity | undefined {
  const metadata = fieldOf(raw, "metadata");
  const name = textOf(fieldOf(metadata, "name"));
  if (name === "") return undefined;
  return {
    namespace: textOf(fieldOf(metadata, "namespace")),
    name,
    uid: textOf(fieldOf(metadata, "uid")),
    resourceVersion: textOf(fieldOf(metadata, "resourceVersion")),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
