/** What an operator does on purpose, with 500 new connections a second meanwhile. `hack/kube drill all` runs these and the others, longer. */
// Files run in the order of their names. This one comes before any that sets the scene: a drain refuses to end its pods, which nobody would replace.
import { expect } from "chai";
import type { KubeDrill } from "../../hack/kube-cluster/drills/drill.ts";
import { cutWatches, FAULT_DRILLS } from "../../hack/kube-cluster/drills/faults.ts";
import { PLANNED_DRILLS } from "../../hack/kube-cluster/drills/planned.ts";
import { type KubeFigures, runKubeDrill } from "../../hack/kube-cluster/drills/run-drill.ts";
import { clearStage, setStage } from "../../hack/kube-cluster/drills/scene.ts";
import { useCluster } from "../support/kube.ts";

const STAGE_TIMEOUT_MS = 240_000;
const DRILL_TIMEOUT_MS = 300_000;
const CUTS = 10;
/** Of three speakers: some connections are open at one moment and not at another. One for each reconnect would be 200. */
const OPEN_FILES_MORE = 20;
/** Of three speakers, with what V8 compiles meanwhile. A request that is never forgotten has 24 kB: it would be more than 5. */
const HEAP_MEGABYTES_MORE = 4;

describe("drills on the cluster", () => {
  const kube = useCluster();

  before(async function () {
    this.timeout(STAGE_TIMEOUT_MS);
    await setStage(kube().cluster);
  });

  after(async function () {
    this.timeout(STAGE_TIMEOUT_MS);
    await clearStage(kube().cluster);
  });

  const run = (drill: KubeDrill): Promise<KubeFigures> => runKubeDrill(kube().cluster, drill);

  it("apply of an L2Advertisement: from silence to one node that answers both families", async () => {
    const { figures, extra } = await run(PLANNED_DRILLS.apply);
    expect(figures.firstReplyMs).to.be.a("number");
    expect(extra["firstNeighborAdvertisementMs"]).to.be.a("number");
    expect(figures.macs.filter((mac) => mac !== "00:00:00:00:00:00")).to.have.lengthOf(1);
  }).timeout(DRILL_TIMEOUT_MS);

  it("drain of the leader's node: it moves once, and nothing is lost", async () => {
    const { figures } = await run(PLANNED_DRILLS.drain);
    expect(figures).to.deep.include({ moves: 1, lost: 0 });
    expect(figures.sent).to.be.greaterThan(1_000);
  }).timeout(DRILL_TIMEOUT_MS);

  it("rolling restart of the speakers: nothing is lost", async () => {
    const { figures } = await run(PLANNED_DRILLS.rollout);
    expect(figures.lost).to.equal(0);
    expect(figures.moves).to.be.greaterThan(0);
    expect(figures.sent).to.be.greaterThan(10_000);
  }).timeout(DRILL_TIMEOUT_MS);

  it(`every watch reset once a second for ${CUTS} s: nothing moves, nothing is listed again, nothing is held for longer`, async () => {
    const { figures, extra } = await run({
      ...FAULT_DRILLS["watch-cut"],
      drill: (scene) => cutWatches(scene, CUTS),
    });
    expect(figures).to.deep.include({ moves: 0, lost: 0 });
    expect(extra["relists"]).to.equal(0);
    expect(extra["reconnects"]).to.be.greaterThan(CUTS);
    expect(extra["openFilesMore"]).to.be.lessThan(OPEN_FILES_MORE);
    expect(extra["collectedHeapMegabytesMore"]).to.be.lessThan(HEAP_MEGABYTES_MORE);
  }).timeout(DRILL_TIMEOUT_MS);
});
