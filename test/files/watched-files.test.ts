import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type FileContents, WatchedFiles } from "../../src/files/watched-files.ts";

const LIMIT_MS = 8_000;

function textOf(contents: FileContents): string {
  return [...contents].map(([name, bytes]) => `${name}=${Buffer.from(bytes).toString()}`).join(" ");
}

describe("WatchedFiles", () => {
  let folder = "";
  let files: WatchedFiles | undefined;
  let told: string[] = [];
  let problems: string[] = [];
  let wake: (() => void) | undefined;

  async function start(): Promise<void> {
    files = new WatchedFiles({
      folder,
      names: ["key", "other"],
      onChange: (contents) => {
        told.push(textOf(contents));
        wake?.();
      },
      onProblem: (path, code) => void problems.push(`${path.slice(folder.length)} ${code}`),
    });
    await files.start();
  }

  /** Until so many were told, and no longer than a rescan would take. */
  async function toldTimes(count: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => reject(new Error(`told ${told.length} times: ${told.join(", ")}`)), LIMIT_MS);
    wake = () => {
      if (told.length >= count) resolve(undefined);
    };
    wake();
    await promise.finally(() => clearTimeout(timer));
  }

  /** As the kubelet writes a Secret: a folder of its own, which one link names, which the files' links lead through. */
  function project(version: string, contents: Readonly<Record<string, string>>): void {
    mkdirSync(join(folder, `..${version}`));
    for (const [name, text] of Object.entries(contents)) writeFileSync(join(folder, `..${version}`, name), text);
    symlinkSync(`..${version}`, join(folder, "..data_tmp"));
    renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "watched-files-"));
    told = [];
    problems = [];
    wake = undefined;
  });

  afterEach(() => {
    files?.close();
    rmSync(folder, { recursive: true });
  });

  it("tells at once what is there, be it nothing", async () => {
    await start();
    expect(told).to.deep.equal([""]);
  });

  it("notices the kubelet's swap of a link", async () => {
    project("one", { key: "1" });
    for (const name of ["key", "other"]) symlinkSync(join("..data", name), join(folder, name));
    await start();
    project("two", { key: "2", other: "1" });
    await toldTimes(2);
    expect(told).to.deep.equal(["key=1", "key=2 other=1"]);
  });

  it("tells several writes once, and none that changes nothing", async () => {
    writeFileSync(join(folder, "key"), "1");
    await start();
    writeFileSync(join(folder, "key"), "1");
    writeFileSync(join(folder, "unrelated"), "1");
    writeFileSync(join(folder, "key"), "2");
    writeFileSync(join(folder, "other"), "2");
    await toldTimes(2);
    expect(told).to.deep.equal(["key=1", "key=2 other=2"]);
  });

  it("keeps what it knew of a file that cannot be read, and says so once", async () => {
    writeFileSync(join(folder, "key"), "1");
    await start();
    rmSync(join(folder, "key"));
    mkdirSync(join(folder, "key"));
    writeFileSync(join(folder, "other"), "1");
    await toldTimes(2);
    expect(told).to.deep.equal(["key=1", "key=1 other=1"]);
    writeFileSync(join(folder, "other"), "2");
    await toldTimes(3);
    expect(problems).to.deep.equal(["/key EISDIR"]);
  });
});
