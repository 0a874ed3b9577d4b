import { expect } from "chai";
import fc from "fast-check";
import { mergeFiles, readFileState, unreadableFile } from "../../src/files/file-state.ts";
import { parsePrefix, rangeOfPrefix } from "../../src/net/prefix.ts";
import { ADVERTISEMENT, after, NODE, POOL, SERVICE, SLICE, sentencesOf, snapshotOf } from "./manifests.ts";

function range(text: string) {
  const prefix = parsePrefix(text);
  return prefix === undefined ? undefined : rangeOfPrefix(prefix);
}

describe("files: every kind a user writes", () => {
  const all = snapshotOf([POOL, ADVERTISEMENT, SERVICE, SLICE, NODE].join("---\n"));

  it("reads a pool", () => {
    expect([...all.pools.values()]).to.deep.equal([
      { name: "main", createdAt: "", labels: { zone: "a" }, ranges: [range("192.0.2.0/28"), range("192.0.2.32/28")] },
    ]);
  });

  it("reads an advertisement", () => {
    expect(all.advertisements.get("main")).to.deep.equal({
      name: "main",
      poolNames: ["main"],
      poolSelectors: [],
      nodeSelectors: [{ matchLabels: {}, matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] }],
      serviceSelectors: [],
      interfaces: ["eth0"],
      preferredNodes: [{ weight: 10, preference: { matchLabels: { zone: "a" }, matchExpressions: [] } }],
    });
  });

  it("reads a Service, in the namespace default", () => {
    expect(all.services.get("default/web")).to.deep.equal({
      namespace: "default",
      name: "web",
      createdAt: "",
      labels: { app: "web" },
      isLoadBalancer: true,
      addresses: ["192.0.2.1"],
      externalTrafficPolicy: "Local",
      hasSharingKey: false,
      isBeingDeleted: false,
    });
  });

  it("reads an EndpointSlice", () => {
    expect(all.endpointSlices.get("default/web-1")).to.deep.equal({
      namespace: "default",
      name: "web-1",
      serviceName: "web",
      endpoints: [{ nodeName: "n1", ready: false, serving: true, terminating: true }, {}],
    });
  });

  it("reads a Node, with its host name as label", () => {
    expect(all.nodes.get("n1")).to.deep.equal({
      name: "n1",
      labels: { "kubernetes.io/hostname": "n1", zone: "a" },
      isUnschedulable: true,
      taintKeys: ["node.kubernetes.io/out-of-service"],
      isNetworkUnavailable: true,
      isNotReady: false,
      wantsStepDown: true,
      ignoresCordon: false,
      internalIps: ["192.0.2.100"],
    });
  });

  it("reads what `kubectl get -o json` prints", () => {
    const item = {
      apiVersion: "v1",
      kind: "Service",
      metadata: {
        name: "a",
        namespace: "b",
        creationTimestamp: "2026-01-01T00:00:00Z",
        annotations: { "metallb.io/allow-shared-ip": "" },
      },
      spec: { type: "LoadBalancer", loadBalancerClass: "x", externalTrafficPolicy: null },
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.1", ipMode: "VIP" }] } },
    };
    const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: [item] }, undefined, 2);
    expect(snapshotOf(list).services.get("b/a")).to.deep.include({
      createdAt: "2026-01-01T00:00:00Z",
      loadBalancerClass: "x",
      externalTrafficPolicy: "Cluster",
      hasSharingKey: true,
      addresses: ["192.0.2.1"],
    });
  });
});

const webWith = (annotations: string, status: string, ask = "192.0.2.3") =>
  `{apiVersion: v1, kind: Service, metadata: {name: web, annotations: {${annotations}}}, spec: {type: LoadBalancer, loadBalancerIP: "${ask}"}, status: {${status}}}`;

describe("files: addresses of a Service", () => {
  const status = "loadBalancer: {ingress: [{ip: 192.0.2.1}, {hostname: lb.example.org}]}";
  const annotation = 'metallb.io/loadBalancerIPs: "192.0.2.2, 2001:db8::2"';
  const legacy = 'metallb.universe.tf/loadBalancerIPs: "192.0.2.9"';

  for (const { name, text, addresses } of [
    { name: "the status first", text: webWith(annotation, status), addresses: ["192.0.2.1", "lb.example.org"] },
    { name: "then the annotation", text: webWith(annotation, ""), addresses: ["192.0.2.2", "2001:db8::2"] },
    {
      name: "not an empty status",
      text: webWith(annotation, "loadBalancer: {}"),
      addresses: ["192.0.2.2", "2001:db8::2"],
    },
    {
      name: "the newer annotation before the older",
      text: webWith(`${legacy}, ${annotation}`, ""),
      addresses: ["192.0.2.2", "2001:db8::2"],
    },
    { name: "the older annotation", text: webWith(legacy, ""), addresses: ["192.0.2.9"] },
    {
      name: "the newer annotation even if empty",
      text: webWith(`${legacy}, metallb.io/loadBalancerIPs: ""`, ""),
      addresses: [],
    },
    { name: "then spec.loadBalancerIP", text: webWith("", ""), addresses: ["192.0.2.3"] },
    { name: "else none", text: webWith("", "", ""), addresses: [] },
  ]) {
    it(`takes ${name}`, () => expect(snapshotOf(text).services.get("default/web")?.addresses).to.deep.equal(addresses));
  }
});

