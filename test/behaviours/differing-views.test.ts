/** What a user is promised when speakers see different things, or stand still for a moment: three real drills each, in a lab of three nodes. */
import { expect } from "chai";
import type { DrillName } from "../../hack/netlab/drills.ts";
import { type DrillResult, judge } from "../../hack/netlab/promises.ts";
import { runDrill } from "../../hack/netlab/run-drill.ts";
import { DRILL_ADDRESS } from "../../hack/netlab/topology.ts";
import { useLab } from "../support/lab.ts";

const RUNS = 3;
/** A run and its settling take half a minute; on a busy machine twice that. */
const RUNS_TIMEOUT_MS = RUNS * 60_000;
/** Of a drill that lasts for as long as one wants: every speaker stands still once. */
const SHORT_MINUTES = 1;

describe("when speakers see different things", function () {
  this.timeout(RUNS_TIMEOUT_MS);
  const testLab = useLab(3, "bare");

  /** The promises of the drill that its runs did not keep, as the lab's command prints them. */
  async function broken(name: DrillName, runs: number, minutes?: number): Promise<readonly string[]> {
    const results: DrillResult[] = [];
    for (let run = 0; run < runs; run++) results.push(await runDrill(testLab().lab, name, DRILL_ADDRESS, minutes));
    const verdicts = judge(name, results);
    expect(verdicts, "promises").not.to.deep.equal([]);
    return verdicts.filter(({ isKept }) => !isKept).map(({ what, found }) => `${what}: ${found}`);
  }

  it("two file versions on two hosts: after 5 s one node answers, and somebody says which view differs", async () => {
    expect(await broken("views-differ", RUNS)).to.deep.equal([]);
  });

  it("a cluster that was cut in two is one again within 12 s, its source away, and two answer together for less than 500 ms", async () => {
    expect(await broken("heal", RUNS)).to.deep.equal([]);
  });

  it("nodes that watch the leader and lose their uplink for 1 s move nothing", async () => {
    expect(await broken("uplink-blip", RUNS)).to.deep.equal([]);
  });

  it("a leader that the second cannot hear moves its address three times in a minute at most", async () => {
    expect(await broken("asymmetric-cut", 1, SHORT_MINUTES)).to.deep.equal([]);
  });

  it("speakers that stand still for 300 ms while 10 % of all frames are lost move nothing", async () => {
    expect(await broken("stall-300", 1, SHORT_MINUTES)).to.deep.equal([]);
  });

  it("a leader that was frozen for 2 s answers none of what it had queued", async () => {
    const queued: (number | undefined)[] = [];
    for (let run = 0; run < RUNS; run++) {
      const { figures } = await runDrill(testLab().lab, "freeze-2s", DRILL_ADDRESS);
      queued.push(figures.answersAfterThaw);
    }
    expect(queued).to.deep.equal(Array.from({ length: RUNS }, () => 0));
  });
});
