import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { ApiServer } from "../../../src/kube/api-server.ts";
import { openApiServer } from "../../../src/kube/node-api-server.ts";
import { LineReader } from "../../../src/kube/watch/line-reader.ts";
import { parseWatchLine } from "../../../src/kube/watch/watch-event.ts";
import { useControlPlane } from "../../support/control-plane.ts";
import { NAMESPACE, SourceRig, SPEAKER } from "./source-rig.ts";

const ROOT = resolve(import.meta.dirname, "../../../..");
const LISTED = 1_200;
const AT_ONCE = 8;

const POOL = `{apiVersion: metallb.io/v1beta1, kind: IPAddressPool, metadata: {name: main, namespace: ${NAMESPACE}}, spec: {addresses: [192.0.2.0/24]}}`;
const ADVERTISEMENT = `{apiVersion: metallb.io/v1beta1, kind: L2Advertisement, metadata: {name: main, namespace: ${NAMESPACE}}}`;

describe("KubernetesSource on a real API server", function () {
  this.timeout(150_000);
  const plane = useControlPlane({ users: [SPEAKER, { name: "nobody", groups: [], token: "nobody-token" }] });
  let admin: ApiServer;
  let rig: SourceRig;

  before(async () => {
    admin = await openApiServer({ kubeconfig: plane().kubeconfig() });
    await plane().kubectl(["create", "namespace", NAMESPACE]);
    rig = await SourceRig.open(plane());
    await rig.source.start();
  });

  after(async () => {
    await rig?.close();
    admin?.close();
  });

  function apply(...documents: readonly string[]): Promise<string> {
    return plane().kubectl(["apply", "-f", "-"], documents.join("\n---\n"));
  }

  async function createService(name: string): Promise<void> {
    const spec = { type: "LoadBalancer", allocateLoadBalancerNodePorts: false, ports: [{ port: 80 }] };
    const { status } = await admin.request({
      method: "POST",
      path: "/api/v1/namespaces/default/services",
      body: { apiVersion: "v1", kind: "Service", metadata: { name }, spec },
    });
    expect(status).to.equal(201);
  }

  async function giveAddress(name: string, ip: string): Promise<void> {
    const { status } = await admin.request({
      method: "PATCH",
      path: `/api/v1/namespaces/default/services/${name}/status`,
      body: { status: { loadBalancer: { ingress: [{ ip }] } } },
      contentType: "application/merge-patch+json",
    });
    expect(status).to.equal(200);
  }

  async function deleteService(name: string): Promise<void> {
    const { status } = await admin.request({ method: "DELETE", path: `/api/v1/namespaces/default/services/${name}` });
    expect(status).to.equal(200);
  }

  it("without any right says what is forbidden, verb and resource, and keeps asking seldom", async () => {
    const { lastError, state } = await rig.untilStatus("Service", ({ state: is }) => is === "waiting");
    expect(state).to.equal("waiting");
    expect(lastError).to.match(/^list services: 403 .*arpeggio-speaker.* cannot list resource "services"/);
    expect(rig.snapshots).to.equal(0);
    await rig.close();
  });

  it("without the CustomResourceDefinitions waits, says so, and starts within seconds when they are there", async () => {
    await plane().kubectl(["apply", "-n", NAMESPACE, "-f", resolve(ROOT, "manifests/base/rbac.yaml")]);
    // The authorizer learns of roles from a watch of its own.
    const question = ["auth", "can-i", "list", "pods", "-n", NAMESPACE, `--as=${SPEAKER.name}`];
    for (let answer = "no"; !answer.startsWith("yes"); await sleep(50)) {
      answer = await plane()
        .kubectl(question)
        .catch(() => "no");
    }
    rig = await SourceRig.open(plane());
    await rig.source.start();
    await rig.untilStatus("L2Advertisement", ({ lastError }) => lastError?.includes("404") === true);
    await rig.untilStatus("IPAddressPool", ({ lastError }) => lastError?.includes("404") === true);
    expect(rig.source.status().sentences).to.deep.equal([
      "the API server does not know IPAddressPool and L2Advertisement: apply manifests/crd",
    ]);
    expect(rig.snapshots).to.equal(0);
    await plane().kubectl(["apply", "--server-side", "-f", resolve(ROOT, "manifests/crd")]);
    await rig.until(() => true);
    expect(rig.source.status().sentences).to.deep.equal([]);
    await apply(POOL, ADVERTISEMENT);
    const { pools } = await rig.until(({ pools: { size }, advertisements }) => size + advertisements.size === 2);
    expect(pools.get("main")?.ranges).to.have.length(1);
    // Kinds that nothing waits for are asked for each minute while they are absent: the tests that follow begin with all.
    await rig.close();
    rig = await SourceRig.open(plane());
    await rig.source.start();
    await rig.until(() => true);
  });

  it(`reads ${LISTED} Services in three pages, and follows changes`, async () => {
    for (let begin = 0; begin < LISTED; begin += AT_ONCE) {
      const names = Array.from({ length: AT_ONCE }, (_, index) => `s${begin + index}`);
      await Promise.all(names.map(createService));
    }
    await rig.until(({ services }) => services.size === LISTED);
    const other = await SourceRig.open(plane());
    await other.source.start();
    await other.until(({ services }) => services.size === LISTED);
    expect(other.asked.filter((asked) => asked === "list /api/v1/services")).to.have.length(3);
    await giveAddress("s7", "192.0.2.7");
    const { services } = await other.until(({ services: all }) => all.get("default/s7")?.addresses.length === 1);
    expect(services.get("default/s7")?.addresses).to.deep.equal(["192.0.2.7"]);
    expect(other.source.watched.serviceUid("default", "s7")).to.match(/^[0-9a-f-]{36}$/);
    await other.close();
  });

  it("understands the server's bookmarks", async () => {
    const reader = new LineReader();
    const kinds: string[] = [];
    await new Promise<void>((done) => {
      admin.stream(
        {
          method: "GET",
          path: "/api/v1/nodes",
          query: { watch: "true", allowWatchBookmarks: "true", timeoutSeconds: "4", resourceVersion: "0" },
        },
        {
          opened: () => {},
          data: (bytes) => {
            for (const line of reader.push(bytes) ?? []) {
              const event = parseWatchLine(line);
              kinds.push(event.ok ? event.value.kind : event.reason);
            }
          },
          ended: () => done(),
        },
      );
    });
    expect(kinds).to.deep.equal(["bookmark"]);
  });

  it("takes up watches that are cut, without a list and without losing a change", async () => {
    const lists = rig.asked.filter((asked) => asked.startsWith("list")).length;
    const { snapshots } = rig;
    for (let count = 0; count < 5; count++) {
      const before = rig.status("Service")?.reconnects ?? 0;
      rig.relay.cut();
      await rig.untilStatus("Service", ({ reconnects, lastError }) => reconnects > before && lastError === undefined);
    }
    expect(rig.snapshots).to.equal(snapshots);
    await giveAddress("s8", "192.0.2.8");
    await rig.until(({ services }) => services.get("default/s8")?.addresses.length === 1);
    expect(rig.asked.filter((asked) => asked.startsWith("list"))).to.have.length(lists);
  });

  it("has one connection for each watch, however often they are cut", async () => {
    for (let count = 0; count < 3; count++) {
      const before = rig.status("Service")?.reconnects ?? 0;
      rig.relay.cut();
      await rig.untilStatus("Service", ({ state, reconnects, lastError }) => {
        return reconnects > before && state === "watching" && lastError === undefined;
      });
    }
    const watches = () => rig.source.status().watches.filter(({ kind }) => !kind.startsWith("BGP"));
    expect(watches()).to.have.length(9);
    for (const { kind } of watches()) {
      await rig.untilStatus(kind, ({ state, lastError }) => state === "watching" && lastError === undefined);
    }
    expect(rig.relay.open).to.be.at.most(9);
  });

  it("stands while the API server is away, and goes on with what changed when it is back", async () => {
    await plane().stopApiServer();
    await rig.untilStatus("Service", ({ lastError }) => lastError !== undefined);
    const { last, snapshots } = rig;
    expect(rig.source.status().state).to.equal("stale");
    await plane().startApiServer();
    await giveAddress("s9", "192.0.2.9");
    const { services } = await rig.until(({ services: all }) => all.get("default/s9")?.addresses.length === 1);
    expect(services.size).to.equal(LISTED);
    expect(services.get("default/s7")).to.equal(last?.services.get("default/s7"));
    expect(rig.snapshots).to.be.at.most(snapshots + 2);
    await rig.untilStatus("Node", ({ lastError }) => lastError === undefined);
  });

  it("lists anew when the history it needs is gone; a list that breaks off removes nothing, a whole one does", async () => {
    rig.relay.setAway(true);
    await rig.untilStatus("Service", ({ lastError }) => lastError !== undefined);
    await deleteService("s1");
    await deleteService("s2");
    // A server that starts has no history of what was before.
    await plane().stopApiServer("SIGTERM");
    await plane().startApiServer();
    await deleteService("s3");
    let cut = 0;
    rig.cuts = ({ path, query }) => {
      const isCut = path === "/api/v1/services" && query?.["continue"] !== undefined && cut < 2;
      cut += Number(isCut);
      return isCut;
    };
    const { snapshots } = rig;
    rig.relay.setAway(false);
    await rig.untilStatus("Service", ({ relists }) => relists > 0);
    const sizes = new Set<number>();
    await rig.until(({ services }) => {
      sizes.add(services.size);
      return services.size === LISTED - 3;
    });
    expect(cut).to.equal(2);
    expect([...sizes]).to.deep.equal([LISTED, LISTED - 3]);
    expect(rig.snapshots).to.equal(snapshots + 1);
  });

  it("a complete list without objects removes all of them", async () => {
    rig.relay.setAway(true);
    await rig.untilStatus("L2Advertisement", ({ lastError }) => lastError !== undefined);
    await plane().kubectl(["delete", "l2advertisement", "main", "-n", NAMESPACE]);
    await plane().stopApiServer("SIGTERM");
    await plane().startApiServer();
    rig.relay.setAway(false);
    await rig.until(({ advertisements }) => advertisements.size === 0);
  });

  it("a token that is refused is read again until it is a good one", async () => {
    const other = await SourceRig.open(plane(), { token: "expired" });
    await other.source.start();
    await other.untilStatus("Service", ({ lastError }) => lastError?.startsWith("list services: 401") === true);
    await other.replaceToken(SPEAKER.token);
    await other.until(({ services }) => services.size === LISTED - 3);
    await other.close();
  });

  it("where pods may be listed but not watched, it lists them, and the rest is well", async () => {
    const role = `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: pods, namespace: ${NAMESPACE}}, rules: [{apiGroups: [""], resources: [pods], verbs: [list]}]}`;
    await apply(role);
    await plane().kubectl(["create", "rolebinding", "pods", "--role=pods", "--user=nobody", "-n", NAMESPACE]);
    const other = await SourceRig.open(plane(), { token: "nobody-token" });
    await other.source.start();
    const { lastError } = await other.untilStatus(
      "Pod",
      ({ state, lastEvent }) => state === "waiting" && lastEvent !== undefined,
    );
    expect(lastError).to.match(/^watch pods: 403 .*cannot watch resource "pods"/);
    expect(other.source.watched.pods?.size).to.equal(0);
    await other.close();
  });
});
