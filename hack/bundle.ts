/**
 * The programs as they ship: dist/bundle with speaker.js, wire.js of its wire thread, arpeggio.js, arpeggio-controller.js, their chunks, and the addon
 * beside them. What a module loads by URL lies beside it, so the folder is flat and can be copied anywhere. dist/bin has the
 * commands for a PATH. Run after hack/build.
 */
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundlePrograms, SPEAKER_ENTRY_POINTS } from "./bundle-programs.ts";

const root = join(import.meta.dirname, "..");
const outdir = join(root, "dist/bundle");
const bin = join(root, "dist/bin");
const addon = join(root, "dist/src/sys/addon.node");

/** kubectl takes a program of the second name as its own command `arpeggio`. */
const COMMANDS = { arpeggio: "arpeggio", "kubectl-arpeggio": "arpeggio", "arpeggio-controller": "arpeggio-controller" };

if (!existsSync(addon)) throw new Error("dist/src/sys/addon.node is missing: run hack/build");
const { outputs } = await bundlePrograms(
  root,
  outdir,
  [
    ...SPEAKER_ENTRY_POINTS,
    { out: "arpeggio", in: "cli/main.ts" },
    { out: "arpeggio-controller", in: "controller/main.ts" },
  ],
  true,
);
writeFileSync(join(outdir, "package.json"), '{"type":"module"}\n');
copyFileSync(addon, join(outdir, "addon.node"));
rmSync(bin, { recursive: true, force: true });
mkdirSync(bin);
for (const [command, program] of Object.entries(COMMANDS)) {
  chmodSync(join(outdir, `${program}.js`), 0o755);
  symlinkSync(`../bundle/${program}.js`, join(bin, command));
}
for (const file of Object.keys(outputs).filter((name) => name.endsWith(".js"))) {
  process.stdout.write(`${(statSync(join(root, file)).size / 1024).toFixed(0).padStart(6)} kB  ${file}\n`);
}
