/**
 * Every scenario over a fixed list of seeds and some new ones; `hack/simulate --seeds 300` runs more.
 */
import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { type Outcome, runBatch } from "./batch.ts";
import { isWhole, SCENARIOS } from "./scenario.ts";

const FIXED_SEEDS = 290;
const NEW_SEEDS = 10;

/** Never a fixed one; other ones with every commit, so that what fails for one commit fails again. */
const firstNew = 1_000 + seedOfCommit();

/** What must have happened in some seed, or the run proves nothing. */
const COVERED = [
  "1 equal inputs",
  "2 settled",
  "3 nobody",
  "4 taken over after a freeze",
  "4 taken over after a host kill",
  "4 taken over after a process kill",
  "5 both answer",
  "5 stopped at once",
  "6 looked, and nothing moves",
  "7 frame after a gap",
  "8 both answer, and nothing disturbs",
  "8 burst",
  "8 contest lost",
  "9 orphan taken",
  "10 moved",
  "11 claim sent",
  "11 not ready",
  "12 accusation",
  "12 fast verdict",
  "12 looked at others' views",
  "13 held behind, as it says",
  "13 held for what it says",
  "14 compound",
  "14 versions in a datagram",
  "14 versions in a stream",
  "15 came back",
  "15 held dead",
  "15 incarnation rose",
  "15 reunited",
  "16 kept though another would come first",
  "16 moved",
  "16 settled",
  "16 term rose",
  "17 another answers",
  "17 cut off for long",
  "19 announcement",
  "19 group left after a second",
  "19 taken from one that answers",
  "20 looked at silence",
  "21 unsolicited frame",
  "21 watched leader",
  "22 reply",
  "24 answers, and says handing-over",
  "24 answers, and says leading",
  "27 both families",
  "fault API lag, a Service comes",
  "fault API lag, endpoints move",
  "fault SIGKILL after grace",
  "fault SIGTERM grace 0 s",
  "fault SIGTERM grace 10 s",
  "fault burst loss",
  "fault cordon",
  "fault flood",
  "fault file names one node",
  "fault file of a Service missing",
  "fault freeze",
  "fault gap",
  "fault host kill",
  "fault link carrier",
  "fault isolated watcher",
  "fault leader cut off",
  "fault leader does not hear",
  "fault leader is not heard",
  "fault loss",
  "fault process kill",
  "fault random bytes",
  "fault reordering",
  "fault stall",
  "fault wall step",
  "fault wave over all nodes",
  "14 Go member",
  "14 answered as MetalLB would lead",
  "14 as MetalLB would lead",
  "14 as the model leads",
  "14 no Go member, arpeggio-1",
  "18 refused datagram (EAGAIN)",
  "18 refused datagram (ENETDOWN)",
  "18 refused datagram (ENOBUFS)",
  "18 refused frame (ENETDOWN)",
  "18 refused frame (ENOBUFS)",
  "fault 40 links",
  "fault Go member joins",
  "fault Go member killed",
  "fault Go member leaves",
  "fault NetworkUnavailable everywhere",
  "fault NotReady wave",
  "fault Service deleted",
  "fault Service with another's address",
  "fault Service with one more address",
  "fault Service without addresses",
  "fault cordon everywhere",
  "fault deleted",
  "fault exclude",
  "fault flood of 50,000 frames a second",
  "fault kernel answers",
  "fault key exchanged",
  "fault key exchanged, with the one before",
  "fault link MAC",
  "fault link flaps",
  "fault link prefix",
  "fault link re-created",
  "fault policy switch",
  "fault proxy ARP",
  "fault stranger claims",
  "fault taint",
];

/** Of a tree that is no clone: other ones every second. */
function seedOfCommit(): number {
  try {
    return Number.parseInt(execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" }).slice(0, 7), 16);
  } catch {
    return Math.floor(Date.now() / 1_000) % 1_000_000_000;
  }
}

/** Of every scenario the same. */
const SEEDS: readonly number[] = [
  ...Array.from({ length: FIXED_SEEDS }, (_, index) => 1 + index),
  ...Array.from({ length: NEW_SEEDS }, (_, index) => firstNew + index),
];

describe("simulation: whole speakers", () => {
  const outcomes: Outcome[] = [];

  before("run all seeds", async function () {
    this.timeout(1_200_000);
    const worlds = SCENARIOS.flatMap((scenario) => SEEDS.map((seed) => ({ scenario, seed })));
    // The longest first, so that no core waits for them at the end.
    const long = worlds.filter(({ scenario, seed }) => isWhole(scenario, seed));
    const short = worlds.filter(({ scenario, seed }) => !isWhole(scenario, seed));
    const jobs = [...long.toReversed(), ...short].map(({ scenario, seed }) => ({ scenario: scenario.name, seed }));
    await runBatch(jobs, (outcome) => outcomes.push(outcome));
  });

  for (const { name } of SCENARIOS) {
    const fresh = SEEDS.slice(FIXED_SEEDS);
    const title = [`${FIXED_SEEDS} fixed seeds`, ...fresh].join(", ");
    it(`keeps its promises in scenario ${name} (${title})`, () => {
      const ran = outcomes.filter(({ scenario }) => scenario === name);
      expect(ran.length).to.equal(SEEDS.length);
      const broken = ran.flatMap(({ seed, violation }) =>
        violation === undefined ? [] : [`hack/simulate --scenario ${name} --seed ${seed}: ${violation}`],
      );
      expect(broken).to.deep.equal([]);
    });
  }

  it("comes to every state that a rule is about", () => {
    const reached = new Set(outcomes.flatMap(({ counts }) => counts.map(([rule]) => rule)));
    expect(COVERED.filter((rule) => !reached.has(rule))).to.deep.equal([]);
  });
});
