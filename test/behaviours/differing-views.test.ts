/**
 * What a user is promised when speakers see different things, or stand still for a moment: real drills, in two labs of three nodes at the
 * same time, because most of a drill is waiting.
 */
import { expect } from "chai";
import type { DrillName } from "../../hack/netlab/drills.ts";
import type { Lab } from "../../hack/netlab/lab.ts";
import { type DrillResult, judge } from "../../hack/netlab/promises.ts";
import { runDrill } from "../../hack/netlab/run-drill.ts";
import { DRILL_ADDRESS } from "../../hack/netlab/topology.ts";
import { useLab } from "../support/lab.ts";

const RUNS = 3;
/** All drills of a lab take two and a half minutes; on a busy machine twice that. */
const LAB_TIMEOUT_MS = 360_000;
/** Of a drill that lasts for as long as one wants: every speaker stands still once. */
const SHORT_MINUTES = 1;

type Story = (lab: Lab) => Promise<void>;

/** An `it` for each. All begin when the `describe` does, one after the other in a lab of their own; each `it` waits for its own. */
function inOneLab(stories: Readonly<Record<string, Story>>): void {
  const testLab = useLab(3, "bare");
  const running = new Map<string, Promise<void>>();
  before(() => {
    let previous: Promise<void> = Promise.resolve();
    for (const [name, story] of Object.entries(stories)) {
      const told = previous.then(() => story(testLab().lab));
      running.set(name, told);
      // Its own `it` tells what went wrong.
      previous = told.catch(() => undefined);
    }
  });
  for (const name of Object.keys(stories)) it(name, () => running.get(name));
}

/** What its runs did not keep of the drill's promises, as the lab's command prints it, is nothing. */
function keeps(name: DrillName, runs: number, minutes?: number): Story {
  return async (lab) => {
    const results: DrillResult[] = [];
    for (let run = 0; run < runs; run++) results.push(await runDrill(lab, name, DRILL_ADDRESS, minutes));
    const verdicts = judge(name, results);
    expect(verdicts, "promises").not.to.deep.equal([]);
    const broken = verdicts.filter(({ isKept }) => !isKept).map(({ what, found }) => `${what}: ${found}`);
    expect(broken).to.deep.equal([]);
  };
}

describe("when speakers see different things", function () {
  this.timeout(LAB_TIMEOUT_MS);

  inOneLab({
    "two file versions on two hosts: after 5 s one node answers, and somebody says which view differs": keeps(
      "views-differ",
      RUNS,
    ),
    "a cluster that was cut in two is one again within 12 s, its source away, and two answer together for less than 500 ms":
      keeps("heal", RUNS),
    "nodes that watch the leader and lose their uplink for 1 s move nothing": keeps("uplink-blip", RUNS),
    "a leader that was frozen for 2 s answers none of what it had queued": async (lab) => {
      const queued: (number | undefined)[] = [];
      for (let run = 0; run < RUNS; run++) {
        const { figures } = await runDrill(lab, "freeze-2s", DRILL_ADDRESS);
        queued.push(figures.answersAfterThaw);
      }
      expect(queued).to.deep.equal(Array.from({ length: RUNS }, () => 0));
    },
  });

  inOneLab({
    "a leader that the second cannot hear moves its address three times in a minute at most": keeps(
      "asymmetric-cut",
      1,
      SHORT_MINUTES,
    ),
    "speakers that stand still for 300 ms while 10 % of all frames are lost move nothing": keeps(
      "stall-300",
      1,
      SHORT_MINUTES,
    ),
  });
});
