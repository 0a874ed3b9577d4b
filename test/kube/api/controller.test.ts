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
});
