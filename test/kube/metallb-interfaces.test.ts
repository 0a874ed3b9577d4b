/** `interfaces` of an advertisement, on nodes with two links. The client is on both segments. */
import { expect } from "chai";
import type { Ip } from "../../src/net/ip.ts";
import { useScene } from "../support/kube-scene.ts";
import type { Trial } from "../support/kube-trial.ts";
import { together } from "../support/together.ts";

/** MetalLB's own tests give a change that long. */
const CHANGE_LIMIT_MS = 10_000;

describe("MetalLB's behaviours: interfaces", () => {
  const scene = useScene();

  together(scene, {
    "the status lists exactly the interface of the advertisement, and the answer carries its MAC": async (trial) => {
      await trial.start({}, { interfaces: ["eth1"] });
      const [leader = ""] = trial.hashOrder();
      await answersOnlyOn(trial, leader, "eth1");
      await trial.until("the status lists eth1", 20_000, () => hasInterfaces(trial, leader, ["eth1"]));
    },

    "a changed interface counts within 10 s, and the other is silent": async (trial) => {
      await trial.start({}, { interfaces: ["eth0"] });
      const [leader = ""] = trial.hashOrder();
      await answersOnlyOn(trial, leader, "eth0");
      await trial.apply(trial.advertisement({ interfaces: ["eth1"] }));
      await answersOnlyOn(trial, leader, "eth1", CHANGE_LIMIT_MS);
      await trial.until("the status lists eth1", 20_000, () => hasInterfaces(trial, leader, ["eth1"]));
    },

    "an interface that no node has: nobody answers, and an announceFailed event says it": async (trial) => {
      await trial.start({}, { interfaces: ["eth9"] });
      const [failed] = await trial.until("an event", 20_000, async () => {
        const events = await trial.events("announceFailed");
        return events.length > 0 && events;
      });
      expect(failed?.type).to.equal("Warning");
      expect(failed?.message).to.match(
        /^the interfaces specified by LB IP ".*" doesn't exist in assigned node "n\d" with protocol "layer2"$/,
      );
      await Promise.all([trial.staysSilent(3_000), trial.staysSilent(3_000, "eth1")]);
      expect(await trial.l2Statuses()).to.deep.equal([]);
    },

    "two advertisements add their interfaces": async (trial) => {
      // An address that lies on the segment of one of its links is answered for on that one alone.
      const elsewhere = ["198.51.100.200", "2001:db8:1::200"] as Ip[];
      const pool = { ...trial.pool(), spec: { addresses: ["198.51.100.200/32", "2001:db8:1::200/128"] } };
      await trial.apply(pool, trial.advertisement({ interfaces: ["eth0"] }));
      await trial.apply(trial.advertisement({ interfaces: ["eth1"] }, "-b"), trial.service());
      await trial.assign("", elsewhere);
      await trial.until("one node answers on both links, and its status lists both", 20_000, async () => {
        const asked = elsewhere.flatMap((address) => ["eth0", "eth1"].map((link) => scene().answering(address, link)));
        const answers = await Promise.all(asked);
        const nodes = new Set(answers.flat());
        const [leader = ""] = nodes;
        const isOne = nodes.size === 1 && answers.every(({ length }) => length === 1);
        return isOne && hasInterfaces(trial, leader, ["eth0", "eth1"]);
      });
    },

    "interfaces and nodeSelectors count together": async (trial) => {
      await trial.label({ n3: "yes" });
      await trial.start({}, { interfaces: ["eth1"], nodeSelectors: [trial.nodesWith("yes")] });
      await answersOnlyOn(trial, "n3", "eth1");
      await trial.until("the status names n3 and eth1", 20_000, () => hasInterfaces(trial, "n3", ["eth1"]));
    },
  });

  /** Until the node alone answers for both addresses on the link, and none on the other link. */
  async function answersOnlyOn(trial: Trial, node: string, link: "eth0" | "eth1", timeoutMs = 20_000): Promise<void> {
    const other = link === "eth0" ? "eth1" : "eth0";
    await trial.until(`${node} alone answers, on ${link} alone`, timeoutMs, async () => {
      const [answers, others] = await Promise.all([answering(trial, link), answering(trial, other)]);
      return answers.length === 1 && answers[0] === node && others.length === 0;
    });
  }

  /** Nodes that answer for either address of the test. */
  async function answering(trial: Trial, link: string): Promise<readonly string[]> {
    const answers = await Promise.all(trial.addresses.map((address) => scene().answering(address, link)));
    return [...new Set(answers.flat())];
  }
});

async function hasInterfaces(trial: Trial, node: string, interfaces: readonly string[]): Promise<boolean> {
  const [only, ...others] = await trial.l2Statuses();
  const listed = only?.status?.interfaces?.map(({ name }) => name) ?? [];
  return others.length === 0 && only?.status?.node === node && listed.join(" ") === interfaces.join(" ");
}
