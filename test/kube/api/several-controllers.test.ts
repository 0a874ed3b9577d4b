/** Several controllers and one Lease, on a real API server. What they wrote says the audit log, not they. */
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { TokenUser } from "../../../hack/kube-cluster/plane-files.ts";
import { useControlPlane } from "../../support/control-plane.ts";
import { type ControllerProcess, ControllerScene, NAMESPACE, pool, service } from "./controller-scene.ts";

const STALL_MS = 20_000;
const NAMES = ["c1", "c2"];
const READS = ["get", "list", "watch"];

/** May do everything, and is told from others in the audit log. */
function administrator(name: string): TokenUser {
  return { name, groups: ["system:masters", `system:serviceaccounts:${NAMESPACE}`], token: `${name}-token` };
}

describe("several controllers", function () {
  this.timeout(120_000);
  const plane = useControlPlane({ users: NAMES.map(administrator) });
  let scene: ControllerScene;

  before(async () => {
    scene = await ControllerScene.open(plane());
  });
  after(() => scene?.close());
  beforeEach(async () => {
    await scene.apply(pool("main", ["192.0.2.10-192.0.2.99"]));
  });
  afterEach(() => scene.clear());

  async function holder(): Promise<string> {
    const lease = await scene.object("Lease", "arpeggio-controller", NAMESPACE);
    return lease.spec?.["holderIdentity"] as string;
  }

  /** What this controller wrote or tried to write, without what was refused because somebody else had written. */
  function writesOf(name: string): readonly string[] {
    const lines = readFileSync(plane().auditLog, "utf8").trimEnd().split("\n");
    const entries = lines.filter((text) => text !== "").map((text) => JSON.parse(text) as AuditEntry);
    const own = entries.filter(({ verb, user }) => !READS.includes(verb) && user.username === name);
    return own.flatMap(({ verb, requestURI, responseStatus }) =>
      responseStatus?.code === 409 ? [] : [`${verb} ${requestURI}`],
    );
  }

  async function start(...names: readonly string[]): Promise<readonly ControllerProcess[]> {
    const controllers = names.map((name) => scene.start(name, [], name));
    await Promise.all(controllers.map((controller) => controller.started()));
    return controllers;
  }

  it("one holds the Lease and writes; the others answer, are ready, and know the same", async () => {
    const [first, second] = await start("c1", "c2");
    if (first === undefined || second === undefined) expect.fail();
    const states = async () => Promise.all([first, second].map(async (each) => (await each.status()).state));
    await scene.until(async () => (await states()).toSorted().join() === "allocating,standing-by");
    await scene.apply(service("web"));
    await scene.untilHas("web", "192.0.2.10");
    for (const controller of [first, second]) {
      expect(await controller.get("/readyz")).to.match(/^ready\n/);
      await scene.until(async () => {
        const told = (await controller.get("/services/default/web")) as { readonly addresses: readonly string[] };
        return told.addresses.join() === "192.0.2.10";
      });
    }
    const standby = (await first.status()).state === "standing-by" ? first : second;
    const { lease, waitsFor } = await standby.status();
    expect(lease?.holder).to.equal(await holder());
    expect(waitsFor).to.include(`${await holder()} holds the Lease arpeggio-controller`);
    expect(await holder()).to.match(/^c[12]_[0-9a-f]{8}$/);
    const { spec } = await scene.object("Lease", "arpeggio-controller", NAMESPACE);
    expect(spec?.["renewTime"]).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(spec).to.include({ leaseDurationSeconds: 15, leaseTransitions: 0 });
  });

  it("SIGTERM hands over within 3 s, and nothing moves", async () => {
    const first = await scene.start("c1", [], "c1").leading();
    await scene.apply(service("a"), service("b"));
    await scene.untilHas("b", "192.0.2.11");
    const [second] = await start("c2");
    // Only the Lease holds it up: it has seen for long enough that no other allocator runs.
    await scene.until(async () => (await second?.status())?.waitsFor?.length === 1);
    const before = await scene.allAddresses();
    const beganMs = performance.now();
    void first.end();
    await scene.until(async () => (await second?.status())?.state === "allocating");
    expect(performance.now() - beganMs).to.be.lessThan(3_000);
    expect(first.child.exitCode ?? 0).to.equal(0);
    await scene.apply(service("c"));
    await scene.untilHas("c", "192.0.2.12");
    expect(await scene.allAddresses()).to.deep.equal({ ...before, c: "192.0.2.12" });
  });

  it("a controller that is killed is followed within 20 s", async () => {
    const first = await scene.start("c1", [], "c1").leading();
    const [second] = await start("c2");
    await scene.until(async () => (await second?.status())?.state === "standing-by");
    const beganMs = performance.now();
    await first.end("SIGKILL");
    await scene.apply(service("web"));
    await scene.untilHas("web", "192.0.2.10");
    expect(performance.now() - beganMs).to.be.within(10_000, 20_000);
  });

  it("a holder that stood still for 20 s writes nothing when it wakes, steps back, and goes on", async () => {
    const first = await scene.start("c1", [], "c1").leading();
    const [second] = await start("c2");
    await scene.until(async () => (await second?.status())?.state === "standing-by");
    first.signal("SIGSTOP");
    const stoppedMs = performance.now();
    // What it will hear of when it wakes, and would like to serve.
    await scene.apply(service("a"), service("b"), service("c"));
    await scene.untilHas("c", "192.0.2.12");
    await pause(Math.max(0, STALL_MS - (performance.now() - stoppedMs)));
    await scene.apply(service("d"), service("e"));
    await scene.untilHas("e", "192.0.2.14");
    const before = writesOf("c1");
    first.signal("SIGCONT");
    await scene.until(async () => (await first.status()).state === "standing-by");
    await scene.apply(service("f"));
    await scene.untilHas("f", "192.0.2.15");
    await pause(3_000);
    expect(before.some((text) => text.includes("/leases"))).to.equal(true);
    expect(writesOf("c1").slice(before.length)).to.deep.equal([]);
    expect(writesOf("c2").some((text) => text.includes("/services/f/status"))).to.equal(true);
    expect(await holder()).to.match(/^c2_/);
    expect(first.isRunning).to.equal(true);
    await second?.end();
    await scene.until(async () => (await first.status()).state === "allocating");
    expect(Object.values(await scene.allAddresses())).to.have.members(
      [10, 11, 12, 13, 14, 15].map((n) => `192.0.2.${n}`),
    );
  });

  it("five restarts keep every address, and who waits steals none", async () => {
    await scene.apply(pool("main", ["192.0.2.10-192.0.2.12"]));
    for (const name of ["a", "b", "c", "d"]) {
      await scene.apply(service(name));
    }
    let controller = await scene.start("c0").leading();
    await scene.untilRefused("d", "NoFreeAddress");
    // Events of an earlier Service of that name are still there.
    const failures = async () => (await scene.events("d")).filter((text) => text.startsWith("AllocationFailed"));
    await scene.until(async () => (await failures()).length > 0);
    const before = await scene.allAddresses();
    for (let restart = 1; restart <= 5; restart++) {
      await controller.end();
      controller = await scene.start(`c${restart}`).leading();
      const current = controller;
      // That it took over, and then its own finding: until that is written the condition may be the former one's.
      await scene.until(async () => ((await current.status()).writes?.services.written ?? 0) >= 2);
      await scene.untilRefused("d", "NoFreeAddress");
      expect(await scene.allAddresses()).to.deep.equal(before);
    }
    expect(before).to.deep.equal({ a: "192.0.2.10", b: "192.0.2.11", c: "192.0.2.12", d: "" });
    expect(await failures()).to.have.length(1);
  });
});

interface AuditEntry {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly responseStatus?: { readonly code?: number };
}
