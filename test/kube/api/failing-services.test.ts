/** `kubectl describe service` of twelve Services that get no address: twelve sentences, each of which says what to do. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "chai";
import { useControlPlane } from "../../support/control-plane.ts";
import { ControllerScene, NAMESPACE, pool, service } from "./controller-scene.ts";

const GOLDEN = resolve(import.meta.dirname, "../../../../test/kube/api/failing-services.txt");

const ASKED = "metallb.io/loadBalancerIPs";
const POOL_KEY = "metallb.io/address-pool";
const SHARED = { "metallb.io/allow-shared-ip": "one" };
const DUAL = { ipFamilyPolicy: "RequireDualStack" };

const SURROUNDINGS = [
  pool("main", ["192.0.2.10-192.0.2.20"]),
  pool("six", ["2001:db8::/126"]),
  pool("careful", ["198.51.100.0/28"], { avoidBuggyIPs: true, autoAssign: false }),
  pool("team", ["203.0.113.0/28"], { serviceAllocation: { namespaces: ["team"] } }),
  { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } },
] as const;

const FAILING = [
  service("01-no-address", { loadBalancerIP: "first-free" }),
  service("02-asked-twice", { annotations: { [ASKED]: "192.0.2.11" }, loadBalancerIP: "192.0.2.12" }),
  service("03-two-of-a-family", { annotations: { [ASKED]: "192.0.2.11, 192.0.2.12" } }),
  service("04-one-of-two", { ...DUAL, loadBalancerIP: "192.0.2.11" }),
  service("05-in-no-pool", { annotations: { [ASKED]: "203.0.113.200" } }),
  service("06-avoided", { annotations: { [ASKED]: "198.51.100.0" } }),
  service("07-of-a-node", { annotations: { [ASKED]: "192.0.2.20" } }),
  service("08-unknown-pool", { annotations: { [POOL_KEY]: "mian" } }),
  service("09-not-admitted", { annotations: { [POOL_KEY]: "team" } }),
  service("10-in-use", { annotations: { [ASKED]: "192.0.2.10" } }),
  service("11-port-in-use", { annotations: { [ASKED]: "192.0.2.10", ...SHARED } }),
  service("12-no-pool-of-both", DUAL),
];

describe("twelve Services that get no address", function () {
  this.timeout(120_000);
  const plane = useControlPlane();
  let scene: ControllerScene;

  before(async () => {
    scene = await ControllerScene.open(plane());
  });
  after(() => scene?.close());

  it("say in kubectl describe what is the matter, each in words of its own", async () => {
    await scene.apply(...SURROUNDINGS);
    const addresses = [{ type: "InternalIP", address: "192.0.2.20" }];
    await scene.patch("Node", "n1", { status: { addresses } }, "/status", "");
    await scene.apply(service("holder", { annotations: { [ASKED]: "192.0.2.10", ...SHARED } }));
    await scene.start("c1").leading();
    await scene.untilHas("holder", "192.0.2.10");
    await scene.apply(...FAILING);
    const said: string[] = [];
    for (const { metadata } of FAILING) {
      await scene.until(async () => (await scene.events(metadata.name)).length > 0);
      said.push(`${metadata.name}\n${eventsIn(await scene.kubectl(["describe", "service", metadata.name]))}`);
    }
    expect(said.join("\n")).to.equal(readFileSync(GOLDEN, "utf8"));
    const sentences = said.map((text) => text.split(": ").slice(1).join(": "));
    expect(new Set(sentences).size).to.equal(FAILING.length);
  });

  it("each have a condition that says the same", async () => {
    const events = await scene.events("05-in-no-pool");
    const condition = await scene.condition("05-in-no-pool");
    expect(condition).to.include({ status: "False", reason: "AddressInNoPool" });
    expect(events).to.deep.equal([
      `AllocationFailed: Failed to allocate IP for "default/05-in-no-pool": ${condition?.["message"]}`,
    ]);
    expect(await scene.object("IPAddressPool", "main", NAMESPACE)).to.have.property("status");
  });
});

/**
 * Ours without their age, a line each: type, reason, who says it, message. A busy API server repairs cluster addresses that it has just
 * given itself, and says so.
 */
function eventsIn(described: string): string {
  const lines = described.slice(described.indexOf("\nEvents:")).trimEnd().split("\n").slice(4);
  const rows = lines.map((line) => line.trim().split(/ {2,}/).toSpliced(2, 1));
  return rows.flatMap((row) => (row[2] === "metallb-controller" ? [`  ${row.join("  ")}\n`] : [])).join("");
}
