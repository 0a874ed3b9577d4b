/** Tools that the image is made with. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { delimiter } from "node:path";

/** Fetches with the machine's own npm and node, as `npm ci` of a fresh clone did: they trust the certificates that the machine trusts. */
export function runNpm(words: readonly string[], folder: string): string {
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((entry) => !entry.endsWith("node_modules/.bin"));
  return run("npm", words, folder, { ...process.env, PATH: path.join(delimiter) });
}

/** What the tool prints. @throws with what it complains about */
export function run(tool: string, words: readonly string[], folder = ".", environment = process.env): string {
  return execFileSync(tool, words, {
    cwd: folder,
    env: environment,
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
