/** Which nodes and which Services an advertisement is for. Each test has labels of its own. */
import { expect } from "chai";
import { useScene } from "../support/kube-scene.ts";
import type { Trial } from "../support/kube-trial.ts";
import { together } from "../support/together.ts";

const WEB = { serviceSelectors: [{ matchLabels: { tier: "web" } }] };

describe("MetalLB's behaviours: selectors", () => {
  const scene = useScene();

  together(scene, {
    "an advertisement for one node: that node leads, and another after an edit": async (trial) => {
      await trial.start({}, onHosts("n1"));
      await trial.ledBy(["n1"]);
      await trial.apply(trial.advertisement(onHosts("n3")));
      await trial.ledBy(["n3"]);
    },

    "two advertisements for one node each, and policy Local: the one with the endpoint leads": async (trial) => {
      await trial.apply(trial.advertisement(onHosts("n2"), "-b"));
      await trial.start({ policy: "Local", selector: { on: "n2" } }, onHosts("n1"));
      await trial.ledBy(["n2"]);
    },

    "a node label that is added later enables the advertisement": async (trial) => {
      await trial.start({}, { nodeSelectors: [trial.nodesWith("yes")] });
      await trial.staysSilent(2_000);
      await trial.label({ n2: "yes" });
      await trial.ledBy(["n2"]);
    },

    "pool and Service must both be selected": async (trial) => {
      await trial.apply(trial.pool(), trial.advertisement({ ipAddressPools: ["no-such-pool"], ...WEB }));
      await trial.apply(trial.service({ labels: { tier: "web" } }), trial.service({ suffix: "-b" }));
      await Promise.all([trial.assign("", [trial.ipv4]), trial.assign("-b", [trial.ipv6])]);
      await trial.staysSilent(2_000);
      await trial.apply(trial.advertisement(WEB));
      await trial.until("the selected Service alone is announced", 20_000, async () => {
        const [selected, other] = await Promise.all(trial.addresses.map((address) => scene().answering(address)));
        return selected?.length === 1 && other?.length === 0;
      });
      expect(await trial.l2Statuses("-b")).to.deep.equal([]);
    },

    "a Service label starts the announcement when it comes, and ends it when it goes": async (trial) => {
      await trial.start({}, WEB);
      await trial.staysSilent(2_000);
      await trial.apply(trial.service({ labels: { tier: "web" } }));
      await trial.ledBy(scene().nodes);
      await trial.apply(trial.service({ labels: { tier: "other" } }));
      await trial.ledByNobody();
      await trial.until("its status is gone", 20_000, async () => (await trial.l2Statuses()).length === 0);
    },

    "of two advertisements for one node each, exactly one node leads": async (trial) => {
      await trial.apply(trial.advertisement({ ...WEB, ...onHosts("n2") }, "-b"));
      await trial.start({ labels: { tier: "web" } }, { ...WEB, ...onHosts("n1") });
      await trial.ledBy(trial.hashOrder(["n1", "n2"]).slice(0, 1));
    },

    "nobody leads when the only advertisement that matches is for a node that is not there": async (trial) => {
      const others = { serviceSelectors: [{ matchLabels: { tier: "other" } }] };
      await trial.apply(trial.advertisement(others, "-b"));
      await trial.start({ labels: { tier: "web" } }, { ...WEB, ...onHosts("n9") });
      await staysWithoutLeader(trial);
    },

    "one of several selectors is enough": async (trial) => {
      const serviceSelectors = [
        { matchLabels: { tier: "other" } },
        { matchExpressions: [{ key: "shop", operator: "Exists" }] },
      ];
      await trial.start({ labels: { tier: "web", shop: "cart" } }, { serviceSelectors });
      await trial.ledBy(scene().nodes);
    },
  });
});

/** nodeSelectors for nodes by name. */
function onHosts(...names: readonly string[]) {
  return { nodeSelectors: names.map((name) => ({ matchLabels: { "kubernetes.io/hostname": name } })) };
}

async function staysWithoutLeader(trial: Trial): Promise<void> {
  await trial.staysSilent(3_000);
  expect(await trial.l2Statuses()).to.deep.equal([]);
}
