/** `.status` in a folder of manifests: read by everybody, written by its one allocator. The shell of overlay.ts. */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../base/errors.ts";
import { compareText } from "../desired/text-order.ts";
import type { SourceProblem } from "./file-state.ts";
import { formatOverlay, type Overlay, type Overlays, overlayFileName, overlayKey, parseOverlay } from "./overlay.ts";

export const OVERLAY_FOLDER = ".status";
const OVERLAY_NAME = /^[^.].*\.yaml$/;

/** The same value as long as nothing changes. */
export interface OverlayReading {
  readonly overlays: Overlays;
  readonly problems: readonly SourceProblem[];
}

interface KnownOverlay {
  readonly signature: string;
  /** The last good one. */
  readonly overlay?: Overlay;
  readonly problem?: SourceProblem;
}

export class OverlayFolder {
  readonly #folder: string;
  #files: ReadonlyMap<string, KnownOverlay> = new Map();
  #reading: OverlayReading = { overlays: new Map(), problems: [] };

  /** `manifests`: the folder that has the folder. */
  constructor(manifests: string) {
    this.#folder = join(manifests, OVERLAY_FOLDER);
  }

  /** A folder that is not there is empty; one that cannot be read, and a file that is broken, go on counting as they were. */
  async read(): Promise<OverlayReading> {
    const names = await this.#names();
    if (typeof names === "string") {
      const problem = problemOf("", `the folder cannot be read (${names})`);
      if (this.#reading.problems[0]?.sentence !== problem.sentence)
        this.#reading = { ...this.#reading, problems: [problem] };
      return this.#reading;
    }
    const files = new Map<string, KnownOverlay>();
    for (const name of names) {
      const known = await this.#readOne(name, this.#files.get(name));
      if (known !== undefined) files.set(name, known);
    }
    const isSame =
      files.size === this.#files.size && [...files].every(([name, file]) => this.#files.get(name) === file);
    this.#files = files;
    if (!isSame) this.#reading = readingOf([...files.values()]);
    return this.#reading;
  }

  /** Whole or not at all, and on the disk when this resolves. Rejects with what the system says. */
  async write(overlay: Overlay): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    const name = overlayFileName(overlay);
    const temporary = join(this.#folder, `.${name}.new`);
    await writeFile(temporary, formatOverlay(overlay), { flush: true });
    await rename(temporary, join(this.#folder, name));
  }

  /** One that is gone already is as good. Rejects with what the system says. */
  async remove(overlay: Pick<Overlay, "kind" | "namespace" | "name">): Promise<void> {
    await rm(join(this.#folder, overlayFileName(overlay)), { force: true });
  }

  /** In order; the errno name when the folder cannot be read. */
  async #names(): Promise<readonly string[] | string> {
    try {
      return (await readdir(this.#folder)).filter((name) => OVERLAY_NAME.test(name)).toSorted(compareText);
    } catch (error) {
      const code = errnoOf(error);
      return code === "ENOENT" ? [] : code;
    }
  }

  async #readOne(name: string, known: KnownOverlay | undefined): Promise<KnownOverlay | undefined> {
    const path = join(this.#folder, name);
    try {
      const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
      const signature = [dev, ino, size, mtimeNs, ctimeNs].join(":");
      if (known?.signature === signature) return known;
      const overlay = parseOverlay(await readFile(path, "utf8"));
      if (overlay !== undefined) return { signature, overlay };
      return { ...known, signature, problem: problemOf(name, "is nothing that an allocator wrote") };
    } catch (error) {
      const code = errnoOf(error);
      if (code === "ENOENT") return undefined;
      const problem = problemOf(name, `cannot be read (${code})`);
      if (known?.problem?.sentence === problem.sentence) return known;
      return { ...known, signature: "", problem };
    }
  }
}

function readingOf(files: readonly KnownOverlay[]): OverlayReading {
  const overlays = files.flatMap(({ overlay }) => (overlay === undefined ? [] : [overlay]));
  return {
    overlays: new Map(overlays.map((overlay) => [overlayKey(overlay), overlay])),
    problems: files.flatMap(({ problem }) => problem ?? []),
  };
}

function problemOf(name: string, what: string): SourceProblem {
  const file = name === "" ? OVERLAY_FOLDER : `${OVERLAY_FOLDER}/${name}`;
  return { kind: "unreadable", file, sentence: `${file}: ${what}` };
}
