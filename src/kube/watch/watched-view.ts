/** What the writer reads of the watches: always what they hold now. */
import type { WatchedConfigurationState, WatchedL2Status, WatchedObjects, WatchedPod } from "../watched.ts";
import type { HeldResource } from "./held-resource.ts";
import type { ObjectStore, StoredObject } from "./object-store.ts";

/** A store, and whether it was listed. */
export interface ListedStore<Value> {
  readonly store: ObjectStore<Value>;
  readonly isListed: () => boolean;
  /** The resourceVersion up to which everything is in it; undefined before the first list. */
  readonly place: () => string | undefined;
}

export interface WatchedStores {
  readonly services: ListedStore<HeldResource>;
  readonly l2Statuses: ListedStore<WatchedL2Status>;
  readonly configurationState: ListedStore<WatchedConfigurationState>;
  /** Absent: pods are not watched. */
  readonly pods?: ListedStore<WatchedPod>;
}

export class WatchedView implements WatchedObjects {
  readonly #stores: WatchedStores;
  #l2Statuses: ReadonlyMap<string, WatchedL2Status> | undefined;
  #pods: ReadonlyMap<string, WatchedPod> | undefined;

  constructor(stores: WatchedStores) {
    this.#stores = stores;
  }

  /** What was handed out is old now. */
  markChanged(): void {
    this.#l2Statuses = undefined;
    this.#pods = undefined;
  }

  serviceUid(namespace: string, name: string): string | undefined {
    return this.#stores.services.store.objects.get(`${namespace}/${name}`)?.identity.uid;
  }

  get l2Statuses(): ReadonlyMap<string, WatchedL2Status> | undefined {
    const { store, isListed } = this.#stores.l2Statuses;
    if (isListed()) this.#l2Statuses ??= byName(store.objects.values());
    return this.#l2Statuses;
  }

  get configurationState(): WatchedConfigurationState | null | undefined {
    const { store, isListed } = this.#stores.configurationState;
    const [own] = store.objects.values();
    return isListed() ? (own?.value ?? null) : undefined;
  }

  get pods(): ReadonlyMap<string, WatchedPod> | undefined {
    const listed = this.#stores.pods;
    if (listed?.isListed() === true) this.#pods ??= byName(listed.store.objects.values());
    return this.#pods;
  }
}

/** All of one namespace. */
function byName<Value>(objects: Iterable<StoredObject<Value>>): ReadonlyMap<string, Value> {
  return new Map([...objects].map(({ identity, value }) => [identity.name, value]));
}
