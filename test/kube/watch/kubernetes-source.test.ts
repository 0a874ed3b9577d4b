import { expect } from "chai";
import { NAMESPACE, node, PATHS, service, slice } from "./cluster.ts";
import { Rig } from "./source-rig.ts";

const DECIDING = ["services", "endpointSlices", "nodes", "namespaces", "pools", "advertisements"] as const;

function bookmark({ api }: Rig, path: string, resourceVersion: string): void {
  api.tell(path, { type: "BOOKMARK", object: { metadata: { resourceVersion } } });
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

  for (const kind of DECIDING) {
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

  describe("how fresh it is", () => {
    it("is the least of what its kinds are known up to, and told after the snapshot", async () => {
      await rig.fill().start();
      expect(rig.freshness).to.deep.equal([{ freshness: 106, snapshots: 1 }]);
      for (const [index, kind] of DECIDING.entries()) bookmark(rig, PATHS[kind], String(200 + index));
      expect(rig.freshness.slice(1)).to.deep.equal([{ freshness: 200, snapshots: 1 }]);
      bookmark(rig, PATHS.pods, "9");
      bookmark(rig, PATHS.services, "300");
      expect(rig.freshness.slice(2)).to.deep.equal([{ freshness: 201, snapshots: 1 }]);
    });

    it("is never that of a snapshot that was not told yet", async () => {
      await rig.fill().start();
      for (const kind of DECIDING) if (kind !== "services") bookmark(rig, PATHS[kind], "500");
      rig.api.put(PATHS.services, service("a", "192.0.2.2"));
      bookmark(rig, PATHS.services, "400");
      expect(rig.freshness).to.have.length(1);
      rig.clock.advance(20);
      expect(rig.freshness.slice(1)).to.deep.equal([{ freshness: 400, snapshots: 2 }]);
    });

    it("is not comparable when a version is no number", async () => {
      await rig.fill().start();
      bookmark(rig, PATHS.nodes, "opaque");
      expect(rig.freshness.map(({ freshness }) => freshness)).to.deep.equal([106, 0]);
    });

    it("stands still with the API server away", async () => {
      await rig.fill().start();
      rig.api.refuse = () => ({});
      rig.api.cut();
      rig.clock.advance(600_000);
      expect(rig.freshness).to.have.length(1);
    });
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

  it("says which of the kinds that decide were not listed yet, and no others", async () => {
    rig.fill().api.refuse = ({ path }) =>
      path === PATHS.nodes || path === PATHS.pods || path === PATHS.bgpAdvertisements ? { status: 403 } : undefined;
    await rig.start();
    expect(rig.source.unlisted().map(({ kind, lastError }) => [kind, lastError])).to.deep.equal([
      ["Node", "list nodes: 403 says 403"],
    ]);
    expect(rig.snapshots).to.deep.equal([]);
    rig.api.refuse = () => undefined;
    rig.clock.advance(61_000);
    expect(rig.source.unlisted()).to.deep.equal([]);
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
});
