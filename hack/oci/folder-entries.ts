/** A folder as entries of a tar archive. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { TarEntry } from "./tar.ts";

/**
 * All that is in the folder, with names that begin with `prefix`, whose own folders are entries, too.
 * Modes are 0755 or 0644 by the owner's right to execute, whatever the umask was; a sticky folder is 01777.
 */
export function entriesOf(folder: string, prefix: string): readonly TarEntry[] {
  const parents = prefix.split("/").filter((part) => part !== "");
  const above = parents.map((_part, at): TarEntry => {
    return { kind: "folder", name: parents.slice(0, at + 1).join("/"), mode: 0o755 };
  });
  const inside = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path): TarEntry => {
    const stat = lstatSync(join(folder, path));
    const name = [...parents, path].join("/");
    if (stat.isSymbolicLink()) return { kind: "link", name, mode: 0o777, target: readlinkSync(join(folder, path)) };
    if (stat.isDirectory()) return { kind: "folder", name, mode: (stat.mode & 0o1000) === 0 ? 0o755 : 0o1777 };
    const mode = (stat.mode & 0o100) === 0 ? 0o644 : 0o755;
    return { kind: "file", name, mode, bytes: readFileSync(join(folder, path)) };
  });
  return [...above, ...inside];
}
