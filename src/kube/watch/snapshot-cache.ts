/** The last snapshot, kept in a folder of this speaker alone, for a start while the API server is away. A cache may be lost at any time. */
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, Timer } from "../../base/clock.ts";
import { errnoOf } from "../../base/errors.ts";
import type { ClusterSnapshot } from "../../desired/snapshot.ts";
import { SNAPSHOT_KINDS } from "../../desired/snapshot-difference.ts";
import type { WatchedPod } from "../watched.ts";
import { decodeSlice, encodeSlice } from "./cache-slice.ts";
import type { GoodForm } from "./cluster-reading.ts";

/** Beside the snapshot, each of use without the others. */
const EXTRA_SLICES = ["pods", "goodForms"] as const;
const SLICES = [...SNAPSHOT_KINDS, ...EXTRA_SLICES] as const;
type SliceName = (typeof SLICES)[number];
export type Slices = Readonly<Partial<Record<SliceName, ReadonlyMap<string, unknown>>>>;

const SAVE_EVERY_MS = 5_000;
/** What has not changed for long is as good as new while the watches are well: its file's time says so. */
const CONFIRM_EVERY_MS = 60_000;
const OLDEST_MS = 24 * 3_600_000;
/** The manifests give 64 MiB of memory, and a file is there twice while it is replaced. */
const MAX_BYTES = 24 * 1_024 * 1_024;

export interface CachedReading {
  readonly snapshot: ClusterSnapshot;
  readonly pods?: ReadonlyMap<string, WatchedPod>;
  /** When it was last known to be true: wall time, ms. */
  readonly savedMs: number;
}

export interface SnapshotCacheOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly maxBytes?: number;
}

export class SnapshotCache {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #saved = new Map<SliceName, { readonly objects: ReadonlyMap<string, unknown>; readonly bytes: number }>();
  #wanted: Slices = {};
  #timer: Timer | undefined;
  #savedAtMs = Number.NEGATIVE_INFINITY;
  #confirmedAtMs = Number.NEGATIVE_INFINITY;
  #work: Promise<void> = Promise.resolve();
  #fault: string | undefined;
  #isOff = false;

  constructor({ folder, clock, maxBytes = MAX_BYTES }: SnapshotCacheOptions) {
    this.#folder = join(folder, "snapshot");
    this.#clock = clock;
    this.#maxBytes = maxBytes;
  }

