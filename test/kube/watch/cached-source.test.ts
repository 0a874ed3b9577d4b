import { mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { VirtualClock } from "../../../src/base/clock.ts";
import { advertisement, NAMESPACE, PATHS, service } from "./cluster.ts";
import type { MemoryObject } from "./memory-api.ts";
import { Rig, settled } from "./source-rig.ts";

describe("KubernetesSource with a cache folder", () => {
  let cacheFolder = "";

  beforeEach(async () => {
    cacheFolder = await mkdtemp(join(tmpdir(), "arpeggio-cache-"));
  });

  afterEach(() => rm(cacheFolder, { recursive: true, force: true }));

  async function kept(): Promise<void> {
    const first = new Rig({ cacheFolder });
    first.fill().api.put(PATHS.pods, { metadata: { name: "speaker-a", namespace: NAMESPACE } });
    await first.start();
    while ((await readdir(join(cacheFolder, "snapshot")).catch(() => [])).length < 8) await setImmediate();
    await first.source.close();
  }

  /** Away for as long as it takes. */
  async function restarted(): Promise<Rig> {
    const clock = new VirtualClock(0, Date.now());
    const second = new Rig({ cacheFolder }, clock);
    second.api.refuse = () => ({});
    await second.start();
    return second;
  }

  it("a start without the API server goes on with the last snapshot after 5 s, and says so", async () => {
    await kept();
    const second = await restarted();
    second.clock.advance(4_800);
    await setImmediate();
    expect(second.snapshots).to.deep.equal([]);
    second.clock.advance(200);
    await settled(() => second.snapshots.length > 0);
    expect(second.last.services.get("default/web")?.addresses).to.deep.equal(["192.0.2.1"]);
    expect(second.last.pools.get("main")?.ranges[0]?.first).to.be.a("bigint");
    expect(second.sentences, "nobody has looked").to.equal(undefined);
    expect(second.pods).to.deep.equal([["speaker-a"]]);
    expect(second.source.status().state).to.equal("stale");
    expect(second.source.status().sentences[0]).to.match(
      /^no list has succeeded since the start: the snapshot of .*Z from/,
    );
    const cached = second.last;
    second.api.refuse = () => undefined;
    second.fill().api.put(PATHS.services, service("a", "192.0.2.2"));
    second.clock.advance(31_000);
    expect([...second.last.services.keys()]).to.deep.equal(["default/web", "default/a"]);
    expect(second.last.services.get("default/web")).to.equal(cached.services.get("default/web"));
    expect(second.last.pools).to.equal(cached.pools);
    expect(second.source.status()).to.deep.include({ state: "current", sentences: [] });
    await second.source.close();
  });

  describe("a refused advertisement, after a restart", () => {
    const bad = advertisement("main", { interfaces: "eth1" });

    /** One speaker sees it good, then bad, and another starts in the same folder. */
    async function restartedWith(second: MemoryObject): Promise<Rig> {
      const first = new Rig({ cacheFolder });
      first.fill().api.put(PATHS.advertisements, advertisement("main", { interfaces: ["eth0"] }));
      await first.start();
      first.after((api) => api.put(PATHS.advertisements, bad));
      expect(interfacesOf(first)).to.deep.equal(["eth0"]);
      while (!(await readdir(join(cacheFolder, "snapshot")).catch(() => [""])).includes("goodForms.gz")) {
        await setImmediate();
      }
      await first.source.close();
      const restart = new Rig({ cacheFolder });
      restart.fill().api.delete(PATHS.advertisements, "main", NAMESPACE);
      restart.api.put(PATHS.advertisements, second);
      return restart.start();
    }

    it("keeps its last good form, which is in the folder", async () => {
      const second = await restartedWith(bad);
      expect(interfacesOf(second)).to.deep.equal(["eth0"]);
      expect(second.sentences?.[0]).to.match(/; its last good form stands$/);
      second.after((api) => api.put(PATHS.advertisements, advertisement("main", { interfaces: ["eth2"] })));
      expect(interfacesOf(second)).to.deep.equal(["eth2"]);
      second.after((api) => api.put(PATHS.advertisements, bad));
      expect(interfacesOf(second), "and not the older one of the folder").to.deep.equal(["eth2"]);
      await second.source.close();
    });

    it("does not count when it is another object of that name", async () => {
      const second = await restartedWith({ ...bad, metadata: { ...bad.metadata, uid: "another" } });
      expect(second.last.advertisements.size).to.equal(0);
      expect(second.sentences?.[0]).to.match(/; it does not count$/);
      await second.source.close();
    });
  });

  it("does not use it while lists succeed, when it is older than a day, or when it is broken", async () => {
    await kept();
    const second = await restarted();
    second.api.refuse = ({ path }) => (path === PATHS.pools ? { status: 404 } : undefined);
    second.clock.advance(60_000);
    await setImmediate();
    expect(second.snapshots).to.deep.equal([]);
    await second.source.close();

    const old = Date.now() / 1_000 - 86_500;
    await utimes(join(cacheFolder, "snapshot", "nodes.gz"), old, old);
    const third = await restarted();
    third.clock.advance(10_000);
    for (let turn = 0; turn < 50; turn++) await setImmediate();
    expect(third.snapshots).to.deep.equal([]);
    await third.source.close();
  });

  it("without such a folder nothing is kept, and nothing said", async () => {
    const other = new Rig({ cacheFolder: join(cacheFolder, "none") });
    await other.fill().start();
    expect(other.source.status().sentences).to.deep.equal([]);
    await other.source.close();
    expect(await readdir(cacheFolder)).to.deep.equal([]);
  });
});

function interfacesOf(rig: Rig): readonly string[] | undefined {
  return rig.last.advertisements.get("main")?.interfaces;
}
