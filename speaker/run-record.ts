/** How often this node's speaker started again without having left (DESIGN D4): one small file in the cache folder. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE_NAME = "run.json";

export class RunRecord {
  /** Starts that followed no leave; 0 without a cache folder. */
  readonly restarts: number;
  readonly #path: string | undefined;

  constructor(cacheFolder: string | undefined) {
    this.#path = cacheFolder === undefined ? undefined : join(cacheFolder, FILE_NAME);
    this.restarts = this.#path === undefined ? 0 : restartsAfter(read(this.#path));
    this.#write(false);
  }

  /** The next start is no restart. */
  markLeft(): void {
    this.#write(true);
  }

  #write(hasLeft: boolean): void {
    if (this.#path === undefined) return;
    try {
      mkdirSync(join(this.#path, ".."), { recursive: true });
      // A new file under the old name: a crash in between leaves one of the two whole.
      writeFileSync(`${this.#path}.new`, JSON.stringify({ restarts: this.restarts, hasLeft }));
      renameSync(`${this.#path}.new`, this.#path);
    } catch {
      // A cache folder that cannot be written costs the memory of restarts, not the service.
    }
  }
}

interface LastRun {
  readonly restarts: number;
  readonly hasLeft: boolean;
}

function read(path: string): LastRun | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof value !== "object" || value === null) return undefined;
    const { restarts, hasLeft } = value as Partial<Record<string, unknown>>;
    return typeof restarts === "number" && typeof hasLeft === "boolean" ? { restarts, hasLeft } : undefined;
  } catch {
    // No file: the first start. A broken one is as good as none.
    return undefined;
  }
}

function restartsAfter(record: LastRun | undefined): number {
  if (record === undefined) return 0;
  return record.hasLeft ? record.restarts : record.restarts + 1;
}
