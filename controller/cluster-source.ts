/** Everything that a controller reads of a cluster, told as the allocator wants it. What is told is never older than what was told before. */
import type { AllocatorPool } from "../src/allocator/pool.ts";
import type { AllocatorEvent } from "../src/allocator/ports.ts";
import type { AllocatorService } from "../src/allocator/service.ts";
import type { Clock, Timer } from "../src/base/clock.ts";
import type { Log } from "../src/base/log.ts";
import type { Random } from "../src/base/random.ts";
import type { ApiServer } from "../src/kube/api-server.ts";
import { type LeaseObject, readLease } from "../src/kube/lease/lease-object.ts";
import { CONTROLLER_KINDS, type ControllerKindName } from "../src/kube/watch/controller-kinds.ts";
import type { StoredObject } from "../src/kube/watch/object-store.ts";
import type { KindStatus } from "../src/kube/watch/source-status.ts";
import { WatchSet } from "../src/kube/watch/watch-set.ts";
import { configurationStateReader, podReader } from "../src/kube/watch/watched-readers.ts";
import type { ListedStore } from "../src/kube/watch/watched-view.ts";
import type { WatchedConfigurationState } from "../src/kube/watched.ts";
import type { Ip } from "../src/net/ip.ts";
import {
  labelsOf,
  type NamedPod,
  namespaceOf,
  nodeAddressesOf,
  poolOf,
  type ReservationLines,
  reservationsOf,
  serviceOf,
} from "./cluster-objects.ts";
import { CONTROLLER_STATE, LEASE, RESERVATIONS } from "./names.ts";

export interface ClusterSourceOptions {
  readonly api: ApiServer;
  /** The controller's own. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly tell: (event: AllocatorEvent) => void;
  /** The Lease, at once; undefined: there is none. */
  readonly onLease: (lease: LeaseObject | undefined) => void;
  /** What changed was told, or lists came to their end. */
  readonly onTold: (changed: ReadonlySet<ControllerKindName>) => void;
}

/** Without these nothing is decided, and they are read anew before anything is written. */
const DECIDING = ["services", "pools", "namespaces", "nodes", "pods", "reservations"] as const;
/** Changes that come together are told together. */
const GATHER_MS = 5;

export class ClusterSource {
  readonly #options: ClusterSourceOptions;
  readonly #watches: WatchSet<ControllerKindName>;
  readonly #services: ListedStore<AllocatorService | undefined>;
  readonly #pools: ListedStore<AllocatorPool | undefined>;
  readonly #namespaces: ListedStore<ReturnType<typeof namespaceOf>>;
  readonly #nodes: ListedStore<readonly Ip[]>;
  readonly #pods: ListedStore<NamedPod>;
  readonly #reservations: ListedStore<ReservationLines>;
  readonly #state: ListedStore<WatchedConfigurationState>;
  readonly #lease: ListedStore<LeaseObject | undefined>;
  #changed = new Set<ControllerKindName>();
  #gathering: Timer | undefined;
  #areListsWhole: () => boolean = () => false;
  #isClosed = false;
  #faults = 0;

