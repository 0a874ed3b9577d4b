/**
 * The speaker as it ships: dist/bundle with speaker.js, the wire thread's wire.js, their chunks, and the addon beside them.
 * What a module loads by URL lies beside it, so the folder is flat and can be copied anywhere. Run after hack/build.
 */
import { copyFileSync, existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const outdir = join(root, "dist/bundle");
const addon = join(root, "dist/src/sys/addon.node");

const entryPoints = [
  { out: "speaker", in: "speaker/main.ts" },
  { out: "wire", in: "speaker/wire.ts" },
].filter((entry) => existsSync(join(root, entry.in)));

/** CommonJS packages inside an ES module call `require("node:…")`, which does not exist there. */
const REQUIRE =
  'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);';

if (entryPoints.length === 0) {
  process.stdout.write("no entry point: nothing to bundle\n");
} else {
  rmSync(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    // V8 keeps source text in memory: minifying saves 30 MB of it.
    minify: true,
    sourcemap: "linked",
    metafile: true,
    external: ["*.node"],
    banner: { js: REQUIRE },
    logLevel: "warning",
  });
  writeFileSync(join(outdir, "package.json"), '{"type":"module"}\n');
  if (existsSync(addon)) copyFileSync(addon, join(outdir, "addon.node"));
  else if (existsSync(join(root, "src/sys/addon.c")))
    throw new Error("dist/src/sys/addon.node is missing: run hack/build");
  for (const file of Object.keys(metafile.outputs).filter((name) => name.endsWith(".js"))) {
    process.stdout.write(`${(statSync(join(root, file)).size / 1024).toFixed(0).padStart(6)} kB  ${file}\n`);
  }
}
