/**
 * A folder of manifests as the source of truth (DESIGN D2): watched, and looked through every 10 s in case the watch missed
 * something. Survives atomic renames, ConfigMap-style symlink swaps and the folder being replaced. The shell of file-state.ts.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { errnoOf } from "../base/errors.ts";
import type { ClusterSnapshot } from "../desired/snapshot.ts";
import { compareText } from "../desired/text-order.ts";
import { FileCache } from "./file-cache.ts";
import {
  type FileState,
  type FolderDocuments,
  mergeFiles,
  type ReadChunk,
  readChunk,
  readFileState,
  type SourceProblem,
  unreadableFile,
} from "./file-state.ts";
import { FolderWatch } from "./folder-watch.ts";
import { OVERLAY_FOLDER, OverlayFolder, type OverlayReading } from "./overlay-folder.ts";
import { splitDocuments } from "./parse-documents.ts";

/** An editor writes in several steps: the folder is read when it was quiet for so long, or unquiet for too long. */
const QUIET_MS = 30;
const UNQUIET_MS = 500;
/** Without any event: file systems without notification, and watches that were lost. */
const RESCAN_MS = 10_000;
/** A file that was truncated may be about to be written: it counts as empty only after so long. */
const EMPTY_MS = 1_000;
/** Parsing gives the event loop back after so long: HTTP is answered while 10,000 documents are read. */
const PARSE_SLICE_MS = 20;
const MANIFEST_NAME = /^[^.].*\.(?:ya?ml|json)$/;

export interface FolderSourceOptions {
  readonly folder: string;
  /** Where the last good text of each file is kept over a restart; absent: nowhere. */
  readonly cacheFolder?: string;
  /** With what is written, not its facts alone. */
  readonly keepsDocuments?: boolean;
  /**
   * The whole reading, whenever something in it changed. No snapshot: nothing could be read yet, which is not the same as
   * an empty one. A folder that cannot be read any more keeps its last snapshot.
   */
  readonly onChange: (
    snapshot: ClusterSnapshot | undefined,
    problems: readonly SourceProblem[],
    documents: FolderDocuments,
  ) => void;
}

interface KnownFile {
  /** Changes with every write and every replacement; empty: to be read again. */
  readonly signature: string;
  readonly text?: string;
  readonly state: FileState;
  /** What its pieces say, by their text. */
  readonly chunks: ReadonlyMap<string, ReadChunk>;
  readonly emptySinceMs?: number;
}

