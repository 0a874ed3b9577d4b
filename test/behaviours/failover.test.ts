/** What a user is promised when something breaks: one real drill each, in a lab of three nodes. */
import { expect } from "chai";
import type { DrillName } from "../../hack/netlab/drills.ts";
import { type DrillRun, runDrill } from "../../hack/netlab/run-drill.ts";
import { ADDRESSES, DRILL_ADDRESS } from "../../hack/netlab/topology.ts";
import type { Ip } from "../../src/net/ip.ts";
import { inOwnLabs, neighbourOf, useLab } from "../support/lab.ts";

/** The heal of a lost member and its settling take most of it. */
const DRILL_TIMEOUT_MS = 180_000;
/** Less than memberlist's own detection takes at the least, and what a busy machine needs: an idle one takes 1.2 s at most. */
const TAKE_OVER_MS = 4_500;

describe("when the leader fails", function () {
  this.timeout(DRILL_TIMEOUT_MS);
  const testLab = useLab(3, "bare");

  function drill(name: DrillName, address: Ip = DRILL_ADDRESS, minutes?: number): Promise<DrillRun> {
    return runDrill(testLab().lab, name, address, minutes);
  }

  /** Another node has claimed the address, answers requests, and is where the client's neighbour entry points. */
  async function expectTakenOver({ leader, figures }: DrillRun, address: Ip = DRILL_ADDRESS): Promise<void> {
    expect(figures.firstFrameMs, "first frame").to.be.a("number").and.to.be.lessThan(TAKE_OVER_MS);
    expect(figures.firstReplyMs, "first reply").to.be.a("number").and.to.be.lessThan(TAKE_OVER_MS);
    const others = testLab().lab.topology.nodes.filter(({ mac }) => mac !== leader.mac);
    expect(others.map(({ mac }) => mac)).to.include(await neighbourOf(testLab().lab.topology.client, address));
  }

  it("a dead host's address is answered by another node, and by that one alone", async () => {
    const run = await drill("crash");
    await expectTakenOver(run);
    expect(run.figures).to.deep.include({ moves: 1, bothAnswerMs: 0 });
  });

  it("a dead host's IPv6 address is answered by another node", async () => {
    const address = ADDRESSES.find((one) => one.includes(":")) ?? DRILL_ADDRESS;
    const run = await drill("crash", address);
    await expectTakenOver(run, address);
    expect(run.figures).to.deep.include({ moves: 1, bothAnswerMs: 0 });
  });

  it("a killed speaker's address moves, and its clients lose no request", async () => {
    const run = await drill("kill");
    await expectTakenOver(run);
    expect(run.figures).to.deep.include({ moves: 1, bothAnswerMs: 0, lost: 0 });
  });

  it("a frozen speaker's address moves, and when it thaws it answers none of the requests that it queued", async () => {
    const run = await drill("freeze");
    await expectTakenOver(run);
    expect(run.figures).to.deep.include({ moves: 1, bothAnswerMs: 0, answersAfterThaw: 0 });
  });

  it("a leader whose cable goes in and out every 3 s loses its address once, and does not take it back each time", async () => {
    const { figures } = await drill("flapping-link", DRILL_ADDRESS, 0.4);
    expect(figures.moves).to.equal(1);
  });
});

/** What takes long because links and members settle. */
describe("when the leader fails and comes back", () => {
  inOwnLabs(
    { nodes: 3, start: "bare", limitMs: DRILL_TIMEOUT_MS, atOnce: 2 },
    {
      "a leader that lost its link is followed by another node, and both answer for less than 1 s after it is back":
        async ({ lab }) => {
          const { figures } = await runDrill(lab, "link-down", DRILL_ADDRESS);
          expect(figures.firstReplyMs, "first reply").to.be.a("number").and.to.be.lessThan(TAKE_OVER_MS);
          expect(figures.bothAnswerMs).to.be.lessThan(1_000);
        },
      "a leader that is cut off is followed by another node, and both answer for less than 1 s after the heal": async ({
        lab,
      }) => {
        const { figures } = await runDrill(lab, "partition", DRILL_ADDRESS);
        expect(figures.firstReplyMs, "first reply").to.be.a("number").and.to.be.lessThan(TAKE_OVER_MS);
        expect(figures.bothAnswerMs).to.be.lessThan(1_000);
      },
    },
  );
});
