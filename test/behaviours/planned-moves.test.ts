/** What a user is promised when an address moves on purpose: no request that begins after the move goes unanswered. */
import { expect } from "chai";
import { runDrill } from "../../hack/netlab/run-drill.ts";
import { DRILL_ADDRESS } from "../../hack/netlab/topology.ts";
import { useLab } from "../support/lab.ts";

const DRILL_TIMEOUT_MS = 180_000;

describe("when an address moves on purpose", function () {
  this.timeout(DRILL_TIMEOUT_MS);
  const testLab = useLab(3, "bare");

  it("a step-down and its end lose 0 of 500 requests a second", async () => {
    const { figures } = await runDrill(testLab().lab, "step-down", DRILL_ADDRESS);
    expect(figures.firstReplyMs, "first reply of another node").to.be.a("number");
    expect(figures.lost).to.equal(0);
  });

  it("a rolling restart of every speaker loses 0 of 500 requests a second", async () => {
    const { figures } = await runDrill(testLab().lab, "restart", DRILL_ADDRESS);
    expect(figures.firstReplyMs, "first reply of another node").to.be.a("number");
    expect(figures.lost).to.equal(0);
  });
});
