/** The last good text of every manifest, kept over a restart in a folder of this speaker alone (DESIGN D2). */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../base/errors.ts";

export class FileCache {
  readonly #folder: string;

  /** `source`: the folder that the texts come from; another one has a cache of its own. */
  constructor(cacheFolder: string, source: string) {
    this.#folder = join(cacheFolder, "manifests", createHash("sha256").update(source).digest("hex").slice(0, 16));
  }

  /** Undefined when nothing is kept of that name, or it cannot be read: a cache may be lost at any time. */
  async read(file: string): Promise<string | undefined> {
    try {
      return await readFile(join(this.#folder, file), "utf8");
    } catch {
      return undefined;
    }
  }

  /** Whole or not at all. Gives the errno name when it failed. */
  async write(file: string, text: string): Promise<string | undefined> {
    try {
      await mkdir(this.#folder, { recursive: true });
      const temporary = join(this.#folder, `.${file}.new`);
      await writeFile(temporary, text);
      await rename(temporary, join(this.#folder, file));
      return undefined;
    } catch (error) {
      return errnoOf(error);
    }
  }

  /** Forgets the files that are gone. */
  async keepOnly(files: readonly string[]): Promise<void> {
    const kept = await readdir(this.#folder).catch((): string[] => []);
    const gone = kept.filter((file) => !files.includes(file));
    await Promise.allSettled(gone.map((file) => rm(join(this.#folder, file))));
  }
}
