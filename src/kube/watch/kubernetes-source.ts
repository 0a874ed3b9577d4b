/**
 * The Kubernetes API as the source of truth (DESIGN D2, D14): everything that is watched, gathered into snapshots. With the API server
 * away the last snapshot stands for as long as it takes; after a start without it, the one of the cache folder.
 */
import type { Clock, Timer } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import { notServedSentence, RESOURCE_READERS, type ResourceReader } from "../../desired/resource-readers.ts";
import type { ClusterSnapshot } from "../../desired/snapshot.ts";
import { SNAPSHOT_KINDS, type SnapshotChange } from "../../desired/snapshot-difference.ts";
import type { ApiServer } from "../api-server.ts";
import type { ObjectIdentity, ResourceProblem, WatchedObjects, WatchedPod } from "../watched.ts";
import { ClusterReading, type GoodForm, type SnapshotKind } from "./cluster-reading.ts";
import { heldResourceReader, titleOf } from "./held-resource.ts";
import { KINDS, type KindName } from "./kinds.ts";
import { type CachedReading, openSnapshotCache, type SnapshotCache } from "./snapshot-cache.ts";
import { absentSentence, cachedSentence, type KubernetesSourceStatus } from "./source-status.ts";
import { WatchSet } from "./watch-set.ts";
import { configurationStateReader, l2StatusReader, podReader } from "./watched-readers.ts";
import { type ListedStore, WatchedView } from "./watched-view.ts";

/** Changes that come together are told together. */
const GATHER_MS = 20;
/** When nothing was heard for so long, what was kept from before the start stands in. */
const CACHE_AFTER_MS = 5_000;
const CONFIRM_MS = 60_000;

export interface KubernetesSourceOptions {
  readonly api: ApiServer;
  /** The speaker's own: of pools, advertisements, statuses and pods. */
  readonly namespace: string;
  readonly nodeName: string;
  /** Which pods are watched, as the API server is asked for them; absent: none. */
  readonly podQuery?: Readonly<Record<string, string>>;
  /** Where the last snapshot is kept over a restart; absent, or no folder: nowhere. */
  readonly cacheFolder?: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /**
   * A complete reading, whenever something in it changed; what did not change is the same object. Not called before there is one:
   * "not read yet" is never an empty snapshot. Problems are undefined with the snapshot of the cache folder: nobody has looked.
   * `freshness`: how new it is, if that is different from before, so that nobody decides by the one and claims by the other.
   */
  readonly onChange: (
    snapshot: ClusterSnapshot,
    problems: readonly ResourceProblem[] | undefined,
    freshness?: number,
  ) => void;
  /** By name, whenever one changed. */
  readonly onPods?: (pods: ReadonlyMap<string, WatchedPod>) => void;
  /** Something in `watched` changed. */
  readonly onWatchedChange?: () => void;
  /** How new the snapshot is that was told last, when nothing else has changed; 0: not comparable. See `freshnessOf`. */
  readonly onFreshness?: (freshness: number) => void;
}

const WATCHED_KINDS: readonly KindName[] = ["services", "l2Statuses", "configurationState", "pods"];

const READERS: Readonly<Record<SnapshotKind, ResourceReader>> = {
  services: RESOURCE_READERS.Service,
  endpointSlices: RESOURCE_READERS.EndpointSlice,
  nodes: RESOURCE_READERS.Node,
  namespaces: RESOURCE_READERS.Namespace,
  pools: RESOURCE_READERS.IPAddressPool,
  advertisements: RESOURCE_READERS.L2Advertisement,
};

export class KubernetesSource {
  readonly watched: WatchedObjects;
  readonly #options: KubernetesSourceOptions;
  readonly #watches: WatchSet<KindName>;
  readonly #reading: ClusterReading;
  readonly #view: WatchedView;
  readonly #pods: ListedStore<WatchedPod> | undefined;
  readonly #notServed: readonly { readonly kind: string; readonly listed: ListedStore<undefined> }[];
  #cache: SnapshotCache | undefined;
  #cached: CachedReading | undefined;
  /** From before the start. */
  #goodForms: ReadonlyMap<string, GoodForm> = new Map();
  #snapshot: ClusterSnapshot | undefined;
  #saidProblems = "";
  #saidFreshness = 0;
  /** Kinds that changed since they were told. */
  #changed = new Set<KindName>();
  #gathering: Timer | undefined;
  #cacheTimer: Timer | undefined;
  #confirmTimer: Timer | undefined;
  #faults = 0;
  #isClosed = false;

