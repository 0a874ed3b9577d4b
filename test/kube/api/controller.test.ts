/** The controller on a real API server, as its user has it: processes, Services, kubectl. */
import { expect } from "chai";
import { useControlPlane } from "../../support/control-plane.ts";
import { ControllerScene, NAMESPACE, pool, service } from "./controller-scene.ts";

describe("arpeggio-controller --source=kubernetes", function () {
  this.timeout(60_000);
  const plane = useControlPlane();
  let scene: ControllerScene;

  before(async () => {
    scene = await ControllerScene.open(plane());
  });
  after(() => scene?.close());
  afterEach(() => scene.clear());

  it("gives a Service an address, and says so in its condition, its annotation, an event and the pool's numbers", async () => {
    await scene.apply(pool("main", ["192.0.2.10-192.0.2.12", "2001:db8::/64"]), service("web"));
    await scene.start("c1").leading();
    await scene.untilHas("web", "192.0.2.10");
    expect(await scene.condition("web")).to.include({
      status: "True",
      reason: "Allocated",
      message: "192.0.2.10 from IPAddressPool main",
    });
    expect((await scene.object("Service", "web")).metadata.annotations).to.include({
      "metallb.io/ip-allocated-from-pool": "main",
    });
    await scene.until(async () => (await scene.events("web")).length > 0);
    expect(await scene.kubectl(["describe", "service", "web"])).to.match(
      /Normal\s+IPAllocated\s+\S+\s+metallb-controller\s+Assigned IP \["192\.0\.2\.10"\]/,
    );
    const words = ["get", "ipaddresspool", "main", "-n", NAMESPACE, "-o", "jsonpath={.status}"];
    const numbers = '{"assignedIPv4":1,"assignedIPv6":0,"availableIPv4":2,"availableIPv6":9223372036854775807}';
    await scene.until(async () => (await scene.kubectl(words)) === numbers);
  });

  it("says of every address that it gave before it was ended what it says of any", async () => {
    await scene.apply(pool("main", ["198.18.0.0/24"]));
    const controller = await scene.start("c1").leading();
    const names = Array.from({ length: 60 }, (_, number) => `s${number}`);
    await Promise.all(names.map((name) => scene.apply(service(name))));
    await scene.until(async () => Object.values(await scene.allAddresses()).some((address) => address !== ""));
    await controller.end();
    const given = Object.entries(await scene.allAddresses()).filter(([, address]) => address !== "");
    const said = await Promise.all(given.map(([name]) => scene.events(name)));
    expect(said).to.deep.equal(given.map(([, address]) => [`IPAllocated: Assigned IP ["${address}"]`]));
  });

  it("leaves conditions alone with --no-conditions: addresses and events come all the same", async () => {
    await scene.apply(pool("main", ["192.0.2.10/32"]), service("web"));
    await scene.start("c1", ["--no-conditions"]).leading();
    await scene.untilHas("web", "192.0.2.10");
    await scene.apply(service("waits"));
    await scene.until(async () => (await scene.events("waits")).length > 0);
    expect(await scene.events("waits")).to.have.length(1);
    expect((await scene.events("waits"))[0]).to.match(/^AllocationFailed: /);
    expect([await scene.condition("web"), await scene.condition("waits")]).to.deep.equal([undefined, undefined]);
  });
});
