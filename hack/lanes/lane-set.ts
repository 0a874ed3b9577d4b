/**
 * Lanes at the same time, read one after the other: what the first writes is shown while it runs, what another writes when those before
 * it have ended. A lane that fails meanwhile says so in a line. At the end stands again what failed, for who is shown no more than that;
 * the very last line counts all: `N passed, N failed, N skipped`.
 */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Counts, type LaneEnd, LaneRun } from "./lane-run.ts";
import type { Lane } from "./lanes.ts";

const LOOK_MS = 200;

export interface LaneSetOptions {
  /** A lane comes behind those that it runs after. */
  readonly lanes: readonly Lane[];
  readonly argvOf: (lane: Lane) => readonly string[];
  readonly logFolder: string;
  /** A lane that writes nothing for so long is ended. */
  readonly silenceLimitMs: number;
  readonly planeIsBuilt: () => Promise<unknown>;
  readonly write: (text: string | Uint8Array) => void;
}

interface Track {
  readonly lane: Lane;
  readonly logPath: string;
  run?: LaneRun;
  end?: LaneEnd & { readonly tookMs: number };
}

export class LaneSet {
  readonly #options: LaneSetOptions;
  readonly #tracks: readonly Track[];
  #shown: Track | undefined;
  #endedBy: NodeJS.Signals | undefined;

  constructor(options: LaneSetOptions) {
    this.#options = options;
    this.#tracks = options.lanes.map((lane) => ({
      lane,
      logPath: join(options.logFolder, `test-${lane.name.toLowerCase().replaceAll(" ", "-")}`),
    }));
  }

  /** The exit code: 0 when every test of every lane passed. */
  async run(): Promise<number> {
    const isPlaneNeeded = this.#options.lanes.some(({ needsPlane }) => needsPlane);
    const plane = isPlaneNeeded ? this.#options.planeIsBuilt() : Promise.resolve();
    const ends = new Map<string, Promise<void>>();
    for (const track of this.#tracks) {
      const { name, after, needsPlane } = track.lane;
      const before = after.flatMap((other) => ends.get(other) ?? []);
      ends.set(name, this.#follow(track, needsPlane ? [...before, plane] : before));
    }
    for (const track of this.#tracks) await this.#show(track);
    const { write } = this.#options;
    for (const { lane, end } of this.#tracks) {
      if (end !== undefined && end.failures !== "") write(`\n=== failed in lane ${lane.name}\n${end.failures}`);
    }
    write("\n");
    for (const track of this.#tracks) write(sentenceOf(track));
    const { passed, failed, skipped } = this.#tracks.map(({ end }) => end?.counts ?? NONE).reduce(sum, NONE);
    write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
    return failed === 0 ? 0 : 1;
  }

  /** To every lane that runs; none begins after it. */
  signal(signal: NodeJS.Signals): void {
    this.#endedBy = signal;
    for (const { run } of this.#tracks) run?.signal(signal);
  }

  async #follow(track: Track, before: readonly Promise<unknown>[]): Promise<void> {
    await Promise.all(before);
    if (this.#endedBy !== undefined) {
      const trouble = `did not begin because of ${this.#endedBy}`;
      track.end = { counts: { ...NONE, failed: 1 }, failures: "", trouble, tookMs: 0 };
      return;
    }
    const { argvOf, silenceLimitMs, write } = this.#options;
    const beganMs = performance.now();
    track.run = new LaneRun(argvOf(track.lane), track.logPath, silenceLimitMs);
    const end = await track.run.ended();
    track.end = { ...end, tookMs: performance.now() - beganMs };
    if (end.counts.failed > 0 && this.#shown !== track) write(`\n(meanwhile) ${sentenceOf(track)}\n`);
  }

  async #show(track: Track): Promise<void> {
    const { write } = this.#options;
    this.#shown = track;
    write(`\n=== lane ${track.lane.name}: ${track.lane.files.length} files\n`);
    for (;;) {
      const hasEnded = track.end !== undefined;
      for (const piece of track.run?.news() ?? []) write(piece);
      if (hasEnded) break;
      await pause(LOOK_MS);
    }
    track.run?.close();
    if (track.end?.trouble !== undefined) write(sentenceOf(track));
  }
}

const NONE: Counts = { passed: 0, failed: 0, skipped: 0 };

function sum(a: Counts, b: Counts): Counts {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

/** A line. */
function sentenceOf({ lane: { name }, end, logPath }: Track): string {
  if (end === undefined) return "";
  const { passed, failed, skipped } = end.counts;
  const trouble = end.trouble === undefined ? "" : `; it ${end.trouble}`;
  const where = failed === 0 ? "" : `; output in ${logPath}`;
  const minutes = (end.tookMs / 60_000).toFixed(1);
  return `lane ${name}: ${passed} passed, ${failed} failed, ${skipped} skipped in ${minutes} min${trouble}${where}\n`;
}
