/**
 * Whole speakers and members of the Go library in one cluster, each with MetalLB's election: whatever happens to members of either kind,
 * all that are left know the same and elect the same.
 */
import { expect } from "chai";
import type { Lab } from "../../hack/netlab/lab.ts";
import { signalSpeaker, stopSpeaker } from "../../hack/netlab/lab.ts";
import { useLab } from "../support/lab.ts";
import { isBuilt, LIBRARIES, type PeerEvent } from "./go-peer.ts";
import { MixedLab } from "./mixed-lab.ts";
import { ruleInForceStory } from "./rule-in-force-story.ts";
import { story, tellTogether } from "./stories.ts";

/** The first of them suspects a member that cannot be reached otherwise, and 5 s later it would be dead. */
const FAILED_PINGS = 4;
const LIMIT_MS = 180_000;

const [{ name: library, program }] = LIBRARIES;

const failsToPing = ({ event, text = "" }: PeerEvent): boolean =>
  event === "log" && text.includes("Failed UDP ping: n1");

/** Until n3 said so often that its pings of n1 are not answered. */
async function failedPings(mixed: MixedLab): Promise<void> {
  const { events } = mixed.go("n3");
  const count = (): number => events.all.filter(failsToPing).length;
  const before = count();
  await events.until("failed pings of n1", () => count() >= before + FAILED_PINGS);
}

describe(`beside ${library}`, function () {
  this.timeout(LIMIT_MS);
  before(function () {
    if (isBuilt(program)) return;
    process.stdout.write(`    skipped: ${program} is missing; hack/test builds it where Go is installed\n`);
    this.skip();
  });
  const five = useLab(5, "bare");
  const three = useLab(3, "bare");
  const another = useLab(5, "bare");
  const mixedLabs: MixedLab[] = [];
  after(async () => {
    await Promise.all(mixedLabs.map((mixed) => mixed.close()));
  });

  function mixedLab(lab: Lab): MixedLab {
    const mixed = new MixedLab(lab, program);
    mixedLabs.push(mixed);
    return mixed;
  }

  async function agreeing(lab: Lab, ours: readonly string[], theirs: readonly string[]): Promise<MixedLab> {
    const mixed = mixedLab(lab);
    for (const name of ours) mixed.startOurs(name);
    await Promise.all(theirs.map((name) => mixed.startGo(name)));
    for (const name of theirs) await mixed.joinGo(name);
    await mixed.agree();
    return mixed;
  }

  tellTogether(LIMIT_MS, [
    ruleInForceStory(() => mixedLab(another().lab)),

    story("three speakers and two Go members", () => agreeing(five().lab, ["n1", "n2", "n3"], ["n4", "n5"]), {
      "who is killed is gone for all": async (mixed) => {
        expect(mixed.verdicts()).to.deep.equal([]);
        await Promise.all([mixed.kill("n1"), mixed.kill("n5")]);
        await mixed.agree();
      },
      "who starts again is back for all": async (mixed) => {
        mixed.startOurs("n1");
        await mixed.startGoAndJoin("n5");
        await mixed.agree();
      },
      "who stands still is gone for all": async (mixed) => {
        mixed.go("n4").freeze();
        signalSpeaker(mixed.lab, mixed.node("n2"), "SIGSTOP");
        for (const name of ["n2", "n4"]) mixed.lose(name);
        await mixed.agree();
      },
      "who goes on is back for all": async (mixed) => {
        mixed.go("n4").thaw();
        signalSpeaker(mixed.lab, mixed.node("n2"), "SIGCONT");
        for (const name of ["n2", "n4"]) mixed.find(name);
        await mixed.agree();
      },
      "each side of a split has leaders of its own, and after it all are one again": async (mixed) => {
        const sides = [
          ["n1", "n4"],
          ["n2", "n3", "n5"],
        ] as const;
        await mixed.faults.separate(sides[0].map((name) => mixed.node(name)));
        for (const lost of sides) {
          for (const name of lost) mixed.lose(name);
          await mixed.agree();
          for (const name of lost) mixed.find(name);
        }
        await mixed.faults.passAll();
        await mixed.agree();
      },
      "a speaker that ends and a Go member that leaves are gone for all at once, and nobody calls it a death": async (
        mixed,
      ) => {
        const before = new Set(mixed.verdicts());
        for (const name of ["n3", "n5"]) mixed.lose(name);
        await Promise.all([stopSpeaker(mixed.lab, mixed.node("n3")), mixed.go("n5").command("leave")]);
        await mixed.agree();
        const later = mixed.verdicts().filter((verdict) => !before.has(verdict));
        expect(later.filter((verdict) => /^n[123]:/.test(verdict))).to.deep.equal([]);
      },
      "all killed at once and started again find each other": async (mixed) => {
        const names = ["n1", "n2", "n3", "n4", "n5"];
        await Promise.all(names.map((name) => mixed.kill(name)));
        for (const name of names) mixed.find(name);
        for (const name of ["n1", "n2", "n3"]) mixed.startOurs(name);
        // MetalLB's speakers dial once a minute: here ours alone do, who know every address.
        for (const name of ["n4", "n5"]) await mixed.startGo(name);
        await mixed.agree();
      },
    }),

    story("two speakers and a Go member", () => agreeing(three().lab, ["n1", "n2"], ["n3"]), {
      "nothing is wrong: no suspicion, no error, no worse health": async (mixed) => {
        expect(mixed.errors()).to.deep.equal([]);
        expect(mixed.suspicions()).to.equal(0);
        expect(mixed.worstScore()).to.equal(0);
        expect(mixed.verdicts()).to.deep.equal([]);
      },
      "two that cannot send each other datagrams, but TCP, stay alive for all": async (mixed) => {
        await mixed.faults.loseDatagrams(mixed.node("n1"), mixed.node("n3"));
        await failedPings(mixed);
        expect(mixed.verdicts()).to.deep.equal([]);
        await mixed.faults.repair();
        await mixed.agree();
      },
      "one that is not heard by another stays alive for all": async (mixed) => {
        await mixed.faults.cutOneWay(mixed.node("n1"), mixed.node("n3"));
        await failedPings(mixed);
        expect(mixed.verdicts()).to.deep.equal([]);
        await mixed.faults.repair();
        await mixed.agree();
      },
      "a Go member that is cut off is gone for the others, and they for it; then all are one again": async (mixed) => {
        mixed.faults.partition(mixed.node("n3"));
        const peer = mixed.go("n3");
        mixed.lose("n3");
        await mixed.agree();
        await peer.events.until("leave of both", () => {
          const gone = peer.events.all.filter(({ event }) => event === "leave").map(({ name }) => name);
          return gone.includes("n1") && gone.includes("n2");
        });
        expect(await peer.members()).to.deep.equal(["n3"]);
        mixed.faults.healPartition(mixed.node("n3"));
        mixed.find("n3");
        await mixed.agree();
      },
    }),
  ]);
});
