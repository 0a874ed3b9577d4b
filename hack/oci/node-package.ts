/** npm's package of Node for an architecture, in the version and with the checksum of package-lock.json. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { emptyFolder, run, runNpm } from "./run.ts";

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>;
}

/** The folder with bin/node: the installed one, or, for another architecture, one that is fetched into `cache`. */
export function nodePackageFolder(root: string, name: string, cache: string): { folder: string; version: string } {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as Lock;
  const locked = lock.packages[`node_modules/${name}`];
  if (locked === undefined) throw new Error(`package-lock.json has no ${name}`);
  const { version, integrity } = locked;
  const installed = join(root, "node_modules", name);
  if (existsSync(join(installed, "bin/node"))) return { folder: installed, version };

  mkdirSync(cache, { recursive: true });
  const archive = join(cache, `${name}-${version}.tgz`);
  if (!existsSync(archive))
    runNpm(["pack", `${name}@${version}`, "--loglevel=error", "--pack-destination", cache], root);
  const sum = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (sum !== integrity) throw new Error(`${archive} is not what package-lock.json says: remove it`);
  const folder = emptyFolder(join(cache, name));
  run("tar", ["-xzf", archive, "-C", folder, "--strip-components=1"]);
  return { folder, version };
}
