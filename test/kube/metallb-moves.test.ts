/** What moves an address from a node and back: its condition, its label, a taint and the loss of its speaker. One after the other. */
import { expect } from "chai";
import { speakerPod } from "../../hack/kube-cluster/drills/speakers.ts";
import { type Scene, SPEAKER_NAMESPACE, useScene } from "../support/kube-scene.ts";
import type { Trial } from "../support/kube-trial.ts";
import { whileExcluded, whileNetworkUnavailable, whileTainted } from "../support/node-signals.ts";
import { alone } from "../support/together.ts";

type While = (scene: Scene, node: string, body: () => Promise<void>) => Promise<void>;

describe("MetalLB's behaviours: moves", () => {
  const scene = useScene();

  alone(scene, "NetworkUnavailable moves an address away, and its end moves it back", (trial) =>
    movesAwayAndBack(trial, whileNetworkUnavailable),
  );

  alone(scene, "the exclude label moves an address away, and its removal moves it back", (trial) =>
    movesAwayAndBack(trial, whileExcluded),
  );

  alone(
    scene,
    "a speaker that is deleted and may not come back moves its addresses; they return with it",
    async (trial) => {
      await trial.start();
      const leader = await trial.ledByFirst();
      await whileTainted(scene(), leader, async () => {
        const { kube } = scene();
        const pod = await speakerPod(kube.cluster, kube.node(leader));
        await kube.kubectl(["delete", "-n", SPEAKER_NAMESPACE, pod, "--wait=false"]);
        await trial.ledBy(othersThan(trial, leader));
      });
      // A new speaker starts, and settles for 10 s.
      expect(await trial.ledBy([leader], 60_000)).to.equal(leader);
    },
  );
});

async function movesAwayAndBack(trial: Trial, whileSo: While): Promise<void> {
  await trial.start();
  const leader = await trial.ledByFirst();
  await whileSo(trial.scene, leader, async () => {
    const [next = ""] = othersThan(trial, leader);
    await trial.ledBy([next]);
    await trial.until("the status follows", 20_000, async () => {
      const statuses = await trial.l2Statuses();
      return statuses.length === 1 && statuses[0]?.status?.node === next;
    });
  });
  expect(await trial.ledBy([leader])).to.equal(leader);
}

/** In the order in which they would lead. */
function othersThan(trial: Trial, leader: string): readonly string[] {
  return trial.hashOrder().filter((node) => node !== leader);
}