  constructor(options: KubernetesSourceOptions) {
    this.#options = options;
    const { api, clock, random, namespace, nodeName, podQuery, log } = options;
    const watches = new WatchSet({
      kinds: KINDS,
      deciding: SNAPSHOT_KINDS,
      api,
      clock,
      random,
      namespace,
      log,
      onObjects: (kind) => this.#noteChange(kind),
      onPlace: () => this.#tellFreshness(),
      onFault: (error) => this.#noteFault(error),
    });
    this.#watches = watches;
    const held = (name: SnapshotKind) => {
      const kind = KINDS[name];
      const remembered = (identity: ObjectIdentity) => this.#rememberedForm(name, identity);
      return watches.add(name, heldResourceReader(kind, READERS[name], remembered), selectorOf(kind));
    };
    const services = held("services");
    this.#reading = new ClusterReading({
      services: services.store,
      endpointSlices: held("endpointSlices").store,
      nodes: held("nodes").store,
      namespaces: held("namespaces").store,
      pools: held("pools").store,
      advertisements: held("advertisements").store,
    });
    this.#pods = podQuery && watches.add("pods", podReader(KINDS.pods), podQuery);
    this.#view = new WatchedView({
      services,
      l2Statuses: watches.add("l2Statuses", l2StatusReader(KINDS.l2Statuses)),
      configurationState: watches.add("configurationState", configurationStateReader(KINDS.configurationState), {
        fieldSelector: `metadata.name=speaker-${nodeName}`,
      }),
      ...(this.#pods === undefined ? {} : { pods: this.#pods }),
    });
    this.watched = this.#view;
    this.#notServed = (["bgpAdvertisements", "bgpPeers"] as const).map((name) => ({
      kind: KINDS[name].kind,
      listed: watches.add(name, () => undefined),
    }));
  }

  /** Begins to list and watch; what comes of it is told by the callbacks. */
  async start(): Promise<void> {
    const { cacheFolder, clock } = this.#options;
    this.#cache = await openSnapshotCache(cacheFolder, clock);
    // Before anything is read: what is refused keeps its last good form.
    this.#goodForms = (await this.#cache?.loadGoodForms()) ?? new Map();
    if (this.#isClosed) return;
    this.#watches.start();
    this.#lookForCache(clock.nowMs());
    this.#confirm();
  }

  /** Ends every watch; no callback is called any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of [this.#gathering, this.#cacheTimer, this.#confirmTimer]) timer?.cancel();
    this.#watches.close();
    await this.#cache?.close();
  }

  status(): KubernetesSourceStatus {
    const absent = this.#watches.absentKinds;
    const sentences = [
      ...(absent.length === 0 ? [] : [absentSentence(absent)]),
      ...(this.#cached === undefined ? [] : [cachedSentence(this.#cached.savedMs)]),
      ...(this.#cache?.fault === undefined ? [] : [this.#cache.fault]),
    ];
    return { state: this.#state(), watches: this.#watches.status(), sentences, faults: this.#faults };
  }

  /** Kinds without which there is no snapshot, and that were not listed yet. */
  unlisted(): KubernetesSourceStatus["watches"] {
    return this.#watches.unlisted();
  }

  #state(): KubernetesSourceStatus["state"] {
    if (this.#snapshot === undefined) return "reading";
    return this.#cached === undefined && this.#watches.isWell ? "current" : "stale";
  }

  #noteChange(kind: KindName): void {
    this.#changed.add(kind);
    this.#view.markChanged();
    this.#gathering ??= this.#options.clock.schedule(GATHER_MS, () => {
      this.#gathering = undefined;
      this.#tell();
    });
  }

  #tell(): void {
    const changed = this.#changed;
    this.#changed = new Set();
    for (const kind of SNAPSHOT_KINDS) if (changed.has(kind)) this.#reading.markChanged(kind);
    if (this.#watches.isComplete) this.#guarded(() => this.#tellSnapshot());
    this.#tellFreshness();
    const { onPods, onWatchedChange } = this.#options;
    const { pods } = this.#view;
    if (changed.has("pods") && pods !== undefined && onPods !== undefined) this.#guarded(() => onPods(pods));
    if (WATCHED_KINDS.some((kind) => changed.has(kind))) this.#guarded(() => onWatchedChange?.());
    if (this.#snapshot !== undefined && this.#cached === undefined) {
      const { source: _, ...slices } = this.#snapshot;
      this.#cache?.offer({ ...slices, goodForms: this.#reading.goodForms, ...(pods === undefined ? {} : { pods }) });
    }
  }

  #tellSnapshot(): void {
    const snapshot = this.#reading.read();
    const problems = [...this.#reading.problems, ...this.#bgpProblems()];
    const said = problems.map(({ uid, sentence }) => `${uid} ${sentence}`).join("\n");
    this.#cached = undefined;
    if (snapshot === this.#snapshot && said === this.#saidProblems) return;
    this.#snapshot = snapshot;
    this.#saidProblems = said;
    this.#options.onChange(snapshot, problems, this.#takeFreshness());
  }

  /** Never of more than was told: what is still gathered makes nothing fresher. */
  #tellFreshness(): void {
    if (this.#gathering !== undefined || this.#snapshot === undefined || this.#cached !== undefined) return;
    const freshness = this.#takeFreshness();
    if (freshness !== undefined) this.#options.onFreshness?.(freshness);
  }

  /** Undefined: as was said last. */
  #takeFreshness(): number | undefined {
    const { freshness } = this.#watches;
    if (freshness === this.#saidFreshness) return undefined;
    this.#saidFreshness = freshness;
    return freshness;
  }

  #rememberedForm(kind: SnapshotKind, { name, uid }: ObjectIdentity): SnapshotChange | undefined {
    if (kind !== "advertisements") return undefined;
    const form = this.#goodForms.get(name);
    return form === undefined || form.uid !== uid ? undefined : { kind, key: name, facts: form.facts };
  }

  #bgpProblems(): readonly ResourceProblem[] {
    return this.#notServed.flatMap(({ kind, listed }) =>
      [...listed.store.objects.values()].map(({ identity: { namespace, name, uid } }) => ({
        kind,
        namespace,
        name,
        uid,
        sentence: notServedSentence(titleOf(kind, { namespace, name })),
        problem: "not-served" as const,
      })),
    );
  }

  /** A server that is there but lacks kinds is another matter: what it says counts. */
  #lookForCache(sinceMs: number): void {
    const { clock } = this.#options;
    if (this.#cache === undefined || this.#isClosed) return;
    this.#cacheTimer = clock.schedule(Math.max(0, sinceMs + CACHE_AFTER_MS - clock.nowMs()), () => {
      if (this.#watches.isComplete || this.#watches.absentKinds.length > 0) return;
      const heardMs = this.#watches.lastEventMs;
      if (clock.nowMs() - heardMs < CACHE_AFTER_MS) return this.#lookForCache(heardMs);
      void this.#useCache();
    });
  }

  async #useCache(): Promise<void> {
    const cached = await this.#cache?.load();
    if (cached === undefined || this.#isClosed || this.#watches.isComplete) return;
    this.#cached = cached;
    this.#snapshot = cached.snapshot;
    this.#reading.take(cached.snapshot);
    const { log, onChange, onPods } = this.#options;
    log.warn("snapshot from the cache folder in use", { saved: new Date(cached.savedMs).toISOString() });
    const { snapshot, pods } = cached;
    this.#guarded(() => onChange(snapshot, undefined));
    if (pods !== undefined && this.#pods?.isListed() !== true) this.#guarded(() => onPods?.(pods));
  }

  #confirm(): void {
    this.#confirmTimer = this.#options.clock.schedule(CONFIRM_MS, () => {
      if (this.#watches.isWell) this.#cache?.confirm();
      this.#confirm();
    });
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#noteFault(error);
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

function selectorOf({ labelSelector }: { readonly labelSelector?: string }): Readonly<Record<string, string>> {
  return labelSelector === undefined ? {} : { labelSelector };
}
