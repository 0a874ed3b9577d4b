/** A quiet cluster costs the API server watches and nothing else. `hack/kube drill idle` looks on for longer. */
import { expect } from "chai";
import { watchIdle } from "../../hack/kube-cluster/drills/idle.ts";
import { SCENE_NAMESPACE, useScene } from "../support/kube-scene.ts";

const WATCH = { durationMs: 30_000, settledMs: 3_000, looks: 3 };

describe("an idle cluster", () => {
  const scene = useScene();

  it("of 100 Services is written to by nobody, and read by watches alone", async function () {
    this.timeout(300_000);
    const services = { count: 100, namespace: SCENE_NAMESPACE, selector: { app: "web" } };
    const quiet = await watchIdle(scene().kube.cluster, services, WATCH);
    // Watches that end, and the two lists, fall into it or not.
    expect(quiet, JSON.stringify(quiet.rows)).to.include({ writes: 0, others: 0 });
  });
});
