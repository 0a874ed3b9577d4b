/** What this node remembers of its own troubles over a crash (DESIGN D4): one small file in the cache folder. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addTrouble, type Trouble } from "../src/election/damping.ts";
import { type PastTrouble, pastTroublesOf } from "./speaker-ports.ts";

const FILE_NAME = "run.json";

export class RunRecord {
  readonly #path: string | undefined;
  /** `atMs` is wall time here: a monotonic clock does not outlive a reboot. */
  #troubles: readonly Trouble[];

  /** No record of a run before this one was found. */
  readonly isFirstRun: boolean;

  /** Without a cache folder nothing is remembered. */
  constructor(cacheFolder: string | undefined, wallMs: number) {
    this.#path = cacheFolder === undefined ? undefined : join(cacheFolder, FILE_NAME);
    const last = this.#path === undefined ? undefined : read(this.#path);
    this.isFirstRun = last === undefined;
    this.#troubles = troublesAtStart(last, wallMs);
    this.#write(false);
  }

  pastTroubles(wallMs: number): readonly PastTrouble[] {
    return pastTroublesOf(this.#troubles, wallMs);
  }

  addRefutedDeath(wallMs: number): void {
    this.#troubles = addTrouble(this.#troubles, { kind: "refuted-death", atMs: wallMs });
    this.#write(false);
  }

  /** What peers remember in place of a lost record. */
  remember(troubles: readonly PastTrouble[], wallMs: number): void {
    for (const { kind, ageMs } of troubles) {
      this.#troubles = addTrouble(this.#troubles, { kind, atMs: wallMs - ageMs });
    }
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
      const run: LastRun = { troubles: this.#troubles, hasLeft };
      writeFileSync(`${this.#path}.new`, JSON.stringify(run));
      renameSync(`${this.#path}.new`, this.#path);
    } catch {
      // A cache folder that cannot be written costs the memory of troubles, not the service.
    }
  }
}

export interface LastRun {
  readonly troubles: readonly Trouble[];
  readonly hasLeft: boolean;
}

/** A start that follows no leave is a restart; without a last run it is the first. */
export function troublesAtStart(last: LastRun | undefined, atMs: number): readonly Trouble[] {
  if (last === undefined) return [];
  return last.hasLeft ? last.troubles : addTrouble(last.troubles, { kind: "restart", atMs });
}

function read(path: string): LastRun | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof value !== "object" || value === null) return undefined;
    const { troubles, hasLeft } = value as Partial<Record<string, unknown>>;
    if (typeof hasLeft !== "boolean") return undefined;
    return { troubles: Array.isArray(troubles) ? troubles.filter(isTrouble) : [], hasLeft };
  } catch {
    // No file: the first start. A broken one is as good as none.
    return undefined;
  }
}

function isTrouble(value: unknown): value is Trouble {
  if (typeof value !== "object" || value === null) return false;
  const { kind, atMs } = value as Partial<Record<string, unknown>>;
  return (kind === "restart" || kind === "refuted-death") && Number.isFinite(atMs);
}
