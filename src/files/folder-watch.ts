/** Notices that something in a folder may have changed, and that the folder itself was replaced. A hint: readers look for themselves. */
import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";

export class FolderWatch {
  readonly #folder: string;
  readonly #onEvent: () => void;
  readonly #watchers = new Map<string, { readonly watcher: FSWatcher; readonly inode: string }>();

  constructor(folder: string, onEvent: () => void) {
    this.#folder = folder;
    this.#onEvent = onEvent;
  }

  /** Watches what the two paths are now; to be called before each reading, because a folder may be another one by then. */
  async renew(): Promise<void> {
    // The parent tells when the folder, or the symbolic link of its name, is replaced.
    await this.#renew(dirname(this.#folder), (name) => name === basename(this.#folder));
    await this.#renew(this.#folder, () => true);
  }

  close(): void {
    for (const { watcher } of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  async #renew(path: string, isMeant: (name: string) => boolean): Promise<void> {
    const inode = await inodeOf(path);
    const known = this.#watchers.get(path);
    if (known !== undefined && known.inode === inode) return;
    known?.watcher.close();
    this.#watchers.delete(path);
    if (inode === undefined) return;
    const watcher = watchOrNot(path, (name) => {
      if (name === null || isMeant(name)) this.#onEvent();
    });
    if (watcher === undefined) return;
    watcher.on("error", () => this.#drop(path, watcher));
    this.#watchers.set(path, { watcher, inode });
  }

  #drop(path: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.#watchers.get(path)?.watcher === watcher) this.#watchers.delete(path);
  }
}

/** A symbolic link is followed: it is the folder behind it that is watched. */
async function inodeOf(path: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** Without a watch (inotify's limits, a file system without it) the slow look through the folder remains. */
function watchOrNot(path: string, onName: (name: string | null) => void): FSWatcher | undefined {
  try {
    return watch(path, (_event, name) => onName(name));
  } catch {
    return undefined;
  }
}
