import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import { FolderSource } from "../../src/files/folder-source.ts";

/** What is empty for so long was meant so. */
const EMPTY_MS = 1_000;

interface Reading {
  readonly snapshot: ClusterSnapshot | undefined;
  readonly sentences: readonly string[];
}

/** Collects readings; `until` waits for one that fits, and the test's own timeout is its limit. */
class Readings {
  #last: Reading | undefined;
  #wake: () => void = () => {};
  count = 0;

  readonly onChange = (
    snapshot: ClusterSnapshot | undefined,
    problems: readonly { readonly sentence: string }[],
  ): void => {
    this.#last = { snapshot, sentences: problems.map(({ sentence }) => sentence) };
    this.count++;
    this.#wake();
  };

  async until(fits: (reading: Reading) => boolean): Promise<Reading> {
    while (this.#last === undefined || !fits(this.#last)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#last;
  }

  get last(): Reading | undefined {
    return this.#last;
  }
}

function service(name: string, address = "192.0.2.1"): string {
  return `{apiVersion: v1, kind: Service, metadata: {name: ${name}}, spec: {type: LoadBalancer, loadBalancerIP: ${address}}}\n`;
}

function has(...names: readonly string[]): (reading: Reading) => boolean {
  return ({ snapshot }) =>
    snapshot !== undefined &&
    JSON.stringify([...snapshot.services.keys()]) === JSON.stringify(names.map((name) => `default/${name}`));
}

describe("FolderSource", () => {
  let root = "";
  let folder = "";
  let sources: FolderSource[] = [];

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "arpeggio-files-"));
    folder = join(root, "manifests");
    await mkdir(folder);
  });

  afterEach(async () => {
    await Promise.all(sources.map((source) => source.close()));
    sources = [];
    await rm(root, { recursive: true });
  });

  async function started(cacheFolder?: string): Promise<Readings> {
    const readings = new Readings();
    const source = new FolderSource({
      folder,
      onChange: readings.onChange,
      ...(cacheFolder === undefined ? {} : { cacheFolder }),
    });
    sources.push(source);
    await source.start();
    return readings;
  }

  const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);

  it("tells an empty folder from one that cannot be read", async () => {
    expect((await started()).last).to.deep.include({ sentences: [] });
    expect(has()((await started()).last ?? { snapshot: undefined, sentences: [] })).to.equal(true);
    await rm(folder, { recursive: true });
    const unread = (await started()).last;
    expect(unread?.snapshot).to.equal(undefined);
    expect(unread?.sentences).to.deep.equal([`${folder}: the folder cannot be read (ENOENT)`]);
  });

  it("reads yaml, yml and json, and nothing else", async () => {
    await write("a.yaml", service("a"));
    await write("b.yml", service("b"));
    await write("c.json", JSON.stringify({ apiVersion: "v1", kind: "Service", metadata: { name: "c" } }));
    await write("d.txt", service("d"));
    await write(".e.yaml", service("e"));
    await mkdir(join(folder, "f.yaml"));
    await (await started()).until(has("a", "b", "c"));
  });

  it("sees a file written, changed, renamed into place and removed", async () => {
    const readings = await started();
    await write("a.yaml", service("a"));
    await readings.until(has("a"));
    await write("a.yaml", service("b"));
    await readings.until(has("b"));
    await write("a.yaml.new", service("c"));
    await rename(join(folder, "a.yaml.new"), join(folder, "a.yaml"));
    await readings.until(has("c"));
    await unlink(join(folder, "a.yaml"));
    await readings.until(has());
  });

  it("keeps the last good state of a broken file, and says which line", async () => {
    await write("a.yaml", service("a"));
    await write("b.yaml", service("b", "192.0.2.2"));
    const readings = await started();
    await write("a.yaml", `# one\n${service("x")}---\nfoo: [\n`);
    const { snapshot, sentences } = await readings.until((reading) => reading.sentences.length > 0);
    expect(sentences[0]).to.match(/^a\.yaml:\d+: .*the last good state of the file stands$/);
    expect([...(snapshot?.services.keys() ?? [])]).to.deep.equal(["default/a", "default/b"]);
    await write("a.yaml", service("c"));
    expect((await readings.until(has("c", "b"))).sentences).to.deep.equal([]);
  });

  it("does not take a file that is being written for an empty one", async () => {
    await write("a.yaml", service("a"));
    const readings = await started();
    const emptyMs = performance.now();
    await write("a.yaml", "");
    await sources[0]?.start();
    await write("a.yaml", service("c"));
    await readings.until(has("c"));
    // A machine that stood still in between has given the file its time.
    if (performance.now() < emptyMs + EMPTY_MS) expect(readings.count).to.equal(2);
  });

  it("takes a file for empty that stays so for a second", async () => {
    await write("a.yaml", service("a"));
    const readings = await started();
    const emptyMs = performance.now();
    await write("a.yaml", "");
    await readings.until(has());
    expect(performance.now()).to.be.at.least(emptyMs + EMPTY_MS);
    expect(readings.count).to.equal(2);
  });

  it("gives a file that was empty for a moment, and is so again, a second anew", async () => {
    await write("a.yaml", service("a"));
    const readings = await started();
    for (let round = 0; round < 2; round++) {
      const emptyMs = performance.now();
      await write("a.yaml", "");
      await sources[0]?.start();
      const isInTime = performance.now() < emptyMs + EMPTY_MS;
      await write("a.yaml", service("a"));
      await sources[0]?.start();
      if (isInTime) expect(readings.count).to.equal(1);
      await sleep(EMPTY_MS);
    }
  });

  it("follows the symbolic links of a mounted ConfigMap", async () => {
    for (const version of ["v1", "v2"]) {
      await mkdir(join(folder, `..${version}`));
      await writeFile(join(folder, `..${version}`, "a.yaml"), service(version));
    }
    await symlink("..v1", join(folder, "..data"));
    await symlink(join("..data", "a.yaml"), join(folder, "a.yaml"));
    const readings = await started();
    await readings.until(has("v1"));
    await symlink("..v2", join(folder, "..data_tmp"));
    await rename(join(folder, "..data_tmp"), join(folder, "..data"));
    await readings.until(has("v2"));
  });

  it("survives the folder being replaced, and keeps its snapshot in between", async () => {
    await write("a.yaml", service("a"));
    const readings = await started();
    await rename(folder, join(root, "old"));
    const away = await readings.until(({ sentences }) => sentences.length > 0);
    expect(has("a")(away)).to.equal(true);
    await mkdir(join(root, "new"));
    await writeFile(join(root, "new", "b.yaml"), service("b"));
    await rename(join(root, "new"), folder);
    await readings.until(has("b"));
    await write("c.yaml", service("c"));
    await readings.until(has("b", "c"));
  });

  it("says nothing when nothing changed", async () => {
    await write("a.yaml", service("a"));
    await write("b.yaml", "foo: [\n");
    const readings = await started();
    await sources[0]?.start();
    await write("a.yaml", service("a"));
    await write("notes.txt", "x");
    await sources[0]?.start();
    expect(readings.count).to.equal(1);
  });

  it("uses the last good text of a file that is broken at the first read", async () => {
    const cache = join(root, "cache");
    await write("a.yaml", service("a"));
    await started(cache);
    await Promise.all(sources.splice(0).map((source) => source.close()));
    await write("a.yaml", "foo: [\n");
    const kept = (await started(cache)).last ?? { snapshot: undefined, sentences: [] };
    expect(has("a")(kept)).to.equal(true);
    expect(kept.sentences[0]).to.match(/the last good state of the file stands$/);
    const without = (await started()).last ?? { snapshot: undefined, sentences: [] };
    expect(has()(without)).to.equal(true);
    expect(without.sentences[0]).to.match(/the file is skipped$/);
  });

  it("is silent after it was closed", async () => {
    const readings = await started();
    await Promise.all(sources.splice(0).map((source) => source.close()));
    await write("a.yaml", service("a"));
    const other = await started();
    await other.until(has("a"));
    expect(readings.count).to.equal(1);
  });
});
