/** Every kind that is watched, each with its store, and what can be said of all of them together. */
import type { Log } from "../../base/log.ts";
import { freshnessOf } from "./freshness.ts";
import { KindReflector, type KindReflectorOptions } from "./kind-reflector.ts";
import { ObjectStore, type ReadValue } from "./object-store.ts";
import type { ReflectorState } from "./reflector-state.ts";
import { type KindStatus, kindStatus } from "./source-status.ts";
import type { WatchedKind } from "./watched-kind.ts";
import type { ListedStore } from "./watched-view.ts";

export interface WatchSetOptions<Name extends string>
  extends Pick<KindReflectorOptions<unknown>, "api" | "clock" | "random" | "namespace" | "onFault"> {
  readonly kinds: Readonly<Record<Name, WatchedKind>>;
  /** Those without which nothing is complete. */
  readonly deciding: readonly NoInfer<Name>[];
  readonly log: Log;
  /** After the first complete list of a kind, and after everything that made a difference. */
  readonly onObjects: (kind: Name) => void;
  /** After every complete list of a kind, even one without a difference. */
  readonly onList?: (kind: Name) => void;
  /** A kind is known up to a later resourceVersion, whether that made a difference or not; after `onObjects`. */
  readonly onPlace?: () => void;
}

interface Watch {
  readonly state: ReflectorState;
  readonly objects: number;
  start(): void;
  relist(): void;
  close(): void;
}

/** Of one kind, a line about what goes wrong: an API server that is away fails often, and each time in other words. */
const LOG_EVERY_MS = 60_000;

export class WatchSet<Name extends string> {
  readonly #options: WatchSetOptions<Name>;
  readonly #watches = new Map<Name, Watch>();
  readonly #failing = new Map<Name, number>();
  readonly #places = new Map<Name, string>();

  constructor(options: WatchSetOptions<Name>) {
    this.#options = options;
  }

  /** `query`: selectors. To be called before `start`. */
  add<Value>(name: Name, read: ReadValue<Value>, query: Readonly<Record<string, string>> = {}): ListedStore<Value> {
    const { api, clock, random, namespace, kinds, onObjects, onList, onFault } = this.#options;
    const store = new ObjectStore(read);
    const watch = new KindReflector({
      api,
      clock,
      random,
      namespace,
      kind: kinds[name],
      query,
      store,
      onObjects: () => onObjects(name),
      onList: () => onList?.(name),
      onState: (state) => this.#follow(name, state),
      onFault,
    });
    this.#watches.set(name, watch);
    return { store, isListed: () => watch.state.isListed, place: () => watch.state.place };
  }

  start(): void {
    for (const watch of this.#watches.values()) watch.start();
  }

  close(): void {
    for (const watch of this.#watches.values()) watch.close();
  }

  /**
   * Lists these kinds anew, each of which then goes on as its own watch. What it returns says whether all of these lists are whole, so
   * that everything held of these kinds is younger than this call.
   */
  relist(names: readonly Name[]): () => boolean {
    const watches = names.flatMap((name) => this.#watches.get(name) ?? []);
    // A list that is under way began earlier: it is begun again, so that the next that ends is one that counts.
    const before = watches.map(({ state }) => state.lists);
    for (const watch of watches) watch.relist();
    return () => watches.every(({ state }, index) => state.lists > (before[index] ?? 0));
  }

  /** Every kind that decides was listed once. */
  get isComplete(): boolean {
    return this.#deciding().every(({ state }) => state.isListed);
  }

  /** Every kind that decides is being watched, or was until just now. */
  get isWell(): boolean {
    return this.#deciding().every(({ state }) => state.isListed && state.lastError === undefined);
  }

  /** See `freshnessOf`: of the kinds that decide. */
  get freshness(): number {
    return freshnessOf(this.#deciding().map(({ state }) => state.place));
  }

  /** Kinds that decide and that the server does not know. */
  get absentKinds(): readonly string[] {
    const { deciding, kinds } = this.#options;
    return deciding.filter((name) => this.#watches.get(name)?.state.isAbsent === true).map((name) => kinds[name].kind);
  }

  /** When anything was last heard of any object. */
  get lastEventMs(): number {
    const times = [...this.#watches.values()].map(({ state }) => state.lastEventMs ?? Number.NEGATIVE_INFINITY);
    return Math.max(Number.NEGATIVE_INFINITY, ...times);
  }

  status(): readonly KindStatus[] {
    return this.#statusOf([...this.#watches.keys()]);
  }

  /** Kinds that decide and that no complete list has come of. */
  unlisted(): readonly KindStatus[] {
    const { deciding } = this.#options;
    return this.#statusOf(deciding.filter((name) => this.#watches.get(name)?.state.isListed !== true));
  }

  #statusOf(names: readonly Name[]): readonly KindStatus[] {
    const { clock, kinds } = this.#options;
    const wallStartMs = clock.wallMs() - clock.nowMs();
    return names.flatMap((name) => {
      const watch = this.#watches.get(name);
      return watch === undefined ? [] : [kindStatus(kinds[name].kind, watch.state, watch.objects, wallStartMs)];
    });
  }

  #deciding(): readonly Watch[] {
    return this.#options.deciding.flatMap((name) => this.#watches.get(name) ?? []);
  }

  #follow(name: Name, state: ReflectorState): void {
    const { deciding, onPlace } = this.#options;
    this.#log(name, state);
    if (state.place === undefined || state.place === this.#places.get(name)) return;
    this.#places.set(name, state.place);
    if (deciding.includes(name)) onPlace?.();
  }

  #log(name: Name, { lastError, phase }: ReflectorState): void {
    const { log, clock, kinds } = this.#options;
    const saidMs = this.#failing.get(name);
    const { kind } = kinds[name];
    if (lastError === undefined) {
      if (saidMs === undefined) return;
      this.#failing.delete(name);
      log.info("watch is well again", { kind });
      return;
    }
    if (phase.kind !== "waiting" || (saidMs !== undefined && clock.nowMs() - saidMs < LOG_EVERY_MS)) return;
    this.#failing.set(name, clock.nowMs());
    log.warn("watch failed", { kind, error: lastError });
  }
}
