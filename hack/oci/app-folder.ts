/** An image's second layer: the bundle, the addon, and the licences of what the bundle is made of. */
import { chmodSync, copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Metafile } from "esbuild";
import { bundlePrograms, type EntryPoint } from "../bundle-programs.ts";
import type { Architecture } from "./architecture.ts";
import { run } from "./run.ts";

export async function makeAppFolder(
  root: string,
  folder: string,
  entryPoints: readonly EntryPoint[],
  architecture: Architecture,
): Promise<void> {
  const metafile = await bundlePrograms(root, folder, entryPoints, false);
  // A first line `#!` makes esbuild's output a program; in the image Node is told what to run.
  for (const { out } of entryPoints) chmodSync(join(folder, `${out}.js`), 0o644);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}\n');
  const compiler = architecture.toolPrefix === "" ? [] : [`CC=${architecture.toolPrefix}gcc`];
  run("env", [...compiler, "hack/build-addon", join(folder, "addon.node"), "-g0"], root);
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  writeFileSync(join(folder, "THIRD-PARTY-LICENSES"), licencesOf(root, metafile));
}

/** Of every package that is in the bundle. @throws for one that says nothing */
function licencesOf(root: string, { inputs }: Metafile): string {
  const folders = Object.keys(inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  const texts = [...new Set(folders)].toSorted().map((path) => {
    const folder = join(root, path);
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8").trim();
    if (file === undefined && license === undefined) throw new Error(`${path} names no licence`);
    return `${name} ${version} (${license ?? "see below"})\n\n${text}\n`;
  });
  return texts.join(`\n${"-".repeat(72)}\n\n`);
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}