export class FolderSource {
  readonly #folder: string;
  readonly #options: FolderSourceOptions;
  readonly #cache: FileCache | undefined;
  readonly #watch: FolderWatch;
  readonly #overlayWatch: FolderWatch;
  readonly #overlayFolder: OverlayFolder;
  #files: ReadonlyMap<string, KnownFile> = new Map();
  #overlays: OverlayReading | undefined;
  #snapshot: ClusterSnapshot | undefined;
  #documents: FolderDocuments = { values: new Map(), unread: new Set(), isWhole: false };
  #said: readonly SourceProblem[] | undefined;
  #cacheFault: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #firstEventMs: number | undefined;
  #reading: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: FolderSourceOptions) {
    this.#options = options;
    this.#folder = resolve(options.folder);
    const { cacheFolder } = options;
    this.#cache = cacheFolder === undefined ? undefined : new FileCache(cacheFolder, this.#folder);
    this.#watch = new FolderWatch(this.#folder, () => this.#onEvent());
    this.#overlayWatch = new FolderWatch(join(this.#folder, OVERLAY_FOLDER), () => this.#onEvent());
    this.#overlayFolder = new OverlayFolder(this.#folder);
  }

  /** Begins to watch; resolves when the folder was read once, or could not be. Once more: reads again. */
  start(): Promise<void> {
    return this.#read();
  }

  /** Stops watching; `onChange` is not called any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#closeWatches();
    await this.#reading;
    // A reading that was under way may have renewed them.
    this.#closeWatches();
  }

  #closeWatches(): void {
    this.#watch.close();
    this.#overlayWatch.close();
  }

  #onEvent(): void {
    const nowMs = performance.now();
    this.#firstEventMs ??= nowMs;
    this.#readIn(Math.max(0, Math.min(QUIET_MS, this.#firstEventMs + UNQUIET_MS - nowMs)));
  }

  #readIn(delayMs: number): void {
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#read(), delayMs);
  }

  /** One reading after the other. */
  #read(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#readFolder());
    return this.#reading;
  }

  async #readFolder(): Promise<void> {
    if (this.#isClosed) return;
    this.#firstEventMs = undefined;
    // Watched before it is read: what is written in between causes another reading.
    await this.#watch.renew();
    await this.#overlayWatch.renew();
    const names = await manifestsIn(this.#folder);
    if (typeof names === "string") this.#tell([unreadableFolder(this.#options.folder, names)]);
    else await this.#readFiles(names);
    if (this.#firstEventMs === undefined) this.#readIn(this.#hasEmptyFile() ? EMPTY_MS : RESCAN_MS);
  }

  async #readFiles(names: readonly string[]): Promise<void> {
    const files = new Map<string, KnownFile>();
    for (const name of names) {
      const known = await this.#readOne(name, this.#files.get(name));
      if (known !== undefined) files.set(name, known);
    }
    await this.#cache?.keepOnly([...files.keys()]);
    const overlays = await this.#overlayFolder.read();
    const isSame =
      overlays === this.#overlays &&
      files.size === this.#files.size &&
      [...files].every(([name, { state }]) => this.#files.get(name)?.state === state);
    this.#files = files;
    this.#overlays = overlays;
    const states = [...files.values()].map(({ state }) => state);
    const { snapshot, documents, problems } = mergeFiles(states, overlays.overlays);
    if (this.#snapshot === undefined || !isSame) {
      this.#snapshot = snapshot;
      this.#documents = documents;
    }
    this.#tell([...problems, ...overlays.problems], !isSame);
  }

  /** Undefined for what is no file, and for a file that is gone by now. */
  async #readOne(name: string, before: KnownFile | undefined): Promise<KnownFile | undefined> {
    const path = join(this.#folder, name);
    const known = before ?? (await this.#lastGood(name));
    try {
      const signature = await signatureOf(path);
      if (signature === undefined) return undefined;
      if (before?.signature === signature) return before;
      const text = await readFile(path, "utf8");
      // Written while it was read: to be read again, and what was read is judged as it is.
      const isStill = (await signatureOf(path)) === signature;
      return await this.#judge(name, text, isStill ? signature : "", known);
    } catch (error) {
      const state = unreadableFile(known?.state, name, errnoOf(error));
      if (before !== undefined && sentencesOf(before.state.problems) === sentencesOf(state.problems)) return before;
      return { signature: "", state, chunks: known?.chunks ?? new Map() };
    }
  }

  async #judge(name: string, text: string, signature: string, before: KnownFile | undefined): Promise<KnownFile> {
    if (before?.text === text) {
      // Written again as it was: an emptiness seen meanwhile is over, and the next one is a new one.
      const { emptySinceMs: _, ...same } = before;
      return { ...same, signature };
    }
    const emptySinceMs = before?.emptySinceMs ?? performance.now();
    const pieces = splitDocuments(text);
    if (pieces.length === 0 && (before?.state.objects.length ?? 0) > 0 && before !== undefined) {
      if (performance.now() < emptySinceMs + EMPTY_MS) return { ...before, signature: "", emptySinceMs };
    }
    const chunks = new Map<string, ReadChunk>();
    let sliceEndMs = performance.now() + PARSE_SLICE_MS;
    for (const { text: piece } of pieces) {
      chunks.set(piece, before?.chunks.get(piece) ?? this.#readChunk(piece));
      if (performance.now() < sliceEndMs) continue;
      await setImmediate();
      sliceEndMs = performance.now() + PARSE_SLICE_MS;
    }
    const state = readFileState(before?.state, name, text, (piece) => chunks.get(piece) ?? this.#readChunk(piece));
    if (state.isGood) this.#cacheFault = await this.#cache?.write(name, text);
    return { signature, text, state, chunks };
  }

  /** What the file said when it was good, before this process began. */
  async #lastGood(name: string): Promise<KnownFile | undefined> {
    const text = await this.#cache?.read(name);
    if (text === undefined) return undefined;
    const state = readFileState(undefined, name, text, (piece) => this.#readChunk(piece));
    return { signature: "", state, chunks: new Map() };
  }

  #readChunk(piece: string): ReadChunk {
    return readChunk(piece, this.#options.keepsDocuments);
  }

  #hasEmptyFile(): boolean {
    return [...this.#files.values()].some(({ emptySinceMs }) => emptySinceMs !== undefined);
  }

  #tell(problems: readonly SourceProblem[], isChanged = false): void {
    const all = this.#cacheFault === undefined ? problems : [...problems, uncached(this.#cacheFault)];
    const isNews = isChanged || this.#said === undefined || sentencesOf(all) !== sentencesOf(this.#said);
    if (this.#isClosed || !isNews) return;
    this.#said = all;
    this.#options.onChange(this.#snapshot, all, this.#documents);
  }
}

/** In order; the errno name when the folder cannot be read. */
async function manifestsIn(folder: string): Promise<readonly string[] | string> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => MANIFEST_NAME.test(name)).toSorted(compareText);
  } catch (error) {
    return errnoOf(error);
  }
}

/** Undefined for a folder or a device. A symbolic link stands for what it points to. */
async function signatureOf(path: string): Promise<string | undefined> {
  const stats = await stat(path, { bigint: true });
  if (!stats.isFile()) return undefined;
  return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(":");
}

function unreadableFolder(folder: string, why: string): SourceProblem {
  return { kind: "unreadable", file: folder, sentence: `${folder}: the folder cannot be read (${why})` };
}

function uncached(why: string): SourceProblem {
  return { kind: "unreadable", file: "", sentence: `the cache folder cannot be written (${why})` };
}

function sentencesOf(problems: readonly SourceProblem[]): string {
  return problems.map(({ sentence }) => sentence).join("\n");
}
