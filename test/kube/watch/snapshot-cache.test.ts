import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { VirtualClock } from "../../../src/base/clock.ts";
import { decodeSlice, encodeSlice } from "../../../src/kube/watch/cache-slice.ts";
import { SnapshotCache } from "../../../src/kube/watch/snapshot-cache.ts";

const SLICES = {
  pools: new Map([["main", { name: "main", ranges: [{ family: 4, first: 1n, last: 2n ** 100n }] }]]),
  advertisements: new Map(),
  services: new Map([["default/web", { name: "web" }]]),
  endpointSlices: new Map(),
  nodes: new Map([["n1", { name: "n1" }]]),
  namespaces: new Map(),
};

/** How many slices were written whole. */
async function slicesIn(folder: string): Promise<number> {
  const names = await readdir(join(folder, "snapshot")).catch((): string[] => []);
  return names.filter((name) => name.endsWith(".gz")).length;
}

describe("SnapshotCache", () => {
  let folder = "";
  let clock: VirtualClock;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "arpeggio-cache-"));
    clock = new VirtualClock(0, Date.now());
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function allWritten(): Promise<void> {
    while ((await slicesIn(folder)) < Object.keys(SLICES).length) await setImmediate();
    // The writer may not have seen the end of it.
    for (let turn = 0; turn < 20; turn++) await setImmediate();
  }

  it("gives back what it was given, ranges too", async () => {
    const cache = new SnapshotCache({ folder, clock });
    cache.offer(SLICES);
    clock.advance(0);
    await allWritten();
    const read = await new SnapshotCache({ folder, clock }).load();
    expect(read?.snapshot).to.deep.equal({ source: "kubernetes", ...SLICES });
    expect(read?.pods).to.equal(undefined);
  });

  it("a slice survives encoding, and bytes that are none give none", async () => {
    expect(await decodeSlice(await encodeSlice(SLICES.pools))).to.deep.equal(SLICES.pools);
    for (const bytes of ["", "x", '{"format":1}\n[1'])
      expect(await decodeSlice(Buffer.from(bytes))).to.equal(undefined);
  });

  it("writes at most every 5 s, and only slices that changed", async () => {
    const cache = new SnapshotCache({ folder, clock });
    cache.offer(SLICES);
    clock.advance(0);
    const nodes = join(folder, "snapshot", "nodes.gz");
    const services = join(folder, "snapshot", "services.gz");
    await allWritten();
    const before = {
      nodes: (await stat(nodes, { bigint: true })).mtimeNs,
      services: (await stat(services, { bigint: true })).mtimeNs,
    };
    cache.offer({ ...SLICES, services: new Map([["default/other", {}]]) });
    clock.advance(4_999);
    await setImmediate();
    expect((await stat(services, { bigint: true })).mtimeNs).to.equal(before.services);
    clock.advance(1);
    while ((await stat(services, { bigint: true })).mtimeNs === before.services) await setImmediate();
    await cache.close();
    expect((await stat(nodes, { bigint: true })).mtimeNs).to.equal(before.nodes);
  });

  it("is off, and says so, when the snapshot is too large", async () => {
    const cache = new SnapshotCache({ folder, clock, maxBytes: 150 });
    cache.offer(SLICES);
    clock.advance(0);
    while (cache.fault === undefined) await setImmediate();
    expect(cache.fault).to.match(/^the snapshot is not kept over a restart: it takes 0\.0 MiB, more than 0\.0$/);
    await cache.close();
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it("says when its folder cannot be written", async () => {
    await writeFile(join(folder, "snapshot"), "in the way");
    const cache = new SnapshotCache({ folder, clock });
    cache.offer(SLICES);
    clock.advance(0);
    while (cache.fault === undefined) await setImmediate();
    expect(cache.fault).to.match(/cannot be written \((EEXIST|ENOTDIR)\)$/);
    await cache.close();
  });
});