describe("files: last good forms", () => {
  const two = `${SERVICE}---\n${SERVICE.replace("name: web", "name: db").replace("192.0.2.1", "192.0.2.2")}`;

  it("a broken file keeps all of its last good state", () => {
    const broken = two.replace("192.0.2.2", "[");
    expect([...snapshotOf(two, broken).services.keys()]).to.deep.equal(["default/web", "default/db"]);
    expect(sentencesOf(two, broken)[0]).to.match(/; the last good state of the file stands$/);
    expect([...snapshotOf(two, broken, SERVICE).services.keys()]).to.deep.equal(["default/web"]);
  });

  it("a refused object keeps its last good form, the others change", () => {
    const edited = two.replace("192.0.2.1", "192.0.2.11").replace("192.0.2.2", "192.0.2.999");
    const { services } = snapshotOf(two, edited);
    expect(services.get("default/web")?.addresses).to.deep.equal(["192.0.2.11"]);
    expect(services.get("default/db")?.addresses).to.deep.equal(["192.0.2.2"]);
  });

  it("a refused advertisement keeps its last good form, and is nothing without one", () => {
    const refused = ADVERTISEMENT.replace("weight: 10", "weight: 0");
    expect(snapshotOf(ADVERTISEMENT, refused)).to.deep.equal(snapshotOf(ADVERTISEMENT));
    expect(snapshotOf(refused).advertisements.size).to.equal(0);
  });

  it("a refused pool keeps its ranges, and those that can be read count", () => {
    const refused = POOL.replace("192.0.2.0/28", "192.0.2.0/99").replace("192.0.2.47", "192.0.2.40");
    expect(snapshotOf(refused).pools.get("main")?.ranges).to.deep.equal([
      { family: 4, first: 0xc0000220n, last: 0xc0000228n },
    ]);
    expect(snapshotOf(POOL, refused).pools.get("main")?.ranges).to.have.lengthOf(3);
    const misspelt = POOL.replace("spec:", "spec:\n  autoAsign: true");
    expect(snapshotOf(misspelt).pools.get("main")?.ranges).to.have.lengthOf(2);
  });

  it("an object that lost its name keeps everything that is missing now", () => {
    expect([...snapshotOf(two, two.replace("name: db", "nme: db")).services.keys()].toSorted()).to.deep.equal([
      "default/db",
      "default/web",
    ]);
  });

  it("a Service with an address that is none is known, so that its reason can be told", () => {
    const { services } = snapshotOf(SERVICE.replace("192.0.2.1", "x"));
    expect(services.get("default/web")?.addresses).to.deep.equal(["x"]);
  });

  it("an object that is taken out is gone", () => {
    expect([...snapshotOf(two, SERVICE).services.keys()]).to.deep.equal(["default/web"]);
  });

  it("a file that cannot be read keeps its last good state", () => {
    const state = unreadableFile(after(SERVICE), "lb.yaml", "EACCES");
    expect(mergeFiles([state]).snapshot.services.size).to.equal(1);
    expect(state.problems.map(({ sentence }) => sentence)).to.deep.equal([
      "lb.yaml: cannot be read (EACCES), its last good state stands",
    ]);
  });
});

describe("files: several files", () => {
  it("lets the first by file name stand, and refuses the other by name", () => {
    const files = [
      readFileState(undefined, "b.yaml", SERVICE),
      readFileState(undefined, "a.yaml", `---\n${SERVICE.replace("192.0.2.1", "192.0.2.7")}`),
    ];
    const { snapshot, problems } = mergeFiles(files);
    expect(snapshot.services.get("default/web")?.addresses).to.deep.equal(["192.0.2.7"]);
    expect(problems.map(({ sentence }) => sentence)).to.deep.equal([
      "b.yaml:1: Service default/web: is defined at a.yaml:2 already, this one is refused",
    ]);
  });

  it("takes pools of two namespaces with one name for one", () => {
    const other = POOL.replace("name: main", "name: main, namespace: other");
    expect(sentencesOf(`${POOL}---\n${other}`)).to.have.lengthOf(1);
  });

  it("says when pools overlap, and both count", () => {
    const files = [
      readFileState(undefined, "a.yaml", POOL),
      readFileState(undefined, "b.yaml", POOL.replace("name: main", "name: other")),
    ];
    const { snapshot, problems } = mergeFiles(files);
    expect([...snapshot.pools.keys()]).to.deep.equal(["main", "other"]);
    expect(problems.map(({ sentence }) => sentence)).to.deep.equal([
      "b.yaml:1: IPAddressPool other: spec.addresses overlaps with IPAddressPool main",
    ]);
  });

  it("survives any damage to a text without throwing, and without losing an object that is still named", () => {
    const good = [POOL, ADVERTISEMENT, SERVICE, SLICE, NODE].join("---\n");
    const before = readFileState(undefined, "lb.yaml", good);
    fc.assert(
      fc.property(fc.nat(good.length), fc.nat(20), fc.string({ maxLength: 5 }), (at, cut, insert) => {
        const damaged = good.slice(0, at) + insert + good.slice(at + cut);
        const state = readFileState(before, "lb.yaml", damaged);
        if (!state.isGood) expect(state.objects.length).to.be.greaterThan(2);
        mergeFiles([state]);
      }),
    );
  });
});