  /** A sentence when nothing is kept though it should be. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Undefined when there is none, or only an old one. */
  async load(): Promise<CachedReading | undefined> {
    const maps = new Map<SliceName, ReadonlyMap<string, unknown>>();
    let savedMs = Number.POSITIVE_INFINITY;
    for (const name of SNAPSHOT_KINDS) {
      const slice = await this.#loadSlice(name);
      if (slice === undefined) return undefined;
      savedMs = Math.min(savedMs, slice.savedMs);
      maps.set(name, slice.objects);
    }
    const pods = (await this.#loadSlice("pods"))?.objects as ReadonlyMap<string, WatchedPod> | undefined;
    // Each map was encoded from facts of its own kind.
    const snapshot = { source: "kubernetes", ...Object.fromEntries(maps) } as unknown as ClusterSnapshot;
    return { snapshot, savedMs, ...(pods === undefined ? {} : { pods }) };
  }

  /** Of the advertisements that counted when they were saved, by name; empty when there are none, or only old ones. */
  async loadGoodForms(): Promise<ReadonlyMap<string, GoodForm>> {
    const slice = await this.#loadSlice("goodForms");
    return (slice?.objects ?? new Map()) as ReadonlyMap<string, GoodForm>;
  }

  /** What counts now. It is written soon, slices that are the same map as last time not at all. */
  offer(slices: Slices): void {
    this.#wanted = slices;
    if (this.#isOff || this.#timer !== undefined || this.#changed().length === 0) return;
    const inMs = Math.max(0, this.#savedAtMs + SAVE_EVERY_MS - this.#clock.nowMs());
    this.#timer = this.#clock.schedule(inMs, () => {
      this.#work = this.#work.then(() => this.#save());
    });
  }

  /** What was offered last is still true. */
  confirm(): void {
    const nowMs = this.#clock.nowMs();
    if (this.#isOff || nowMs - this.#confirmedAtMs < CONFIRM_EVERY_MS) return;
    this.#confirmedAtMs = nowMs;
    const seconds = this.#clock.wallMs() / 1_000;
    this.#work = this.#work.then(() => this.#touch(seconds));
  }

  async #touch(seconds: number): Promise<void> {
    await Promise.allSettled([...this.#saved.keys()].map((name) => utimes(this.#path(name), seconds, seconds)));
  }

  async close(): Promise<void> {
    this.#isOff = true;
    this.#timer?.cancel();
    await this.#work;
  }

  #changed(): readonly SliceName[] {
    return SLICES.filter((name) => {
      const wanted = this.#wanted[name];
      return wanted !== undefined && wanted !== this.#saved.get(name)?.objects;
    });
  }

  async #save(): Promise<void> {
    for (const name of this.#changed()) {
      const objects = this.#wanted[name];
      if (objects === undefined || this.#isOff) continue;
      const bytes = await encodeSlice(objects);
      this.#fault = await this.#write(name, bytes);
      if (this.#fault !== undefined) break;
      this.#saved.set(name, { objects, bytes: bytes.length });
    }
    this.#savedAtMs = this.#clock.nowMs();
    this.#timer = undefined;
    if (this.#fault === undefined) this.offer(this.#wanted);
  }

  /** Whole or not at all; a sentence when it failed. */
  async #write(name: SliceName, bytes: Uint8Array): Promise<string | undefined> {
    const others = [...this.#saved].filter(([other]) => other !== name);
    const allBytes = others.reduce((sum, [, slice]) => sum + slice.bytes, bytes.length);
    if (allBytes > this.#maxBytes) return this.#turnOff(allBytes);
    try {
      await mkdir(this.#folder, { recursive: true });
      const temporary = `${this.#path(name)}.new`;
      await writeFile(temporary, bytes);
      await rename(temporary, this.#path(name));
      return undefined;
    } catch (error) {
      return `the snapshot is not kept over a restart: its folder cannot be written (${errnoOf(error)})`;
    }
  }

  /** Half a snapshot is of no use, and an old one beside a new one worse. */
  async #turnOff(bytes: number): Promise<string> {
    this.#isOff = true;
    await Promise.allSettled([rm(this.#folder, { recursive: true, force: true })]);
    return `the snapshot is not kept over a restart: it takes ${mebibytes(bytes)} MiB, more than ${mebibytes(this.#maxBytes)}`;
  }

  async #loadSlice(
    name: SliceName,
  ): Promise<{ readonly objects: ReadonlyMap<string, unknown>; readonly savedMs: number } | undefined> {
    try {
      const path = this.#path(name);
      const { mtimeMs } = await stat(path);
      if (this.#clock.wallMs() - mtimeMs > OLDEST_MS) return undefined;
      const objects = await decodeSlice(await readFile(path));
      return objects === undefined ? undefined : { objects, savedMs: mtimeMs };
    } catch {
      return undefined;
    }
  }

  #path(name: SliceName): string {
    return join(this.#folder, `${name}.gz`);
  }
}

function mebibytes(bytes: number): string {
  return (bytes / 1_024 / 1_024).toFixed(1);
}

/** Undefined when there is no such folder, which is no fault: then nothing is kept. */
export async function openSnapshotCache(folder: string | undefined, clock: Clock): Promise<SnapshotCache | undefined> {
  if (folder === undefined) return undefined;
  const found = await stat(folder).catch(() => undefined);
  return found?.isDirectory() === true ? new SnapshotCache({ folder, clock }) : undefined;
}
