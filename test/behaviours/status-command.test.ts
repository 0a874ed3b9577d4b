/** What a user is told by `arpeggio`, on real speakers: who leads, why, and what is wrong. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect } from "chai";
import { doorSocket, killSpeaker } from "../../hack/netlab/lab.ts";
import { commonLeader, fetchStatuses } from "../../hack/netlab/status.ts";
import { DRILL_ADDRESS } from "../../hack/netlab/topology.ts";
import { useLab } from "../support/lab.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/kubectl-arpeggio");

describe("arpeggio, on three speakers", function () {
  this.timeout(60_000);
  const testLab = useLab(3);

  /** As kubectl starts its plugin. */
  function arpeggio(...words: readonly string[]): Promise<{ readonly code: number; readonly out: string }> {
    const { lab } = testLab();
    const urls = lab.topology.nodes.map((node) => `unix:${doorSocket(lab, node)}`).join(",");
    return new Promise((resolve) => {
      execFile(process.execPath, [PROGRAM, ...words, `--urls=${urls}`], (error, out) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, out }),
      );
    });
  }

  it("status names the leader of every address, and that all agree", async () => {
    const { code, out } = await arpeggio("status");
    const leader = commonLeader(await fetchStatuses(testLab().lab), DRILL_ADDRESS) ?? "no leader";
    expect(out.split("\n").find((line) => line.startsWith(`${DRILL_ADDRESS} `))).to.match(
      new RegExp(`^${DRILL_ADDRESS} +${leader} +lowest-hash `),
    );
    expect(out).to.match(/\nall 3 speakers answer and agree\n$/);
    expect(code).to.equal(0);
  });

  it("why lists all three as candidates, the leader first", async () => {
    const { code, out } = await arpeggio("why", DRILL_ADDRESS, "-o", "json");
    const { decision } = JSON.parse(out) as {
      decision: { leader: string; candidates: readonly { rank: number; node: string }[] };
    };
    expect(decision.candidates.map(({ rank }) => rank)).to.deep.equal([1, 2, 3]);
    expect(decision.candidates[0]?.node).to.equal(decision.leader);
    expect(code).to.equal(0);
  });

  it("a speaker that is gone is named, and the exit code says it", async () => {
    const { lab, node } = testLab();
    await killSpeaker(lab, node("n2"));
    const { code, out } = await arpeggio("status");
    expect(out).to.match(new RegExp(`^! unix:${doorSocket(lab, node("n2"))} gives no answer: `, "m"));
    expect(code).to.equal(1);
  });
});
