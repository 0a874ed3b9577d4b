/**
 * The allocator over a folder: what is read is told, what it asks for is written beside the manifests, one step after the other.
 * There is one controller to a folder, so that what stands in `.status` is what it wrote, or what somebody changed by hand.
 */
import { ALLOCATED_CONDITION, SERVICE_ANNOTATIONS } from "../api/annotations.ts";
import { Allocator } from "../src/allocator/allocator.ts";
import type { PoolNumbers } from "../src/allocator/pool.ts";
import type { AllocatorEvent, Effect } from "../src/allocator/ports.ts";
import type { Settings, StatusChange } from "../src/allocator/reconcile.ts";
import type { AllocatorService } from "../src/allocator/service.ts";
import { errnoOf } from "../src/base/errors.ts";
import type { Log } from "../src/base/log.ts";
import { fieldOf } from "../src/desired/resource-readers.ts";
import type { ClusterSnapshot } from "../src/desired/snapshot.ts";
import type { FolderDocuments } from "../src/files/file-state.ts";
import type { Overlay, Overlays } from "../src/files/overlay.ts";
import { FolderReader, reservationsOverlay } from "./folder-objects.ts";

type Write = Extract<Effect, { kind: "write" }>;

/** `.status`, or a stand-in. */
export interface OverlayStore {
  read(): Promise<{ readonly overlays: Overlays }>;
  /** Both reject with a code when it cannot be done. */
  write(overlay: Overlay): Promise<void>;
  remove(overlay: Overlay): Promise<void>;
}

export interface AllocationPorts {
  readonly store: OverlayStore;
  readonly log: Log;
  readonly wallMs: () => number;
  /** Of a fault of ours: the process must not go on. */
  readonly fail: (error: unknown) => void;
}

/** `IPAddressPool.status` is written at most so often. */
const POOL_STATUS_INTERVAL_MS = 1_000;
/** What could not be written is tried again. */
const RETRY_MS = 1_000;
/** Files that are written at once. */
const WRITES_AT_ONCE = 16;
/** Timers of Node hold no more than 31 bits. */
const MAX_TIMER_MS = 60_000;

export class Allocation {
  readonly allocator: Allocator;
  readonly #ports: AllocationPorts;
  readonly #reader: FolderReader;
  #documents: FolderDocuments | undefined;
  #namespaces: ClusterSnapshot["namespaces"] = new Map();
  #overlays = new Map<string, Overlay>();
  /** What pools are to show, and when they were written last. */
  readonly #poolNumbers = new Map<string, PoolNumbers>();
  readonly #poolWrittenMs = new Map<string, number>();
  #reserved: string | undefined;
  /** Of the last thing that was written, or could not be. */
  #fault: string | undefined;
  #hasFailed = false;
  #timer: NodeJS.Timeout | undefined;
  #isQueued = false;
  #isClosed = false;
  #turn: Promise<void> = Promise.resolve();

  constructor(settings: Settings, ports: AllocationPorts) {
    this.allocator = new Allocator(settings);
    this.#ports = ports;
    this.#reader = new FolderReader(ports.wallMs);
  }

