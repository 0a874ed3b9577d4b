import { mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { VirtualClock } from "../../../src/base/clock.ts";
import { createLog } from "../../../src/base/log.ts";
import { SeededRandom } from "../../../src/base/random.ts";
import type { ClusterSnapshot } from "../../../src/desired/snapshot.ts";
import { KubernetesSource, type KubernetesSourceOptions } from "../../../src/kube/watch/kubernetes-source.ts";
import { advertisement, NAMESPACE, node, PATHS, pool, service, slice } from "./cluster.ts";
import { MemoryApi } from "./memory-api.ts";

/** A source on a server in memory, and everything that it told. */
class Rig {
  readonly clock: VirtualClock;
  readonly api: MemoryApi;
  readonly lines: string[] = [];
  readonly snapshots: ClusterSnapshot[] = [];
  readonly pods: string[][] = [];
  sentences: readonly string[] = [];
  watchedChanges = 0;
  readonly source: KubernetesSource;

  constructor(others: Partial<KubernetesSourceOptions> = {}, clock = new VirtualClock(), api = new MemoryApi(clock)) {
    this.clock = clock;
    this.api = api;
    this.source = new KubernetesSource({
      api,
      namespace: NAMESPACE,
      nodeName: "n1",
      podSelector: "app=arpeggio",
      clock,
      random: new SeededRandom(7),
      log: createLog(
        "info",
        (line) => this.lines.push(line),
        () => 0,
      ),
      onChange: (snapshot, problems) => {
        this.snapshots.push(snapshot);
        this.sentences = problems.map(({ sentence }) => sentence);
      },
      onPods: (pods) => this.pods.push([...pods.keys()]),
      onWatchedChange: () => {
        this.watchedChanges++;
      },
      ...others,
    });
  }

  /** A cluster with one of everything. */
  fill(): this {
    const { api } = this;
    api.put(PATHS.services, service("web", "192.0.2.1"));
    api.put(PATHS.endpointSlices, slice("web-1", "web", "n1"));
    api.put(PATHS.nodes, node("n1"));
    api.put(PATHS.namespaces, { metadata: { name: "default", labels: { team: "a" } } });
    api.put(PATHS.pools, pool("main", ["192.0.2.0/24"]));
    api.put(PATHS.advertisements, advertisement("main"));
    return this;
  }

  async start(): Promise<this> {
    await this.source.start();
    this.clock.advance(100);
    return this;
  }

  get last(): ClusterSnapshot {
    const last = this.snapshots.at(-1);
    if (last === undefined) throw new Error("no snapshot yet");
    return last;
  }

  /** What a change leads to: snapshots since then. */
  after(change: (api: MemoryApi) => void): readonly ClusterSnapshot[] {
    const before = this.snapshots.length;
    change(this.api);
    this.clock.advance(20);
    return this.snapshots.slice(before);
  }
}

/** Until files were read and written, which the virtual clock knows nothing of. */
async function settled(isDone: () => boolean): Promise<void> {
  while (!isDone()) await setImmediate();
}

describe("KubernetesSource", () => {
  let rig: Rig;

  beforeEach(() => {
    rig = new Rig();
  });

  afterEach(() => rig.source.close());

  it("tells the whole cluster once everything was listed", async () => {
    await rig.fill().start();
    expect(rig.snapshots).to.have.length(1);
    const { services, endpointSlices, nodes, namespaces, pools, advertisements, source } = rig.last;
    expect(source).to.equal("kubernetes");
    expect(services.get("default/web")?.addresses).to.deep.equal(["192.0.2.1"]);
    expect(endpointSlices.get("default/web-1")?.endpoints).to.deep.equal([
      { nodeName: "n1", ready: true, serving: true, terminating: false },
    ]);
    expect([...nodes.keys()]).to.deep.equal(["n1"]);
    expect(namespaces.get("default")).to.deep.equal({ name: "default", labels: { team: "a" } });
    expect(pools.get("main")?.ranges).to.have.length(1);
    expect([...advertisements.keys()]).to.deep.equal(["main"]);
    expect(rig.source.status()).to.include({ state: "current", faults: 0 });
  });

  for (const kind of ["services", "endpointSlices", "nodes", "namespaces", "pools", "advertisements"] as const) {
    it(`tells nothing before ${kind} were listed, and everything when they are, even if there are none`, async () => {
      rig.api.refuse = ({ path }) => (path === PATHS[kind] ? { status: 500 } : undefined);
      await rig.start();
      rig.clock.advance(60_000);
      expect(rig.snapshots).to.deep.equal([]);
      expect(rig.source.status().state).to.equal("reading");
      rig.api.refuse = () => undefined;
      rig.clock.advance(31_000);
      expect(rig.snapshots).to.have.length(1);
      expect(rig.last.services.size).to.equal(0);
    });
  }

  it("gathers what comes within 20 ms into one snapshot", async () => {
    await rig.fill().start();
    const told = rig.after((api) => {
      api.put(PATHS.services, service("a", "192.0.2.2"));
      api.put(PATHS.services, service("b", "192.0.2.3"));
      api.delete(PATHS.services, "web", "default");
    });
    expect(told.map(({ services }) => [...services.keys()])).to.deep.equal([["default/a", "default/b"]]);
  });

  it("keeps every object and every map that did not change", async () => {
    await rig.fill().start();
    const before = rig.last;
    const [after] = rig.after((api) => api.put(PATHS.services, service("a", "192.0.2.2")));
    expect(after?.services.get("default/web")).to.equal(before.services.get("default/web"));
    expect(after?.nodes).to.equal(before.nodes);
    expect(after?.pools).to.equal(before.pools);
    expect(after?.endpointSlices).to.equal(before.endpointSlices);
  });

  it("tells nothing of changes in fields that do not count", async () => {
    await rig.fill().start();
    const told = rig.after((api) => {
      const heartbeat = { type: "Ready", status: "True", lastHeartbeatTime: "2026-01-01T00:00:05Z" };
      api.put(PATHS.nodes, { ...node("n1"), status: { conditions: [heartbeat], images: ["large"] } });
      const { metadata, ...web } = service("web", "192.0.2.1");
      api.put(PATHS.services, { ...web, metadata: { ...metadata, annotations: { "example.org/note": "x" } } });
    });
    expect(told).to.deep.equal([]);
  });

  it("knows Services of other types by name only, and slices only of Services that count", async () => {
    rig.fill().api.put(PATHS.services, service("inner", undefined, { type: "ClusterIP" }));
    rig.api.put(PATHS.endpointSlices, slice("inner-1", "inner", "n1"));
    await rig.start();
    expect([...rig.last.services.keys()]).to.deep.equal(["default/web"]);
    expect([...rig.last.endpointSlices.keys()]).to.deep.equal(["default/web-1"]);
    expect(rig.source.watched.serviceUid("default", "inner")).to.be.a("string");
    const [after] = rig.after((api) => api.put(PATHS.services, service("inner", "192.0.2.9")));
    expect([...(after?.endpointSlices.keys() ?? [])]).to.deep.equal(["default/web-1", "default/inner-1"]);
  });

  it("reads lists of many pages, and removes only what a complete list does not have", async () => {
    for (let index = 0; index < 1_200; index++) rig.api.put(PATHS.services, service(`s${index}`, "192.0.2.1"));
    await rig.start();
    expect(rig.last.services.size).to.equal(1_200);
    // The watch ends, objects go meanwhile, the history is too old, and the third page of the list fails.
    rig.api.refuse = ({ path, query }, isWatch) =>
      path === PATHS.services && (isWatch ? true : query?.["continue"] === "1000")
        ? { status: isWatch ? 410 : 500 }
        : undefined;
    rig.api.cut();
    for (let index = 0; index < 100; index++) rig.api.delete(PATHS.services, `s${index}`, "default");
    rig.clock.advance(60_000);
    expect(rig.last.services.size).to.equal(1_200);
    rig.api.refuse = () => undefined;
    rig.clock.advance(31_000);
    expect(rig.last.services.size).to.equal(1_100);
  });

  it("believes a complete empty list", async () => {
    await rig.fill().start();
    rig.api.refuse = (_request, isWatch) => (isWatch ? { status: 410 } : undefined);
    rig.api.cut();
    rig.api.delete(PATHS.services, "web", "default");
    rig.clock.advance(30_000);
    expect(rig.last.services.size).to.equal(0);
  });

  it("stands while the API server is away, and takes up its watches when it is back", async () => {
    await rig.fill().start();
    rig.api.refuse = () => ({});
    rig.api.cut();
    rig.clock.advance(3_600_000);
    expect(rig.snapshots).to.have.length(1);
    expect(rig.source.status().state).to.equal("stale");
    const before = rig.api.asked.length;
    rig.api.refuse = () => undefined;
    rig.clock.advance(31_000);
    expect(rig.snapshots).to.have.length(1);
    expect(rig.source.status().state).to.equal("current");
    expect(
      rig.api.asked.slice(before).filter((asked) => asked.startsWith("list") && !asked.includes("bgp")),
    ).to.deep.equal([]);
    expect(rig.source.status().watches[0]).to.include({ kind: "Service", reconnects: 1, relists: 0 });
  });

  it("has one watch for each kind, never two", async () => {
    await rig.fill().start();
    for (let count = 0; count < 20; count++) {
      rig.api.cut();
      rig.clock.advance(1_100);
    }
    const expected = Object.values(PATHS).filter((path) => !path.includes("bgp"));
    expect(rig.api.watches).to.deep.equal(expected.toSorted());
    expect(rig.source.status().watches.every(({ relists }) => relists === 0)).to.equal(true);
  });

  it("lists pods every 60 s where it may not watch them", async () => {
    rig.api.refuse = ({ path }, isWatch) => (isWatch && path === PATHS.pods ? { status: 403 } : undefined);
    await rig.fill().start();
    rig.api.put(PATHS.pods, { metadata: { name: "speaker-a", namespace: NAMESPACE }, status: { podIP: "192.0.2.9" } });
    rig.clock.advance(60_000);
    expect(rig.pods.at(-1)).to.deep.equal(["speaker-a"]);
    expect(rig.source.status().state).to.equal("current");
    expect(rig.source.status().watches.find(({ kind }) => kind === "Pod")?.lastError).to.equal(
      "watch pods: 403 says 403",
    );
  });

  it("says which kinds are missing, asks every 5 s, and starts when they are there", async () => {
    rig.api.refuse = ({ path }) =>
      path === PATHS.pools || path === PATHS.advertisements ? { status: 404 } : undefined;
    await rig.fill().start();
    rig.clock.advance(10_000);
    expect(rig.source.status().sentences).to.deep.equal([
      "the API server does not know IPAddressPool and L2Advertisement: apply manifests/crd",
    ]);
    rig.api.refuse = () => undefined;
    rig.clock.advance(5_100);
    expect(rig.snapshots).to.have.length(1);
    expect(rig.source.status().sentences).to.deep.equal([]);
  });

  it("says that BGP is not served", async () => {
    rig.fill().api.put(PATHS.bgpAdvertisements, { metadata: { name: "peers", namespace: NAMESPACE } });
    await rig.start();
    expect(rig.sentences).to.deep.equal([
      "BGPAdvertisement metallb-system/peers: BGP is not served, its addresses are announced by ARP and NDP only",
    ]);
  });

  it("an exception in a handler is counted and said once, and the watches go on", async () => {
    const failing = new Rig({
      onChange: () => {
        throw new Error("a bug of ours");
      },
    });
    await failing.fill().start();
    failing.after((api) => api.put(PATHS.services, service("a", "192.0.2.2")));
    expect(failing.source.status().faults).to.equal(2);
    expect(failing.lines.filter((line) => line.includes("a bug of ours"))).to.have.length(1);
    expect(failing.api.watches).to.include(PATHS.services);
    await failing.source.close();
  });

  it("shows the writer what is watched", async () => {
    await rig.fill().start();
    const { watched } = rig.source;
    expect(watched.configurationState).to.equal(null);
    expect(watched.l2Statuses?.size).to.equal(0);
    const before = rig.watchedChanges;
    const owner = { apiVersion: "v1", kind: "Pod", name: "speaker-a", uid: "u1" };
    rig.after((api) => {
      api.put(PATHS.l2Statuses, {
        metadata: { name: "l2-a", namespace: NAMESPACE, labels: { "metallb.io/node": "n1" }, ownerReferences: [owner] },
        status: { node: "n1", serviceName: "web", serviceNamespace: "default", interfaces: [{ name: "eth0" }] },
      });
      api.put(PATHS.configurationStates, {
        metadata: { name: "speaker-n1", namespace: NAMESPACE },
        status: { result: "Valid" },
      });
    });
    expect(rig.watchedChanges).to.equal(before + 1);
    expect(watched.l2Statuses?.get("l2-a")).to.deep.include({
      labels: { "metallb.io/node": "n1" },
      owners: [owner],
      status: { node: "n1", serviceName: "web", serviceNamespace: "default", interfaces: ["eth0"] },
    });
    expect(watched.configurationState).to.include({ name: "speaker-n1", result: "Valid" });
    rig.after((api) => api.delete(PATHS.l2Statuses, "l2-a", NAMESPACE));
    expect(watched.l2Statuses?.size).to.equal(0);
  });

  it("tells nothing after it was closed", async () => {
    await rig.fill().start();
    await rig.source.close();
    rig.api.put(PATHS.services, service("a", "192.0.2.2"));
    rig.clock.advance(600_000);
    expect(rig.snapshots).to.have.length(1);
    expect(rig.api.watches).to.deep.equal([]);
  });

  describe("with a cache folder", () => {
    let cacheFolder = "";

    beforeEach(async () => {
      cacheFolder = await mkdtemp(join(tmpdir(), "arpeggio-cache-"));
    });

    afterEach(() => rm(cacheFolder, { recursive: true, force: true }));

    async function kept(): Promise<void> {
      const first = new Rig({ cacheFolder });
      first.fill().api.put(PATHS.pods, { metadata: { name: "speaker-a", namespace: NAMESPACE } });
      await first.start();
      while ((await readdir(join(cacheFolder, "snapshot")).catch(() => [])).length < 7) await setImmediate();
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
});