  constructor(options: ClusterSourceOptions) {
    this.#options = options;
    const { api, clock, random, namespace, log } = options;
    const watches = new WatchSet({
      kinds: CONTROLLER_KINDS,
      deciding: DECIDING,
      api,
      clock,
      random,
      namespace,
      log,
      onObjects: (kind) => this.#noteChange(kind),
      onList: (kind) => this.#noteChange(kind),
      onFault: (error) => this.#noteFault(error),
    });
    this.#watches = watches;
    this.#services = watches.add("services", serviceOf);
    this.#pools = watches.add("pools", poolOf);
    this.#namespaces = watches.add("namespaces", namespaceOf);
    this.#nodes = watches.add("nodes", nodeAddressesOf);
    const readPod = podReader(CONTROLLER_KINDS.pods);
    this.#pods = watches.add("pods", (raw, identity, _last, key) => ({
      ...readPod(raw, identity, undefined, key),
      labels: labelsOf(raw),
    }));
    this.#reservations = watches.add("reservations", reservationsOf, named(RESERVATIONS));
    const readState = configurationStateReader(CONTROLLER_KINDS.configurationState);
    this.#state = watches.add("configurationState", readState, named(CONTROLLER_STATE));
    this.#lease = watches.add("lease", readLease, named(LEASE));
  }

  start(): void {
    this.#watches.start();
  }

  /** Ends every watch; no callback is called any more. */
  close(): void {
    this.#isClosed = true;
    this.#gathering?.cancel();
    this.#watches.close();
  }

  /** Everything that decides is read anew, and told. */
  relist(): void {
    this.#areListsWhole = this.#watches.relist(DECIDING);
  }

  /** What was read anew since `relist` was called last was told, all of it. */
  get isFresh(): boolean {
    return this.#changed.size === 0 && this.#areListsWhole();
  }

  /** Everything that decides was read once. */
  get isComplete(): boolean {
    return this.#watches.isComplete;
  }

  /** Everything that decides is being watched, or was until just now. */
  get isWell(): boolean {
    return this.#watches.isWell;
  }

  /** Exceptions in what reads the objects; they stop nothing. */
  get faults(): number {
    return this.#faults;
  }

  /** Of the own namespace, by name; undefined: not listed yet. */
  get pods(): ReadonlyMap<string, NamedPod> | undefined {
    if (!this.#pods.isListed()) return undefined;
    return new Map([...this.#pods.store.objects.values()].map(({ identity, value }) => [identity.name, value]));
  }

  /** Undefined: there is no such ConfigMap, as far as is known. */
  get reservations(): ReservationLines | undefined {
    const [found] = this.#reservations.store.objects.values();
    return found?.value;
  }

  /** `null`: listed, and absent; undefined: not listed yet. */
  get configurationState(): WatchedConfigurationState | null | undefined {
    const [found] = this.#state.store.objects.values();
    return this.#state.isListed() ? (found?.value ?? null) : undefined;
  }

  watches(): readonly KindStatus[] {
    return this.#watches.status();
  }

  /** Kinds without which nothing is decided, and that were not listed yet. */
  unlisted(): readonly KindStatus[] {
    return this.#watches.unlisted();
  }

  get absentKinds(): readonly string[] {
    return this.#watches.absentKinds;
  }

  #noteChange(kind: ControllerKindName): void {
    this.#changed.add(kind);
    this.#gathering ??= this.#options.clock.schedule(GATHER_MS, () => {
      this.#gathering = undefined;
      this.#tell();
    });
  }

  #tell(): void {
    if (this.#isClosed) return;
    const changed = this.#changed;
    this.#changed = new Set();
    const { tell, onLease, onTold } = this.#options;
    if (changed.has("lease")) {
      const [found] = this.#lease.store.objects.values();
      onLease(found?.value);
    }
    if (changed.has("pools")) tell({ kind: "pools", pools: valuesOf(this.#pools) });
    if (changed.has("namespaces")) tell({ kind: "namespaces", namespaces: mapOf(this.#namespaces) });
    if (changed.has("nodes")) tell({ kind: "nodes", nodes: mapOf(this.#nodes) });
    if (changed.has("reservations")) {
      const { reserved = "", pinned = "" } = this.reservations ?? {};
      tell({ kind: "reservations", reserved, pinned });
    }
    if (changed.has("services")) this.#tellServices();
    onTold(changed);
  }

  #tellServices(): void {
    const { tell } = this.#options;
    const { store } = this.#services;
    const keys = store.takeChanged();
    const place = this.#services.place();
    const upTo = place === undefined ? {} : { place };
    if (keys === undefined) {
      tell({ kind: "services", services: valuesOf(this.#services), ...upTo });
      return;
    }
    for (const key of keys) {
      const service = store.objects.get(key)?.value;
      if (service !== undefined) tell({ kind: "service", service });
      else if (!store.objects.has(key)) tell({ kind: "service-gone", key, ...upTo });
    }
  }

  /** Counted; said once, because it may happen at every event. */
  #noteFault(error: unknown): void {
    this.#faults++;
    if (this.#faults > 1) return;
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#options.log.error("what was read could not be used", { error: what });
  }
}

function named(name: string): Readonly<Record<string, string>> {
  return { fieldSelector: `metadata.name=${name}` };
}

/** What of a store is read here: its reader is another's business. */
interface Held<Value> {
  readonly store: { readonly objects: ReadonlyMap<string, StoredObject<Value | undefined>> };
}

function valuesOf<Value>({ store }: Held<Value>): readonly Value[] {
  return [...store.objects.values()].flatMap(({ value }) => value ?? []);
}

function mapOf<Value>({ store }: Held<Value>): ReadonlyMap<string, Value> {
  const found = [...store.objects.values()].flatMap(({ identity, value }) =>
    value === undefined ? [] : [[identity.name, value] as const],
  );
  return new Map(found);
}
