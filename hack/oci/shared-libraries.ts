/** What a binary needs to start, as ldd says it, but read from the file: it may be one of another architecture. */
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.ts";

/** The path of the program that loads it, such as `/lib64/ld-linux-x86-64.so.2`. */
export function interpreterOf(binary: string): string {
  const path = /Requesting program interpreter: (\S+)\]/.exec(run("readelf", ["-lW", binary]))?.[1];
  if (path === undefined) throw new Error(`${binary} names no program interpreter`);
  return path;
}

/**
 * Name → file of every library that the binaries need, by themselves or through another.
 * @param folders where libraries are looked for @throws for one that is in none of them
 */
export function librariesOf(binaries: readonly string[], folders: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const waiting = [...binaries];
  for (const binary of waiting) {
    for (const [, name = ""] of run("readelf", ["-dW", binary]).matchAll(/\(NEEDED\).*\[([^\]]+)\]/g)) {
      if (found.has(name)) continue;
      const file = libraryFile(name, folders);
      found.set(name, file);
      waiting.push(file);
    }
  }
  return found;
}

/** @throws for a library that is in none of the folders */
export function libraryFile(name: string, folders: readonly string[]): string {
  const path = folders.map((folder) => join(folder, name)).find((each) => existsSync(each));
  if (path === undefined) throw new Error(`${name} is in none of ${folders.join(", ")}`);
  return realpathSync(path);
}
