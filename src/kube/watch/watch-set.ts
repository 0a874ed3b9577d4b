/** Every kind that is watched, each with its store, and what can be said of all of them together. */
import type { Log } from "../../base/log.ts";
import { SNAPSHOT_KINDS } from "../../desired/snapshot-difference.ts";
import { KindReflector, type KindReflectorOptions } from "./kind-reflector.ts";
import { KINDS, type KindName } from "./kinds.ts";
import { ObjectStore, type ReadValue } from "./object-store.ts";
import type { ReflectorState } from "./reflector-state.ts";
import { type KindStatus, kindStatus } from "./source-status.ts";
import type { ListedStore } from "./watched-view.ts";

export interface WatchSetOptions
  extends Pick<KindReflectorOptions<unknown>, "api" | "clock" | "random" | "namespace" | "onFault"> {
  readonly log: Log;
  /** After the first complete list of a kind, and after everything that made a difference. */
  readonly onObjects: (kind: KindName) => void;
}

interface Watch {
  readonly state: ReflectorState;
  readonly objects: number;
  start(): void;
  close(): void;
}

/** Of one kind, a line about what goes wrong: an API server that is away fails often, and each time in other words. */
const LOG_EVERY_MS = 60_000;

export class WatchSet {
  readonly #options: WatchSetOptions;
  readonly #watches = new Map<KindName, Watch>();
  readonly #failing = new Map<KindName, number>();

  constructor(options: WatchSetOptions) {
    this.#options = options;
  }

  /** `query`: selectors. To be called before `start`. */
  add<Value>(name: KindName, read: ReadValue<Value>, query: Readonly<Record<string, string>> = {}): ListedStore<Value> {
    const { api, clock, random, namespace, onObjects, onFault } = this.#options;
    const store = new ObjectStore(read);
    const watch = new KindReflector({
      api,
      clock,
      random,
      namespace,
      kind: KINDS[name],
      query,
      store,
      onObjects: () => onObjects(name),
      onState: (state) => this.#log(name, state),
      onFault,
    });
    this.#watches.set(name, watch);
    return { store, isListed: () => watch.state.isListed };
  }

  start(): void {
    for (const watch of this.#watches.values()) watch.start();
  }

  close(): void {
    for (const watch of this.#watches.values()) watch.close();
  }

  /** Every kind that decides was listed once. */
  get isComplete(): boolean {
    return this.#deciding().every(({ state }) => state.isListed);
  }

  /** Every kind that decides is being watched, or was until just now. */
  get isWell(): boolean {
    return this.#deciding().every(({ state }) => state.isListed && state.lastError === undefined);
  }

  /** Kinds that decide and that the server does not know. */
  get absentKinds(): readonly string[] {
    return SNAPSHOT_KINDS.filter((name) => this.#watches.get(name)?.state.isAbsent === true).map(
      (name) => KINDS[name].kind,
    );
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
    return this.#statusOf(SNAPSHOT_KINDS.filter((name) => this.#watches.get(name)?.state.isListed !== true));
  }

  #statusOf(names: readonly KindName[]): readonly KindStatus[] {
    const { clock } = this.#options;
    const wallStartMs = clock.wallMs() - clock.nowMs();
    return names.flatMap((name) => {
      const watch = this.#watches.get(name);
      return watch === undefined ? [] : [kindStatus(KINDS[name].kind, watch.state, watch.objects, wallStartMs)];
    });
  }

  #deciding(): readonly Watch[] {
    return SNAPSHOT_KINDS.flatMap((name) => this.#watches.get(name) ?? []);
  }

  #log(name: KindName, { lastError, phase }: ReflectorState): void {
    const { log, clock } = this.#options;
    const saidMs = this.#failing.get(name);
    const { kind } = KINDS[name];
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
