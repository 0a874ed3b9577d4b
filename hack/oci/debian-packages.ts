/** Debian packages of any architecture, fetched and unpacked beside the system: apt gets a state of its own, so no root and no foreign architecture is needed. */
import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { emptyFolder, run } from "./run.ts";

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  /** Its fields, as `dpkg` keeps them. */
  readonly control: string;
}

/** Unpacks the packages, and those that hold their licences, into `folder`. What was fetched before is in `cache` and is taken from there. */
export function unpackDebianPackages(
  names: readonly string[],
  architecture: string,
  cache: string,
  folder: string,
): readonly DebianPackage[] {
  emptyFolder(folder);
  const unpacked = new Map<string, DebianPackage>();
  const waiting = [...names];
  for (const name of waiting) {
    if (unpacked.has(name)) continue;
    const file = fetchPackage(name, architecture, cache);
    run("dpkg-deb", ["-x", file, folder]);
    const control = run("dpkg-deb", ["-f", file]);
    unpacked.set(name, { name, version: run("dpkg-deb", ["-f", file, "Version"]).trim(), control });
    // Packages of one source share the copyright file: their folder is a link to that of another package.
    const documents = join(folder, "usr/share/doc", name);
    if (lstatSync(documents).isSymbolicLink()) waiting.push(basename(readlinkSync(documents)));
  }
  return [...unpacked.values()];
}

function fetchPackage(name: string, architecture: string, cache: string): string {
  const held = heldFile(name, cache);
  if (held !== undefined) return held;
  const apt = aptOptions(architecture, resolve(cache, "apt"));
  if (!existsSync(join(cache, "apt/updated"))) {
    run("apt-get", [...apt, "update"]);
    writeFileSync(join(cache, "apt/updated"), "");
  }
  run("apt-get", [...apt, "download", name], cache);
  const fetched = heldFile(name, cache);
  if (fetched === undefined) throw new Error(`apt-get download ${name} left no file in ${cache}`);
  return fetched;
}

function heldFile(name: string, cache: string): string | undefined {
  if (!existsSync(cache)) return undefined;
  const file = readdirSync(cache).find((each) => each.startsWith(`${name}_`) && each.endsWith(".deb"));
  return file === undefined ? undefined : join(cache, file);
}

function aptOptions(architecture: string, state: string): readonly string[] {
  for (const folder of ["lists/partial", "archives/partial"]) mkdirSync(join(state, folder), { recursive: true });
  writeFileSync(join(state, "status"), "");
  const settings = {
    "Dir::State": state,
    "Dir::State::status": join(state, "status"),
    "Dir::Cache": state,
    "APT::Architecture": architecture,
    "APT::Architectures": architecture,
    // Root would give up its rights for one that may not write here.
    "APT::Sandbox::User": "root",
  };
  return ["-qq", ...Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`])];
}
