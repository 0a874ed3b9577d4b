/** `--source=files` on the main thread: the folder, and what /status says of it. */
import type { ClusterSnapshot } from "../src/desired/snapshot.ts";
import { FolderSource } from "../src/files/folder-source.ts";
import { objectsOf, type RunningSource, type SourceListener, type SourceStatus } from "./source.ts";

export interface FilesSourceOptions {
  readonly folder: string;
  readonly cacheFolder?: string;
  readonly wallMs: () => number;
}

export class FilesSource implements RunningSource {
  readonly location: string;
  readonly #folder: FolderSource;
  #snapshot: ClusterSnapshot | undefined;
  #problems: readonly string[] = [];
  #lastChangeMs: number | undefined;

  constructor({ folder, cacheFolder, wallMs }: FilesSourceOptions, listener: SourceListener) {
    this.location = folder;
    this.#folder = new FolderSource({
      folder,
      onChange: (snapshot, found) => {
        this.#snapshot = snapshot;
        this.#problems = found.map(({ sentence }) => sentence);
        if (snapshot !== undefined) this.#lastChangeMs = wallMs();
        listener.changed(snapshot, this.#problems);
      },
      ...(cacheFolder === undefined ? {} : { cacheFolder }),
    });
  }

  start(): Promise<void> {
    return this.#folder.start();
  }

  status(): SourceStatus {
    return {
      kind: "files",
      location: this.location,
      state: this.#snapshot === undefined ? "reading" : "current",
      objects: this.#snapshot === undefined ? {} : objectsOf(this.#snapshot),
      problems: [...this.#problems],
      ...(this.#lastChangeMs === undefined ? {} : { lastChange: new Date(this.#lastChangeMs).toISOString() }),
    };
  }

  close(): Promise<void> {
    return this.#folder.close();
  }
}
