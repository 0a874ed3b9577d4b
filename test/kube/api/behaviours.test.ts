/** What users of MetalLB's controller rely on, one test each, against a real API server. */
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { useControlPlane } from "../../support/control-plane.ts";
import { ControllerScene, NAMESPACE, pool, type ServiceWishes, service } from "./controller-scene.ts";

/** In which a freed address is somebody else's; MetalLB's own limit is a minute. */
const REUSED_MS = 1_000;
/** After the positive control of a test that something does not happen. */
const STILL_MS = 1_000;

const POOL_KEY = "metallb.io/address-pool";
const SHARING_KEY = "metallb.io/allow-shared-ip";
const DUAL: ServiceWishes = { ipFamilyPolicy: "RequireDualStack" };
const PREFER: ServiceWishes = { ipFamilyPolicy: "PreferDualStack" };

const pinned = (serviceAllocation: object) => pool("pinned", ["192.0.2.10/32"], { serviceAllocation });

describe("allocation in a cluster", function () {
  this.timeout(60_000);
  const plane = useControlPlane();
  let scene: ControllerScene;

  before(async function () {
    this.timeout(120_000);
    scene = await ControllerScene.open(plane());
    await scene.start("c1").leading();
  });
  after(() => scene?.close());
  afterEach(() => scene.wipe());

  const has = (name: string, ...addresses: readonly string[]) => scene.untilHas(name, ...addresses);

  describe("an address that is given back", () => {
    beforeEach(async () => {
      await scene.apply(pool("main", ["192.0.2.10/32"]), service("a"));
      await has("a", "192.0.2.10");
      await scene.apply(service("b"));
      await scene.untilRefused("b", "NoFreeAddress");
    });

    it("by a change of type is given again within a second, and the first Service shows nothing of it any more", async () => {
      await scene.patch("Service", "a", { spec: { type: "ClusterIP" } });
      expect(await has("b", "192.0.2.10")).to.be.lessThan(REUSED_MS);
      await scene.until(async () => (await scene.condition("a")) === undefined);
      const { metadata } = await scene.object("Service", "a");
      expect(metadata.annotations ?? {}).to.not.have.property("metallb.io/ip-allocated-from-pool");
    });

    it("by its Service's end is given again within a second", async () => {
      await scene.remove("Service", "a");
      expect(await has("b", "192.0.2.10")).to.be.lessThan(REUSED_MS);
      expect(await scene.condition("b")).to.include({ status: "True", reason: "Allocated" });
    });
  });

  describe("an address that two share", () => {
    const shared = { [SHARING_KEY]: "one" };
    const https = [{ name: "https", port: 443, protocol: "TCP" }];
    const selector = { app: "both" };

    beforeEach(async () => {
      await scene.apply(pool("main", ["192.0.2.10/32"]));
      const local = { annotations: shared, selector, externalTrafficPolicy: "Local" };
      await scene.apply(service("a", local));
      await has("a", "192.0.2.10");
      await scene.apply(service("b", { ...local, ports: https }));
      await has("b", "192.0.2.10");
    });

    for (const { what, broken, healed } of [
      { what: "policy", broken: { externalTrafficPolicy: "Cluster" }, healed: { externalTrafficPolicy: "Local" } },
      { what: "selector", broken: { selector: { app: "other" } }, healed: { selector: { app: "both" } } },
    ]) {
      it(`is shared no longer by one whose ${what} changes, and again when it changes back`, async () => {
        await scene.patch("Service", "b", { spec: broken });
        await has("b");
        expect(await scene.addresses("a")).to.deep.equal(["192.0.2.10"]);
        await scene.until(async () => (await scene.events("b")).some((text) => text.startsWith("ClearAssignment")));
        await scene.patch("Service", "b", { spec: healed });
        await has("b", "192.0.2.10");
      });
    }
  });

  describe("pools that go", () => {
    it("take their addresses with them when all do", async () => {
      await scene.apply(pool("main", ["192.0.2.10/32"]), service("web"));
      await has("web", "192.0.2.10");
      await scene.remove("IPAddressPool", "main", NAMESPACE);
      await has("web");
      expect((await scene.condition("web"))?.["status"]).to.equal("False");
    });

    it("are followed by another", async () => {
      await scene.apply(pool("a", ["192.0.2.10/32"]), pool("b", ["198.51.100.10/32"]), service("web"));
      await has("web", "192.0.2.10");
      await scene.remove("IPAddressPool", "a", NAMESPACE);
      await has("web", "198.51.100.10");
      const { metadata } = await scene.object("Service", "web");
      expect(metadata.annotations).to.include({ "metallb.io/ip-allocated-from-pool": "b" });
    });
  });

  describe("a pool that is pinned", () => {
    const anybody = pool("anybody", ["198.51.100.0/24"]);
    const team = { kind: "Namespace", apiVersion: "v1", metadata: { name: "team", labels: { tier: "gold" } } } as const;

    before(() => scene.apply(team));

    for (const { by, allocation, wishes } of [
      { by: "namespace", allocation: { namespaces: ["team"] }, wishes: { namespace: "team" } },
      {
        by: "the namespace's labels",
        allocation: { namespaceSelectors: [{ matchLabels: { tier: "gold" } }] },
        wishes: { namespace: "team" },
      },
      {
        by: "the Service's labels",
        allocation: { serviceSelectors: [{ matchLabels: { edge: "yes" } }] },
        wishes: { labels: { edge: "yes" } },
      },
      {
        by: "namespace and Service",
        allocation: { namespaces: ["team"], serviceSelectors: [{ matchLabels: { edge: "yes" } }] },
        wishes: { namespace: "team", labels: { edge: "yes" } },
      },
    ]) {
      it(`by ${by} gives to those first, and to nobody else`, async () => {
        await scene.apply(pinned(allocation), anybody, service("other"));
        await has("other", "198.51.100.0");
        await scene.apply(service("chosen", wishes));
        const { namespace = "default" } = wishes as { readonly namespace?: string };
        await scene.until(async () => (await scene.addresses("chosen", namespace)).join() === "192.0.2.10");
      });
    }

    it("by a priority alone admits everybody, before the pools without", async () => {
      await scene.apply(pinned({ priority: 100 }), anybody, service("web"));
      await has("web", "192.0.2.10");
    });

    it("comes before those of a higher number, and one without a number last", async () => {
      await scene.apply(
        pool("a-none", ["203.0.113.0/32"], { serviceAllocation: { namespaces: ["default"] } }),
        pool("b-second", ["192.0.2.2/32"], { serviceAllocation: { priority: 20, namespaces: ["default"] } }),
        pool("c-first", ["192.0.2.1/32"], { serviceAllocation: { priority: 10, namespaces: ["default"] } }),
      );
      for (const [name, address] of [
        ["first", "192.0.2.1"],
        ["second", "192.0.2.2"],
        ["last", "203.0.113.0"],
      ] as const) {
        await scene.apply(service(name));
        await has(name, address);
      }
    });
  });

  describe("a Service that prefers two families", () => {
    const only4 = pool("a-v4", ["192.0.2.10-192.0.2.11"]);
    const only6 = pool("b-v6", ["2001:db8::10-2001:db8::11"]);
    const both = pool("c-both", ["198.51.100.10-198.51.100.11", "2001:db8:1::10-2001:db8:1::11"]);

    it("gets both from the first pool that has both", async () => {
      await scene.apply(only4, only6, both, service("web", PREFER));
      await has("web", "198.51.100.10", "2001:db8:1::10");
    });

    it("gets IPv4 where no pool has both", async () => {
      await scene.apply(only4, only6, service("web", PREFER));
      await has("web", "192.0.2.10");
    });

    it("gets IPv6 there when that is its primary family", async () => {
      await scene.apply(only4, only6, service("web", { ...PREFER, ipFamilies: ["IPv6", "IPv4"] }));
      await has("web", "2001:db8::10");
    });

    it("keeps the address it has when its pool grows, and gets the other family behind it", async () => {
      await scene.apply(only4, service("web", PREFER));
      await has("web", "192.0.2.10");
      await scene.apply(pool("a-v4", ["192.0.2.10-192.0.2.11", "2001:db8::10/127"]));
      await has("web", "192.0.2.10", "2001:db8::10");
    });

    it("does not jump to a pool that has both", async () => {
      await scene.apply(only4, service("web", PREFER));
      await has("web", "192.0.2.10");
      await scene.apply(both, service("other", PREFER));
      await has("other", "198.51.100.10", "2001:db8:1::10");
      await pause(STILL_MS);
      expect(await scene.addresses("web")).to.deep.equal(["192.0.2.10"]);
    });

    it("keeps both when it comes to require them, and the other way round", async () => {
      await scene.apply(both, service("web", PREFER));
      await has("web", "198.51.100.10", "2001:db8:1::10");
      for (const policy of [DUAL, PREFER]) {
        await scene.patch("Service", "web", { spec: policy });
        await scene.apply(service("probe"));
        await scene.until(async () => (await scene.addresses("probe")).length === 1);
        expect(await scene.addresses("web")).to.deep.equal(["198.51.100.10", "2001:db8:1::10"]);
        await scene.remove("Service", "probe");
      }
    });

    it("goes on with one when its pool loses a family", async () => {
      await scene.apply(both, service("web", PREFER));
      await has("web", "198.51.100.10", "2001:db8:1::10");
      await scene.apply(pool("c-both", ["198.51.100.10-198.51.100.11"]));
      await has("web", "198.51.100.10");
    });
  });

  it("the numbers of a pool follow what is given: 4/4, 3/3, 7/7, 8/8; what somebody writes there is put right", async () => {
    const untilFree = (four: number, six: number) =>
      scene.until(async () => {
        const { status } = await scene.object("IPAddressPool", "main", NAMESPACE);
        const { availableIPv4, availableIPv6 } = (status ?? {}) as Readonly<Record<string, number>>;
        return availableIPv4 === four && availableIPv6 === six;
      });
    await scene.apply(pool("main", ["192.0.2.10-192.0.2.13", "2001:db8::10-2001:db8::13"]));
    await untilFree(4, 4);
    await scene.apply(service("web", DUAL));
    await untilFree(3, 3);
    await scene.apply(pool("main", ["192.0.2.10-192.0.2.17", "2001:db8::10-2001:db8::17"]));
    await untilFree(7, 7);
    await scene.patch("IPAddressPool", "main", { status: { availableIPv4: 99 } }, "/status", NAMESPACE);
    await untilFree(7, 7);
    await scene.remove("Service", "web");
    await untilFree(8, 8);
  });

  it("a Service of another class gets nothing", async () => {
    await scene.apply(pool("main", ["192.0.2.10-192.0.2.11"]));
    await scene.apply(service("foreign", { loadBalancerClass: "example.org/other" }), service("ours"));
    await has("ours", "192.0.2.10");
    await pause(STILL_MS);
    expect(await scene.addresses("foreign")).to.deep.equal([]);
    expect(await scene.condition("foreign")).to.equal(undefined);
  });

  describe("a Service that names its pool", () => {
    const pools = [
      pool("a-first", ["192.0.2.10/32"]),
      pool("b-automatic", ["198.51.100.10/32"]),
      pool("c-by-name", ["203.0.113.10/32"], { autoAssign: false }),
    ];

    it("gets an address of it, whether it assigns automatically or not", async () => {
      await scene.apply(...pools);
      await scene.apply(service("b", { annotations: { [POOL_KEY]: "b-automatic" } }));
      await scene.apply(service("c", { annotations: { [POOL_KEY]: "c-by-name" } }));
      await has("b", "198.51.100.10");
      await has("c", "203.0.113.10");
    });

    it("only that way of a pool that does not assign automatically", async () => {
      await scene.apply(...pools.slice(2));
      await scene.apply(service("web"));
      await scene.until(async () => (await scene.condition("web"))?.["status"] === "False");
      expect(await scene.addresses("web")).to.deep.equal([]);
    });
  });
});
