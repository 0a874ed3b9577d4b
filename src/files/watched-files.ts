/** Some files of one folder, read again when something in it changes, and every 10 s in case no event came. Survives symlink swaps. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { bytesEqual } from "../base/bytes.ts";
import { errnoOf } from "../base/errors.ts";
import { FolderWatch } from "./folder-watch.ts";

/** By name; a file that is not there is absent. */
export type FileContents = ReadonlyMap<string, Uint8Array>;

/** Whoever writes several files, or one in several steps, is left alone for so long. */
const QUIET_MS = 100;
const RESCAN_MS = 10_000;

export interface WatchedFilesOptions {
  readonly folder: string;
  readonly names: readonly string[];
  /** Called when contents differ from those that were told last; first by `start`. */
  readonly onChange: (contents: FileContents) => void;
  /** A file that is there and cannot be read goes on counting as it was; each such code is told once until it is read again. */
  readonly onProblem: (path: string, code: string) => void;
}

export class WatchedFiles {
  readonly #options: WatchedFilesOptions;
  readonly #watch: FolderWatch;
  readonly #problems = new Map<string, string>();
  #contents: FileContents | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isReading = false;
  #isAgain = false;
  #isClosed = false;

  constructor(options: WatchedFilesOptions) {
    this.#options = options;
    this.#watch = new FolderWatch(resolve(options.folder), () => this.#readIn(QUIET_MS));
  }

  /** Reads and tells, whatever is there. */
  async start(): Promise<void> {
    await this.#read();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#watch.close();
  }

  #readIn(delayMs: number): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#read(), delayMs).unref();
  }

  /** One reading at a time; what comes up meanwhile leads to one more. Never rejects. */
  async #read(): Promise<void> {
    this.#isAgain = this.#isReading;
    if (this.#isReading) return;
    this.#isReading = true;
    await this.#watch.renew();
    const contents = new Map<string, Uint8Array>();
    for (const name of this.#options.names) {
      const bytes = await this.#readFile(name);
      if (bytes !== undefined) contents.set(name, bytes);
    }
    this.#isReading = false;
    if (this.#isClosed) return this.#watch.close();
    this.#readIn(this.#isAgain ? QUIET_MS : RESCAN_MS);
    if (this.#contents !== undefined && isSame(this.#contents, contents)) return;
    this.#contents = contents;
    this.#options.onChange(contents);
  }

  async #readFile(name: string): Promise<Uint8Array | undefined> {
    const path = join(this.#options.folder, name);
    try {
      const bytes = await readFile(path);
      this.#problems.delete(name);
      return bytes;
    } catch (error) {
      const code = errnoOf(error);
      if (code === "ENOENT") return undefined;
      if (this.#problems.get(name) !== code) this.#options.onProblem(path, code);
      this.#problems.set(name, code);
      return this.#contents?.get(name);
    }
  }
}

function isSame(one: FileContents, other: FileContents): boolean {
  if (one.size !== other.size) return false;
  for (const [name, bytes] of one) {
    const others = other.get(name);
    if (others === undefined || !bytesEqual(bytes, others)) return false;
  }
  return true;
}
