/** The short form of bench/beside-go: frames are lost, and nobody is held dead who is not. */
import { expect } from "chai";
import { useLab } from "../support/lab.ts";
import { isBuilt, LIBRARIES } from "./go-peer.ts";
import { runLossy } from "./lossy-run.ts";

const LIMIT_MS = 180_000;
/** `bench/beside-go/run` takes 20. */
const MEMBERS = 8;
const SECONDS = 10;

const [{ name: library, program }] = LIBRARIES;

describe(`beside ${library} on a segment that loses one frame in ten`, function () {
  this.timeout(LIMIT_MS);
  before(function () {
    if (isBuilt(program)) return;
    process.stdout.write(`    skipped: ${program} is missing; hack/test builds it where Go is installed\n`);
    this.skip();
  });
  const testLab = useLab(MEMBERS, "bare");

  it("nobody is held dead who is not, Go logs no error, and one of each that is killed is gone for all", async () => {
    const run = await runLossy(testLab().lab, program, { seconds: SECONDS, percent: 10 });
    expect(run.falseVerdicts).to.deep.equal([]);
    expect(run.deniedDeaths).to.deep.equal([]);
    expect(run.errors).to.deep.equal([]);
    expect(run.falseVerdictsLater).to.deep.equal([]);
  });
});
