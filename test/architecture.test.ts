/** Imports point downwards only (DESIGN §2): the table below is the documentation. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect } from "chai";

const ROOT = resolve(import.meta.dirname, "../..");

/** Folder → folders it may import besides itself; packages and `node:` modules are judged by the list after it. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  api: [],
  "src/base": [],
  "src/net": ["src/base"],
  "src/packet": ["src/net", "src/base"],
  "src/netlink": ["src/net", "src/base"],
  "src/desired": ["src/net", "src/base", "api"],
  "src/election": ["src/desired", "src/net", "src/base", "api"],
  "src/gossip": ["src/election", "src/desired", "src/net", "src/base", "api"],
  "src/announcer": ["src/packet", "src/net", "src/base", "api"],
  "src/allocator": ["src/desired", "src/net", "src/base", "api"],
  "src/sys": ["src/gossip", "src/announcer", "src/election", "src/packet", "src/netlink", "src/net", "src/base", "api"],
  "src/files": ["src/desired", "src/net", "src/base", "api"],
  "src/kube": ["src/desired", "src/net", "src/base", "api"],
  "src/options": ["src/net", "src/base"],
  "src/metrics": ["src/net", "src/base", "api"],
  "src/http": ["src/metrics", "src/net", "src/base", "api"],
  "src/daemon": ["src/files", "src/kube", "src/http", "src/options", "src/net", "src/base", "api"],
  speaker: ["src/*", "api"],
  controller: ["src/*", "api"],
  cli: ["src/kube", "src/http", "src/net", "src/base", "api"],
};

/** Pure folders know no socket, file, process or thread. */
const PURE = [
  "src/base",
  "src/net",
  "src/packet",
  "src/netlink",
  "src/desired",
  "src/election",
  "src/announcer",
  "src/allocator",
];
const IMPURE_MODULES = /^node:(fs|net|dgram|http|https|child_process|worker_threads|os|process|timers)/;

interface Import {
  readonly file: string;
  readonly target: string;
}

function sourceFiles(folder: string): string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  const found = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)];
  return found.map((match) => {
    const name = match[1] ?? "";
    const target = name.startsWith(".") ? relative(ROOT, resolve(ROOT, dirname(file), name)) : name;
    return { file, target };
  });
}

function folderOf(path: string): string {
  const parts = path.split("/");
  return parts[0] === "src" ? parts.slice(0, 2).join("/") : (parts[0] ?? "");
}

const folders = Object.keys(MAY_IMPORT);
const files = ["api", "src", "speaker", "controller", "cli"].flatMap(sourceFiles);
const imports = files.flatMap(importsOf);

describe("architecture", () => {
  it("sees the sources and their imports", () => {
    expect(files.length).to.be.greaterThan(10);
    expect(imports.length).to.be.greaterThan(10);
  });

  it("has a row for every folder", () => {
    expect(files.map(folderOf).filter((folder) => !folders.includes(folder))).to.deep.equal([]);
  });

  it("imports point downwards", () => {
    const wrong = imports.filter(({ file, target }) => {
      const from = folderOf(file);
      const to = folderOf(target);
      if (!folders.includes(to) || from === to) return false;
      const allowed = MAY_IMPORT[from] ?? [];
      return !allowed.includes(to) && !(allowed.includes("src/*") && to.startsWith("src/"));
    });
    expect(wrong).to.deep.equal([]);
  });

  it("pure folders import no system module", () => {
    const wrong = imports.filter(
      ({ file, target }) =>
        PURE.includes(folderOf(file)) &&
        IMPURE_MODULES.test(target) &&
        // node:net has the address grammar (isIPv4, isIPv6), which opens no socket.
        !(target === "node:net" && folderOf(file) === "src/net"),
    );
    expect(wrong).to.deep.equal([]);
  });

  it("no file is longer than 400 lines", () => {
    const all = [...files, ...["test", "hack", "bench"].flatMap(sourceFiles)];
    const long = all.filter((file) => readFileSync(join(ROOT, file), "utf8").split("\n").length > 401);
    expect(long).to.deep.equal([]);
  });
});
