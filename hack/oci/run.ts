/** Tools that the image is made with. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";

/** What the tool prints. @throws with what it complains about */
export function run(tool: string, words: readonly string[], folder = "."): string {
  return execFileSync(tool, words, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

export function emptyFolder(path: string): string {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  return path;
}