  /** Why what was decided could not be written; undefined when all is. */
  get fault(): string | undefined {
    if (this.#fault === undefined || this.#hasFailed) return this.#fault;
    return [...this.allocator.table.entries.values()].some(({ failures }) => failures > 0) ? this.#fault : undefined;
  }

  /** A complete reading of the folder; what is decided on it is written when `idle` resolves. */
  changed({ namespaces }: ClusterSnapshot, documents: FolderDocuments): void {
    this.#documents = documents;
    this.#namespaces = namespaces;
    this.#wake();
  }

  /** Resolves when everything that was told was dealt with. */
  async idle(): Promise<void> {
    await this.#turn;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#turn;
    clearTimeout(this.#timer);
  }

  #wake(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    this.#turn = this.#turn.then(() => this.#step()).catch(this.#ports.fail);
  }

  async #step(): Promise<void> {
    this.#isQueued = false;
    const documents = this.#documents;
    if (documents === undefined || this.#isClosed) return;
    this.#hasFailed = false;
    this.#overlays = new Map((await this.#ports.store.read()).overlays);
    const { services, pools, nodes, reserved, orphans } = this.#reader.read(documents, this.#overlays);
    this.#note({ kind: "pools", pools });
    this.#note({ kind: "namespaces", namespaces: this.#namespaces });
    this.#note({ kind: "nodes", nodes });
    this.#note({ kind: "reservations", reserved: this.#reserved ?? reserved, pinned: "" });
    this.#note({ kind: "services", services });
    if (!this.allocator.leads) this.#note({ kind: "lead" });
    for (const orphan of orphans) await this.#try(() => this.#ports.store.remove(orphan));
    await this.#settle(documents);
    await this.#flush(documents);
    this.#setTimer();
  }

  async #settle(documents: FolderDocuments): Promise<void> {
    for (;;) {
      const effects = this.allocator.settle(this.#ports.wallMs());
      if (effects.length === 0) return;
      const writes = effects.filter((effect) => effect.kind === "write");
      for (const effect of effects) this.#take(effect);
      for (let next = 0; next < writes.length; next += WRITES_AT_ONCE) {
        await Promise.all(writes.slice(next, next + WRITES_AT_ONCE).map((write) => this.#write(write, documents)));
      }
    }
  }

  /** All but writes of Services. */
  #take(effect: Effect): void {
    switch (effect.kind) {
      case "write":
      // What is known is what was read last, and nobody else writes.
      case "read-again":
        return;
      case "event": {
        const { about, key, text } = effect;
        const fields = { kind: about, object: key, reason: text.reason, message: text.message };
        if (text.type === "Warning") this.#ports.log.warn("event", fields);
        else this.#ports.log.info("event", fields);
        return;
      }
      case "pool-status":
        this.#poolNumbers.set(effect.pool, effect.numbers);
        return;
      case "reserve":
        this.#reserved = effect.reserved;
        return;
      default:
        effect satisfies never;
    }
  }

  async #write({ key, id, change }: Write, { values }: FolderDocuments): Promise<void> {
    const manifest = values.get(`services ${key}`);
    const known = this.#overlays.get(`services ${key}`);
    const overlay = written(this.#reader.base(`services ${key}`, manifest, known), change);
    const isWritten = await this.#try(() => this.#put(`services ${key}`, overlay));
    const service: AllocatorService | undefined = this.#reader.service(key, manifest, isWritten ? overlay : known);
    if (!isWritten) this.#note({ kind: "written", key, id, answer: "refused" });
    else if (service === undefined) this.#note({ kind: "written", key, id, answer: "gone" });
    else this.#note({ kind: "written", key, id, answer: "done", service });
  }

  /** What may wait: the numbers of pools, and reservations. */
  async #flush({ values }: FolderDocuments): Promise<void> {
    const nowMs = this.#ports.wallMs();
    for (const [pool, numbers] of this.#poolNumbers) {
      const key = `pools ${pool}`;
      const manifest = values.get(key);
      const sinceMs = nowMs - (this.#poolWrittenMs.get(pool) ?? 0);
      if (manifest === undefined) this.#poolNumbers.delete(pool);
      else if (sinceMs < 0 || sinceMs >= POOL_STATUS_INTERVAL_MS) {
        this.#poolWrittenMs.set(pool, nowMs);
        const base = this.#reader.base(key, manifest, this.#overlays.get(key));
        const isDone = await this.#try(() => this.#put(key, { ...base, status: numbersOf(numbers) }));
        if (isDone) this.#poolNumbers.delete(pool);
      }
    }
    const reserved = this.#reserved;
    if (reserved === undefined) return;
    const isDone = await this.#try(() => this.#ports.store.write(reservationsOverlay(reserved)));
    if (isDone) this.#reserved = undefined;
  }

  async #put(key: string, overlay: Overlay): Promise<void> {
    await this.#ports.store.write(overlay);
    this.#overlays.set(key, overlay);
  }

  async #try(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      this.#fault = undefined;
      return true;
    } catch (error) {
      const problem = `what was decided cannot be written (${errnoOf(error)})`;
      if (this.#fault === undefined) this.#ports.log.error("status file not written", { code: errnoOf(error) });
      this.#fault = problem;
      this.#hasFailed = true;
      return false;
    }
  }

  #note(event: AllocatorEvent): void {
    this.allocator.note(event, this.#ports.wallMs());
  }

  #setTimer(): void {
    const nowMs = this.#ports.wallMs();
    const isOpen = this.#hasFailed || this.#poolNumbers.size > 0 || this.#reserved !== undefined;
    const dueMs = Math.min(this.allocator.dueMs ?? Number.POSITIVE_INFINITY, isOpen ? nowMs + RETRY_MS : Infinity);
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => this.#wake(), Math.min(MAX_TIMER_MS, Math.max(0, dueMs - nowMs)));
  }
}

/** What is written after a change: the status whole, as an API server would show it. */
function written(base: Overlay, { ingress, pool, condition }: StatusChange): Overlay {
  const { [SERVICE_ANNOTATIONS.allocatedFromPool]: shown, ...others } = base.annotations;
  const from = pool === undefined ? shown : (pool ?? undefined);
  const held = fieldOf(base.status, "loadBalancer") ?? {};
  const before = fieldOf(base.status, "conditions");
  const conditions = Array.isArray(before) ? (before as readonly unknown[]) : [];
  const foreign = conditions.filter((each) => fieldOf(each, "type") !== ALLOCATED_CONDITION);
  const ours = condition === null || condition === undefined ? [] : [{ type: ALLOCATED_CONDITION, ...condition }];
  const all = condition === undefined ? conditions : [...foreign, ...ours];
  return {
    ...base,
    annotations: from === undefined ? others : { ...others, [SERVICE_ANNOTATIONS.allocatedFromPool]: from },
    status: {
      loadBalancer:
        ingress === undefined ? held : ingress.length === 0 ? {} : { ingress: ingress.map((ip) => ({ ip })) },
      ...(all.length === 0 ? {} : { conditions: all }),
    },
  };
}

/** Numbers that YAML's readers would round stay text. */
function numbersOf(numbers: PoolNumbers): Readonly<Record<string, number | string>> {
  return Object.fromEntries(
    Object.entries(numbers).map(([name, text]: readonly [string, string]) => {
      const number = Number(text);
      return [name, Number.isSafeInteger(number) ? number : text];
    }),
  );
}
