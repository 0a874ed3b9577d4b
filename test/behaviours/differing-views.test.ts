/** What a user is promised when speakers see different things, or stand still for a moment: three real drills each, in labs of three nodes. */
import { expect } from "chai";
import type { DrillName } from "../../hack/netlab/drills.ts";
import { type DrillResult, judge } from "../../hack/netlab/promises.ts";
import { runDrill } from "../../hack/netlab/run-drill.ts";
import { DRILL_ADDRESS } from "../../hack/netlab/topology.ts";
import { inOwnLabs, type TestLab } from "../support/lab.ts";

const RUNS = 3;
/** A run and its settling take half a minute; on a busy machine twice that. */
const RUNS_TIMEOUT_MS = RUNS * 60_000;
/** Of a drill that lasts for as long as one wants: every speaker stands still once. */
const SHORT_MINUTES = 1;

/** Speakers, client and watcher of one take a fifth of a core together, and most of a core for the second in which they start. */
const LABS_AT_ONCE = 3;

/** The promises of the drill that its runs did not keep, as the lab's command prints them. */
async function broken({ lab }: TestLab, name: DrillName, runs: number, minutes?: number): Promise<readonly string[]> {
  const results: DrillResult[] = [];
  for (let run = 0; run < runs; run++) results.push(await runDrill(lab, name, DRILL_ADDRESS, minutes));
  const verdicts = judge(name, results);
  expect(verdicts, "promises").not.to.deep.equal([]);
  return verdicts.filter(({ isKept }) => !isKept).map(({ what, found }) => `${what}: ${found}`);
}

describe("when speakers see different things", () => {
  // The longest first.
  inOwnLabs(
    { nodes: 3, start: "bare", limitMs: RUNS_TIMEOUT_MS, atOnce: LABS_AT_ONCE },
    {
      "a leader that the second cannot hear moves its address three times in a minute at most": async (testLab) => {
        expect(await broken(testLab, "asymmetric-cut", 1, SHORT_MINUTES)).to.deep.equal([]);
      },
      "speakers that stand still for 300 ms while 10 % of all frames are lost move nothing": async (testLab) => {
        expect(await broken(testLab, "stall-300", 1, SHORT_MINUTES)).to.deep.equal([]);
      },
      "a cluster that was cut in two is one again within 12 s, its source away, and two answer together for less than 500 ms":
        async (testLab) => {
          expect(await broken(testLab, "heal", RUNS)).to.deep.equal([]);
        },
      "nodes that watch the leader and lose their uplink for 1 s move nothing": async (testLab) => {
        expect(await broken(testLab, "uplink-blip", RUNS)).to.deep.equal([]);
      },
      "two file versions on two hosts: after 5 s one node answers, and somebody says which view differs": async (
        testLab,
      ) => {
        expect(await broken(testLab, "views-differ", RUNS)).to.deep.equal([]);
      },
      "a leader that was frozen for 2 s answers none of what it had queued": async ({ lab }) => {
        const queued: (number | undefined)[] = [];
        for (let run = 0; run < RUNS; run++) {
          const { figures } = await runDrill(lab, "freeze-2s", DRILL_ADDRESS);
          queued.push(figures.answersAfterThaw);
        }
        expect(queued).to.deep.equal(Array.from({ length: RUNS }, () => 0));
      },
    },
  );
});
