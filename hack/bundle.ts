/**
 * The speaker as it ships: dist/bundle with speaker.js, the wire thread's wire.js, their chunks, and the addon beside them.
 * What a module loads by URL lies beside it, so the folder is flat and can be copied anywhere. Run after hack/build.
 */
import { copyFileSync, existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleSpeaker } from "./bundle-speaker.ts";

const root = join(import.meta.dirname, "..");
const outdir = join(root, "dist/bundle");
const addon = join(root, "dist/src/sys/addon.node");

if (!existsSync(addon)) throw new Error("dist/src/sys/addon.node is missing: run hack/build");
const { outputs } = await bundleSpeaker(root, outdir, true);
writeFileSync(join(outdir, "package.json"), '{"type":"module"}\n');
copyFileSync(addon, join(outdir, "addon.node"));
for (const file of Object.keys(outputs).filter((name) => name.endsWith(".js"))) {
  process.stdout.write(`${(statSync(join(root, file)).size / 1024).toFixed(0).padStart(6)} kB  ${file}\n`);
}
