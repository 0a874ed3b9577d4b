/** esbuild's part of what ships: programs as minified modules, with chunks that are loaded on demand. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { build, type Metafile } from "esbuild";

export interface EntryPoint {
  /** Name of the output file without its ending. */
  readonly out: string;
  readonly in: string;
}

/** The speaker and its wire thread. */
export const SPEAKER_ENTRY_POINTS: readonly EntryPoint[] = [
  { out: "speaker", in: "speaker/main.ts" },
  { out: "wire", in: "speaker/wire.ts" },
];

/** CommonJS packages inside an ES module call `require("node:…")`, which does not exist there. */
const REQUIRE =
  'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);';

/** Costs 10 MB of memory, and the files source never needs it. */
const ON_DEMAND = "node_modules/@kubernetes/client-node/";

/**
 * All of them on the same chunks.
 * @throws when a package that is to be loaded on demand is loaded at start
 */
export async function bundlePrograms(
  root: string,
  outdir: string,
  entryPoints: readonly EntryPoint[],
  withSourceMaps: boolean,
): Promise<Metafile> {
  rmSync(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...entryPoints],
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    // V8 keeps source text in memory: minifying saves 30 MB of it.
    minify: true,
    sourcemap: withSourceMaps ? "linked" : false,
    metafile: true,
    external: ["*.node"],
    banner: { js: REQUIRE },
    logLevel: "warning",
  });
  for (const { out } of entryPoints) {
    const early = inputsAtStart(metafile, `${out}.js`).find((input) => input.startsWith(ON_DEMAND));
    if (early !== undefined) throw new Error(`${out}.js loads ${early} at start; import it on demand`);
  }
  return metafile;
}

/** The sources that are loaded with the output file of this name: all that its static imports lead to. */
function inputsAtStart(metafile: Metafile, name: string): readonly string[] {
  const first = Object.keys(metafile.outputs).find((path) => path === name || path.endsWith(join("/", name)));
  const reached = new Set(first === undefined ? [] : [first]);
  for (const path of reached) {
    for (const { path: next, kind } of metafile.outputs[path]?.imports ?? []) {
      if (kind === "import-statement" && next in metafile.outputs) reached.add(next);
    }
  }
  return [...reached].flatMap((path) => Object.keys(metafile.outputs[path]?.inputs ?? {}));
}
