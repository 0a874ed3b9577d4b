/** One lane's process: what it writes goes to a file, how it ended is told once. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface LaneEnd {
  readonly counts: Counts;
  /** Mocha's list of them, each with its error; empty when no test failed. */
  readonly failures: string;
  /** Why it counts as failed although no test says so. */
  readonly trouble?: string;
}

const CLOSING_LINE = /(?:^|\n)(\d+) passed, (\d+) failed, (\d+) skipped\n$/;
/** What mocha's spec reporter writes at the end, before ours writes anything more. */
const FAILURES = /\n {2}\d+ failing\n(.*?)(?=\n {2}slowest files\n|$)/s;
/** As `timeout` reads it: whatever it says meanwhile, no lane takes so long. */
const LIMIT = "2h";
const LOOK_MS = 1_000;
const GRACE_MS = 10_000;
const PIECE_BYTES = 65_536;

export class LaneRun {
  readonly #child: ChildProcess;
  readonly #logPath: string;
  readonly #log: number;
  readonly #silenceLimitMs: number;
  #printedBytes = 0;
  #hasFallenSilent = false;

  /**
   * `timeout` leads a group of its own, so that whatever the lane started can be ended with it. It stays in our session, though: where
   * the kernel groups tasks by session, `nice` counts within a session only.
   */
  constructor(argv: readonly string[], logPath: string, silenceLimitMs: number) {
    this.#logPath = logPath;
    this.#silenceLimitMs = silenceLimitMs;
    const log = openSync(logPath, "w");
    this.#child = spawn("timeout", [LIMIT, ...argv], { stdio: ["ignore", log, log] });
    closeSync(log);
    this.#log = openSync(logPath, "r");
  }

  /** Resolves when it has ended, by itself or because it wrote nothing for too long. */
  async ended(): Promise<LaneEnd> {
    const exit = once(this.#child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
    const watching = new AbortController();
    void this.#endWhenSilent(watching.signal);
    const [code, signal] = await exit;
    watching.abort();
    return judge(readFileSync(this.#logPath, "utf8"), this.#hasFallenSilent ? "silence" : (signal ?? code ?? 0));
  }

  /** What it has written since the last call. */
  *news(): Iterable<Uint8Array> {
    for (;;) {
      const piece = new Uint8Array(PIECE_BYTES);
      const bytes = readSync(this.#log, piece, 0, PIECE_BYTES, this.#printedBytes);
      if (bytes === 0) return;
      this.#printedBytes += bytes;
      yield piece.subarray(0, bytes);
    }
  }

  close(): void {
    closeSync(this.#log);
  }

  /** To it and everything it started. */
  signal(signal: NodeJS.Signals): void {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch {
      // They have ended.
    }
  }

  async #endWhenSilent(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (Date.now() - statSync(this.#logPath).mtimeMs > this.#silenceLimitMs) {
        this.#hasFallenSilent = true;
        this.signal("SIGTERM");
        await pause(GRACE_MS, undefined, { signal }).catch(() => undefined);
        this.signal("SIGKILL");
        return;
      }
      await pause(Math.min(LOOK_MS, this.#silenceLimitMs), undefined, { signal }).catch(() => undefined);
    }
  }
}

/** `end`: the exit code, the signal that ended it, or that it had to be ended. A lane that ends badly counts as one failure at least. */
export function judge(output: string, end: number | NodeJS.Signals | "silence"): LaneEnd {
  const found = CLOSING_LINE.exec(output);
  const [passed = 0, failed = 0, skipped = 0] = found?.slice(1).map(Number) ?? [];
  const trouble = troubleOf(end, failed, found !== null);
  const failures = failed === 0 ? "" : (FAILURES.exec(output)?.[1] ?? "");
  if (trouble === undefined) return { counts: { passed, failed, skipped }, failures };
  return { counts: { passed, failed: failed + 1, skipped }, failures, trouble };
}

function troubleOf(
  end: number | NodeJS.Signals | "silence",
  failed: number,
  hasClosingLine: boolean,
): string | undefined {
  if (end === "silence") return "wrote nothing for too long and was ended";
  if (typeof end === "string") return `was ended by ${end}`;
  if (!hasClosingLine) return `ended with exit code ${end} before its tests did`;
  return end !== 0 && failed === 0 ? `ended with exit code ${end} though no test failed` : undefined;
}
