/** `preferredNodeSelectors`: soft scores beside hard selectors. Each test has labels of its own on the nodes. */
import { useScene } from "../support/kube-scene.ts";
import type { Trial } from "../support/kube-trial.ts";
import { whileExcluded } from "../support/node-signals.ts";
import { alone, together } from "../support/together.ts";

describe("MetalLB's behaviours: preferred nodes", () => {
  const scene = useScene();

  together(scene, {
    "the preferred node leads; without it the hash decides": async (trial) => {
      const preferred = lastByHash(trial);
      await trial.label({ [preferred]: "yes" });
      await trial.start({}, preferring(trial, { yes: 100 }));
      await trial.ledBy([preferred]);
      await trial.label({ [preferred]: null });
      await trial.ledByFirst();
    },

    "a preference that no node matches leaves the order of the hash": async (trial) => {
      await trial.start({}, preferring(trial, { nowhere: 100 }));
      await trial.ledByFirst();
    },

    "an edited preference counts at once": async (trial) => {
      const [first = "", second = "", third = ""] = trial.hashOrder();
      await trial.label({ [second]: "a", [third]: "b" });
      await trial.start({}, preferring(trial, { a: 10 }));
      await trial.ledBy([second]);
      await trial.apply(trial.advertisement(preferring(trial, { a: 10, b: 20 })));
      await trial.ledBy([third]);
      await trial.apply(trial.advertisement());
      await trial.ledBy([first]);
    },

    "a hard selector beats a preference": async (trial) => {
      const [first = "", second = "", third = ""] = trial.hashOrder();
      await trial.label({ [first]: "may", [second]: "may", [third]: "wanted" });
      await trial.start({}, { ...preferring(trial, { wanted: 100 }), nodeSelectors: [trial.nodesWith("may")] });
      await trial.ledBy([first]);
    },

    "a preference for nodes that the selector excludes is ignored, one among the selected counts": async (trial) => {
      const [first = "", second = "", third = ""] = trial.hashOrder();
      await trial.label({ [first]: "may", [second]: "both", [third]: "other" });
      const nodeSelectors = [trial.nodesWith("may"), trial.nodesWith("both")];
      await trial.start({}, { ...preferring(trial, { other: 100, both: 1 }), nodeSelectors });
      await trial.ledBy([second]);
    },

    "weights add up over advertisements: 60 and 50 beat 100": async (trial) => {
      const [, second = "", third = ""] = trial.hashOrder();
      await trial.label({ [second]: "single", [third]: "twice" });
      await trial.apply(trial.advertisement(preferring(trial, { twice: 50 }), "-b"));
      await trial.start({}, preferring(trial, { single: 100, twice: 60 }));
      await trial.ledBy([third]);
    },

    "only advertisements that match the Service count": async (trial) => {
      const [first = "", , third = ""] = trial.hashOrder();
      await trial.label({ [third]: "yes" });
      const serviceSelectors = [{ matchLabels: { tier: "other" } }];
      await trial.apply(trial.advertisement({ ...preferring(trial, { yes: 100 }), serviceSelectors }, "-b"));
      await trial.start({ labels: { tier: "web" } });
      await trial.ledBy([first]);
      await trial.apply(trial.service({ labels: { tier: "other" } }));
      await trial.ledBy([third]);
    },
  });

  alone(scene, "when the preferred node is excluded the next leads, and it takes the address back", async (trial) => {
    const preferred = lastByHash(trial);
    await trial.label({ [preferred]: "yes" });
    await trial.start({}, preferring(trial, { yes: 100 }));
    await trial.ledBy([preferred]);
    await whileExcluded(trial.scene, preferred, async () => {
      await trial.ledByFirst();
    });
    await trial.ledBy([preferred]);
  });
});

/** Value of the test's own node label → weight. */
function preferring(trial: Trial, weights: Readonly<Record<string, number>>) {
  return {
    preferredNodeSelectors: Object.entries(weights).map(([value, weight]) => ({
      weight,
      preference: trial.nodesWith(value),
    })),
  };
}

function lastByHash(trial: Trial): string {
  return trial.hashOrder().at(-1) ?? "";
}
