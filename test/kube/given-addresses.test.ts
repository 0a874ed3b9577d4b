/** The controllers as an installation has them. `hack/kube drill allocate`, `takeover` and `controller-chaos` are the same, longer. */
import { expect } from "chai";
import { runAllocate } from "../../hack/kube-cluster/allocation/allocate.ts";
import { runChaos } from "../../hack/kube-cluster/allocation/chaos.ts";
import { runTakeover } from "../../hack/kube-cluster/allocation/takeover.ts";
import { useCluster, useControllers } from "../support/kube.ts";
import { SCENE_NAMESPACE, SPEAKER_NAMESPACE, useScene } from "../support/kube-scene.ts";
import { Trial } from "../support/kube-trial.ts";

const DRILL_TIMEOUT_MS = 300_000;
const LIMITS = { slowestMs: 10_000, afterKillMs: 20_000, afterTerminateMs: 3_000 };
/** One that is told to end hands over at once: the next deed need not wait for a Lease that runs out. */
const CHAOS = { durationMs: 38_000, kinds: ["terminate", "kill"], intervalMs: 10_000 } as const;
const SECRET = ["secret", "memberlist", "-n", SPEAKER_NAMESPACE];

describe("controllers on the cluster", () => {
  const kube = useCluster();
  const scene = useScene();
  useControllers(kube);

  it("give 60 Services of both families their addresses, and say of them what kubectl says", async () => {
    const { figures } = await runAllocate(kube().cluster, 60);
    expect(figures).to.include({ services: 60, doubleAllocations: 0, lostAddresses: 0, differences: 0 });
    expect(figures.slowestMs).to.be.lessThan(LIMITS.slowestMs);
  }).timeout(DRILL_TIMEOUT_MS);

  it("give what is announced then", async () => {
    const trial = new Trial(scene(), scene().nextNumber());
    try {
      const pool = trial.pool();
      const annotations = { "metallb.io/address-pool": trial.name };
      await trial.apply(pool, trial.advertisement(), trial.service({ annotations }));
      await kube().kubectl([
        "wait",
        "--for=condition=arpeggio.dev/Allocated",
        `service/${trial.name}`,
        "-n",
        SCENE_NAMESPACE,
        "--timeout=20s",
      ]);
      await trial.ledBy(scene().nodes);
    } finally {
      await trial.end();
    }
  }).timeout(DRILL_TIMEOUT_MS);

  it("keep the address of a Service that was deleted for its name, in a ConfigMap", async () => {
    const trial = new Trial(scene(), scene().nextNumber());
    const target = ["configmap", "arpeggio-reservations", "-n", SPEAKER_NAMESPACE];
    try {
      const pool = trial.pool();
      const kept = { ...pool.metadata, annotations: { "arpeggio.dev/reserve-for": "1h" } };
      const annotations = { "metallb.io/address-pool": trial.name };
      await trial.apply({ ...pool, metadata: kept });
      for (const round of ["first", "second"]) {
        const service = trial.service({ suffix: `-${round}`, annotations });
        await trial.apply(service);
        await kube().until(`the ${round} one has addresses`, async () => {
          const path = "jsonpath={.status.loadBalancer.ingress[*].ip}";
          const name = service.metadata.name;
          return (await kube().kubectl(["get", "service", name, "-n", SCENE_NAMESPACE, "-o", path])) !== "";
        });
        await trial.remove(service);
        await kube().until(`the ${round} one is in the list`, async () => {
          const text = await kube().kubectl([
            "get",
            ...target,
            "--ignore-not-found",
            "-o",
            "jsonpath={.data.reserved}",
          ]);
          return text.includes(`${SCENE_NAMESPACE}/${trial.name}-${round} ${trial.ipv4}`);
        });
        // The pool has no other address: the next one gets it early.
      }
    } finally {
      await trial.end();
      await kube().kubectl(["delete", ...target, "--ignore-not-found"]);
    }
  }).timeout(DRILL_TIMEOUT_MS);

  it("make the Secret with the gossip key when it is gone, and it belongs to nobody", async () => {
    const before = await kube().get<SecretObject>(...SECRET);
    await kube().kubectl(["delete", ...SECRET]);
    const made = await kube().until("it is there again", () =>
      kube()
        .get<SecretObject>(...SECRET)
        .catch(() => undefined),
    );
    // The speakers go on with the one that they have: none has seen the other yet.
    await kube().kubectl(["patch", ...SECRET, "--type=merge", "-p", JSON.stringify({ data: before.data })]);
    expect(made.metadata.ownerReferences ?? []).to.deep.equal([]);
    expect(Buffer.from(made.data.secretkey, "base64").toString()).to.match(/^[A-Za-z0-9+/]{22}$/);
  }).timeout(DRILL_TIMEOUT_MS);

  it("take over from MetalLB's: no address changes, its Secret survives it, its webhook does not", async () => {
    const figures = await runTakeover(kube().cluster, 6);
    expect(figures).to.include({
      services: 6,
      addressesChanged: 0,
      applyRefusedBefore: 1,
      allocatedBeside: 0,
      eventsBeside: 1,
      secretSurvives: 1,
      applyWorks: 1,
    });
    // It must have been gone for 5 s.
    expect(figures.firstAddressMs).to.be.greaterThan(5_000);
  }).timeout(DRILL_TIMEOUT_MS);

  it("go on when the one that allocates is told to end, and when it is killed: nobody gets an address twice, nobody loses one", async () => {
    const { figures, offences } = await runChaos(kube().cluster, CHAOS);
    expect(figures, offences).to.include({
      deeds: 2,
      doubleAllocations: 0,
      lostAddresses: 0,
      withoutAddress: 0,
      lateWrites: 0,
    });
    expect(figures.allocations).to.be.greaterThan(100);
    expect(figures.takeoverAfterTerminateMs).to.be.lessThan(LIMITS.afterTerminateMs);
    expect(figures.takeoverAfterKillMs).to.be.lessThan(LIMITS.afterKillMs);
  }).timeout(DRILL_TIMEOUT_MS);
});

interface SecretObject {
  readonly metadata: { readonly ownerReferences?: readonly unknown[] };
  readonly data: { readonly secretkey: string };
}
