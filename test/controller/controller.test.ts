/** The controller as its user has it: a process, a folder, a port. */
import { expect } from "chai";
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import { FolderSource } from "../../src/files/folder-source.ts";
import { FolderScene, pool, service } from "./folder-scene.ts";

interface Allocation {
  readonly allocated: boolean;
  readonly addresses: readonly string[];
  readonly reason: string;
  readonly message: string;
}

const holder = (address: string, name: string) => ({
  address,
  services: [{ namespace: "default", name, ports: ["TCP/80"] }],
});

describe("arpeggio-controller --source=files", function () {
  this.timeout(30_000);
  let scene: FolderScene;

  beforeEach(async () => {
    scene = await FolderScene.make();
  });
  afterEach(() => scene.close());

  const allocation = async (name: string): Promise<Allocation> =>
    (await scene.get(`/services/default/${name}`)) as Allocation;

  async function speakersView(): Promise<ClusterSnapshot> {
    let last: ClusterSnapshot | undefined;
    const source = new FolderSource({ folder: scene.folder, onChange: (snapshot) => void (last = snapshot) });
    await source.start();
    await source.close();
    return last ?? expect.fail("nothing was read");
  }

  it("gives a Service an address that a speaker of the folder announces, and keeps it over restarts", async () => {
    await scene.write("pool.yaml", pool("main", "192.0.2.10-192.0.2.12"));
    await scene.write("b.yaml", service("b"));
    await scene.start();
    await scene.untilHas("b", "192.0.2.10");
    await scene.write("a.yaml", service("a"));
    await scene.untilHas("a", "192.0.2.11");
    expect((await speakersView()).services.get("default/b")?.addresses).to.deep.equal(["192.0.2.10"]);
    const before = [await scene.statusOf("a"), await scene.statusOf("b")];
    await scene.stop("SIGKILL");
    await scene.start();
    // It listens before it has read the folder.
    await scene.until(async () => (await allocation("a")).allocated);
    expect(await allocation("a")).to.deep.include({ allocated: true, addresses: ["192.0.2.11"] });
    expect([await scene.statusOf("a"), await scene.statusOf("b")]).to.deep.equal(before);
  });

  it("takes the address back with the manifest, removes the status file, and serves who waits", async () => {
    await scene.write("pool.yaml", pool("main", "192.0.2.10/32"));
    await scene.write("a.yaml", service("a"));
    await scene.start();
    await scene.untilHas("a", "192.0.2.10");
    await scene.write("b.yaml", service("b"));
    await scene.until(async () => /status: "?False/.test(await scene.statusOf("b")));
    const told = await allocation("b");
    expect(told).to.deep.include({ allocated: false, addresses: [], reason: "NoFreeAddress" });
    expect(told.message).to.match(/main/);
    expect(await scene.get("/pending")).to.deep.equal({
      items: [{ namespace: "default", name: "b", reason: told.reason, message: told.message }],
    });
    expect(await scene.get("/metrics")).to.match(/^arpeggio_allocator_pending_services 1$/m);
    await scene.remove("a.yaml");
    await scene.untilHas("b", "192.0.2.10");
    await scene.until(async () => !(await scene.statusFiles()).includes("service.default.a.yaml"));
    expect(await scene.get("/pending")).to.deep.equal({ items: [] });
  });

  it("moves a Service when its pool is removed", async () => {
    await scene.write("pools.yaml", [pool("a", "192.0.2.10/32"), pool("b", "198.51.100.10/32")].join("---\n"));
    await scene.write("web.yaml", service("web"));
    await scene.start();
    await scene.untilHas("web", "192.0.2.10");
    await scene.write("pools.yaml", pool("b", "198.51.100.10/32"));
    await scene.untilHas("web", "198.51.100.10");
    await scene.until(async () => !(await scene.statusFiles()).includes("ipaddresspool.default.a.yaml"));
  });

  it("takes no address away because a manifest is broken, not even over a restart", async () => {
    await scene.write("pool.yaml", pool("main", "192.0.2.10-192.0.2.11"));
    await scene.write("web.yaml", service("web"));
    await scene.start();
    await scene.untilHas("web", "192.0.2.10");
    await scene.stop();
    await scene.write("web.yaml", "kind: [Service");
    await scene.start();
    await scene.write("other.yaml", service("other"));
    await scene.untilHas("other", "192.0.2.11");
    expect(await scene.addresses("web")).to.deep.equal(["192.0.2.10"]);
    expect(await scene.get("/readyz")).to.match(/^ready\nweb\.yaml:/);
    await scene.write("web.yaml", service("web"));
    await scene.until(async () => (await allocation("web")).allocated);
    expect(await scene.addresses("web")).to.deep.equal(["192.0.2.10"]);
  });

  it("shows pools, their addresses page by page, and what a pool would move", async () => {
    await scene.write("pool.yaml", pool("main", "192.0.2.10-192.0.2.13", "2001:db8::/64"));
    for (const name of ["a", "b", "c"]) await scene.write(`${name}.yaml`, service(name));
    await scene.start();
    await scene.untilHas("c", "192.0.2.12");
    const { items } = (await scene.get("/pools")) as { items: readonly object[] };
    expect(items).to.deep.equal([
      {
        name: "main",
        autoAssign: true,
        assignedIPv4: "3",
        assignedIPv6: "0",
        availableIPv4: "1",
        availableIPv6: "9223372036854775807",
        services: 3,
      },
    ]);
    expect(await scene.get("/pools/main/addresses?limit=2")).to.deep.equal({
      items: [holder("192.0.2.10", "a"), holder("192.0.2.11", "b")],
      continue: "192.0.2.11",
    });
    expect(await scene.get("/pools/main/addresses?limit=2&continue=192.0.2.11")).to.deep.equal({
      items: [holder("192.0.2.12", "c")],
    });
    expect(await scene.post("/pools/impact", pool("main", "192.0.2.11-192.0.2.13"))).to.deep.equal({
      moves: [{ namespace: "default", name: "a", from: ["192.0.2.10"], to: ["192.0.2.13"] }],
    });
    expect(await scene.post("/pools/impact", "kind: Service")).to.deep.include({ code: "ERR_HTTP_BAD_REQUEST" });
    expect(await scene.get("/pools/main/addresses?limit=0")).to.deep.include({ code: "ERR_HTTP_BAD_REQUEST" });
    expect(await scene.get("/services/default/none")).to.deep.include({ code: "ERR_HTTP_NOT_FOUND" });
    await scene.until(async () => (await scene.statusFiles()).includes("ipaddresspool.default.main.yaml"));
  });

  it("is alone on its folder", async () => {
    await scene.start();
    const { child, output } = scene.run([`--source=files:${scene.folder}`, "--http-address=127.0.0.1:0"]);
    const code = await new Promise((resolve) => child.once("exit", resolve));
    expect(code).to.equal(1);
    expect(output()).to.contain("another controller allocates from");
  });

  it("lists every wrong option and ends with 2", async () => {
    const { child, output } = scene.run(["--source=cluster", "--http-adress=x", "--log-level=loud"]);
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect(code).to.equal(2);
    expect(output().trim().split("\n")).to.deep.equal([
      "controller: --http-adress is not an option of the controller; is --http-address meant?",
      'controller: --source: "cluster" is neither of the form files:DIR nor kubernetes',
      'controller: --log-level: "loud" is none of all, debug, info, warn, error, none',
    ]);
  });
});
