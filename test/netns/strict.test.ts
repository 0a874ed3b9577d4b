/** Strict addresses on real links: whoever may not be alone is silent, and nobody ever answers beside another. */
import { expect } from "chai";
import { Instruments } from "../../hack/netlab/instruments.ts";
import { signalSpeaker, writeManifest } from "../../hack/netlab/lab.ts";
import { STRICT_ADVERTISEMENT } from "../../hack/netlab/manifests.ts";
import { bothAnswerMs } from "../../hack/netlab/measure.ts";
import { monotonicMs } from "../../hack/netlab/monotonic-ms.ts";
import type { FrameRecord } from "../../hack/netlab/observations.ts";
import { restartFresh } from "../../hack/netlab/run-drill.ts";
import { commonLeader, fetchStatuses, waitUntilSettled } from "../../hack/netlab/status.ts";
import { ADDRESSES, DRILL_ADDRESS, type Host } from "../../hack/netlab/topology.ts";
import { useLab } from "../support/lab.ts";

/** What the smaller side of a split may still say (a lease of a second, asked for anew every 300 ms). */
const SILENT_WITHIN_MS = 1_500;
/** Accused after a second at the latest, then a lease of which the last second has to pass. */
const TAKE_OVER_MS = 4_000;
const AGREE_MS = 40_000;

describe("a strict address", function () {
  this.timeout(120_000);
  const testLab = useLab(3, "bare");
  let leader: Host;
  let instruments: Instruments;

  beforeEach(async () => {
    const { lab, faults, node } = testLab();
    for (const each of lab.topology.nodes) writeManifest(lab, each, "advertisement.yaml", STRICT_ADVERTISEMENT);
    await restartFresh(lab, faults);
    const documents = await fetchStatuses(lab);
    leader = node(commonLeader(documents, DRILL_ADDRESS) ?? "no leader");
    instruments = new Instruments(lab.topology);
    await instruments.begin(DRILL_ADDRESS, 80, leader.mac, leader.name);
  });

  afterEach(() => instruments.close());

  /** The first answer to a probe by another node. */
  async function takeOver(): Promise<number> {
    const answer = await instruments.waitForProbeAnswer(({ mac }) => mac !== leader.mac, TAKE_OVER_MS);
    return answer?.atMs ?? expect.fail("nobody has taken it over");
  }

  it("is held by most of the three, and its leader says so", async () => {
    const [held] = (await fetchStatuses(testLab().lab)).flatMap((document) =>
      (document?.addresses ?? []).flatMap(({ address, strict }) =>
        document?.node === leader.name && address === DRILL_ADDRESS ? [strict] : [],
      ),
    );
    expect(held).to.deep.include({ isInForce: true, expected: 3, needed: 2 });
    expect(held?.lease?.isHeld).to.equal(true);
  });

  it("falls silent with its leader's half of a split before the other half answers, and one answers when it has healed", async () => {
    const { lab, faults } = testLab();
    const others = lab.topology.nodes.filter((node) => node !== leader);
    const cutMs = monotonicMs();
    await faults.split([leader], others);
    const takenMs = await takeOver();
    await faults.passAll();
    await waitUntilSettled(lab, ADDRESSES, AGREE_MS);
    const { frames } = await instruments.finish();
    const lastMs = lastAnswerMs(frames, leader, takenMs);
    expect(lastMs - cutMs, "silent after").to.be.lessThan(SILENT_WITHIN_MS);
    expect(bothAnswerMs(frames), "two answer").to.equal(0);
    say(`silent after ${Math.round(lastMs - cutMs)} ms, taken over after ${Math.round(takenMs - cutMs)} ms`);
  });

  it("is taken over when its leader is killed, with nobody beside the next", async () => {
    const killMs = monotonicMs();
    signalSpeaker(testLab().lab, leader, "SIGKILL");
    const takenMs = await takeOver();
    const { frames } = await instruments.finish();
    expect(takenMs - killMs).to.be.lessThan(TAKE_OVER_MS);
    expect(bothAnswerMs(frames), "two answer").to.equal(0);
    say(`taken over after ${Math.round(takenMs - killMs)} ms`);
  });
});

function lastAnswerMs(frames: readonly FrameRecord[], { mac }: Host, untilMs: number): number {
  const answers = frames.filter((frame) => frame.probe !== undefined && frame.mac === mac && frame.atMs < untilMs);
  return answers.at(-1)?.atMs ?? expect.fail("its leader has not answered");
}

/** For whoever reads the output: how long such an address is gone. */
function say(figures: string): void {
  process.stdout.write(`    ${figures}\n`);
}
