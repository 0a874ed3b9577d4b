import { expect } from "chai";
import { Neighbours } from "../../controller/neighbours.ts";
import { VirtualClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { SeededRandom } from "../../src/base/random.ts";
import type { NeighbourPod } from "../../src/kube/metallb/other-allocator.ts";
import type { ControllerKindName } from "../../src/kube/watch/controller-kinds.ts";
import { ScriptedApi, settled } from "../kube/metallb/scripted-api.ts";

const PODS = new Set<ControllerKindName>(["pods"]);
const LEASE = new Set<ControllerKindName>(["lease"]);
const METALLB: NeighbourPod = {
  name: "controller-1",
  uid: "uid-1",
  labels: { app: "metallb", component: "controller" },
  phase: "Running",
  isBeingDeleted: false,
};

describe("Neighbours", () => {
  let clock: VirtualClock;
  let api: ScriptedApi;
  let isHolder: boolean;
  let pods: Map<string, NeighbourPod> | undefined;
  let said: string[];
  let checks: number;

  beforeEach(() => {
    clock = new VirtualClock();
    api = new ScriptedApi();
    isHolder = true;
    pods = new Map();
    said = [];
    checks = 0;
  });

  function start(secretName = "memberlist", takesOver = false): Neighbours {
    const neighbours = new Neighbours(
      { namespace: "metallb-system", secretName, takesOver },
      {
        api,
        clock,
        random: new SeededRandom(1),
        log: createLog(
          "none",
          () => undefined,
          () => 0,
        ),
        isHolder: () => isHolder,
        pods: () => pods,
        say: ({ kind, namespace, name, uid }, { reason }) => said.push(`${reason} ${kind} ${namespace}/${name} ${uid}`),
        check: () => void checks++,
        fail: (error) => {
          throw error;
        },
      },
    );
    neighbours.start();
    return neighbours;
  }

  it("lets nobody allocate beside MetalLB's controller, and tells when it may", () => {
    const neighbours = start();
    expect(neighbours.closedBecause()).to.equal("the Pods of the namespace are not read yet");
    pods = new Map([["controller-1", METALLB]]);
    neighbours.whenRead(PODS);
    expect(neighbours.closedBecause()).to.contain("controller-1");
    expect(neighbours.status().otherAllocators).to.deep.equal(["controller-1"]);
    pods = new Map();
    neighbours.whenRead(PODS);
    clock.advance(5_000);
    expect(neighbours.closedBecause()).to.equal(undefined);
    expect(checks).to.equal(1);
    neighbours.close();
  });

  it("does not take Pods for gone that are not listed", () => {
    const neighbours = start();
    pods = undefined;
    neighbours.whenRead(PODS);
    clock.advance(60_000);
    expect(neighbours.closedBecause()).to.equal("the Pods of the namespace are not read yet");
    neighbours.close();
  });

  it("says so on that Pod, once, and only as the holder of the Lease", () => {
    isHolder = false;
    const neighbours = start();
    pods = new Map([["controller-1", METALLB]]);
    neighbours.whenRead(PODS);
    expect(said).to.deep.equal([]);
    isHolder = true;
    neighbours.whenRead(LEASE);
    neighbours.whenRead(PODS);
    neighbours.whenRead(LEASE);
    expect(said).to.deep.equal(["otherAllocatorRunning Pod metallb-system/controller-1 uid-1"]);
    neighbours.close();
  });

  it("says so once, too, when the Lease is won before the Pods are read", () => {
    const neighbours = start();
    pods = new Map([["controller-1", METALLB]]);
    neighbours.whenRead(PODS);
    neighbours.whenRead(PODS);
    expect(said).to.deep.equal(["otherAllocatorRunning Pod metallb-system/controller-1 uid-1"]);
    neighbours.close();
  });

  it("makes the Secret when the Lease is won", async () => {
    isHolder = false;
    const neighbours = start();
    await settled();
    expect(api.writes).to.deep.equal([]);
    isHolder = true;
    neighbours.whenRead(LEASE);
    await settled();
    expect(api.writes.map(({ path }) => path)).to.deep.equal(["/api/v1/namespaces/metallb-system/secrets"]);
    neighbours.close();
  });

  it("asks for neither Secret nor webhook when nobody wants it to", async () => {
    const neighbours = start("");
    neighbours.whenRead(LEASE);
    await settled();
    expect(api.asked).to.deep.equal([]);
    expect(neighbours.status()).to.deep.equal({ otherAllocators: [], problems: [] });
    neighbours.close();
  });

  it("looks for the webhook on --takeover", async () => {
    const neighbours = start("", true);
    await settled();
    expect(neighbours.status().webhook).to.deep.equal({ kind: "absent" });
    neighbours.close();
  });

  it("says what cannot be put in order", async () => {
    api.trouble = () => ({ status: 403, body: {} });
    const neighbours = start();
    await settled();
    expect(neighbours.status().problems).to.deep.equal([
      "may not get secrets by the name memberlist in namespace metallb-system",
    ]);
    neighbours.close();
  });
});
