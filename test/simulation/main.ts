/** `hack/simulate`: runs seeds of a scenario and prints what broke, with the command that replays it; or long runs (`--hours`). */
import { parseArgs } from "node:util";
import { type Outcome, runBatch, runJob } from "./batch.ts";
import { simulateHours, simulatePrices } from "./hours-command.ts";
import { SPEAKER_TIMING } from "./other-timing.ts";
import { SCENARIOS, scenarioOf } from "./scenario.ts";

const USAGE = `usage: hack/simulate [--scenario NAME] [--seeds N] [--seed S] [--trace]
       hack/simulate --hours H [--loss P] [--stall-ms M,…] [--nodes N,…] [--strikes N] [--set NAME=VALUE …] [--seed S]
       hack/simulate --prices [--hours H] [--loss P] [--stall-ms M,…] [--strikes N] [--seed S]
       hack/simulate --prices --troubles N [--seed S]

  --scenario  ${SCENARIOS.map(({ name }) => name).join(", ")}; without it: all but large
  --seeds     how many seeds, from --seed on (default 20)
  --seed      the first seed; alone, without --seeds: that one only (default 1)
  --trace     prints every line of what happens (one seed)

  --hours     clusters for so many simulated hours with nothing but loss and stalls: whom they declare dead who lives, and (--strikes) how
              soon they notice a leader that is killed, loses its host or is frozen, and another takes its addresses
  --loss      % of datagrams lost, and of frames at each port (default 10)
  --stall-ms  every node stands still for so long once a minute (default 300)
  --nodes     sizes of the clusters (default 3,5)
  --strikes   leaders struck down in each (default 300)
  --set       another value for a number of fast detection, or for one by which who was in trouble stays behind: ${Object.keys(SPEAKER_TIMING).join(", ")}

  --prices    the same for a lower and a higher value of each of these numbers, as a table: so many hours (default 1) with each length of
              stalls (default 300,800), and so many leaders struck down (default 60) with the first of them
  --troubles  in place of that: for the numbers by which who was in trouble stays behind, and the brake: N runs of nodes that crash again and
              again and links that flap, ten times as many of what happens once, and what becomes of the addresses
`;
const TAIL_LINES = 60;

const { values } = parseArgs({
  options: {
    scenario: { type: "string" },
    seeds: { type: "string" },
    seed: { type: "string" },
    trace: { type: "boolean", default: false },
    hours: { type: "string" },
    loss: { type: "string", default: "10" },
    "stall-ms": { type: "string" },
    nodes: { type: "string", default: "3,5" },
    strikes: { type: "string" },
    prices: { type: "boolean", default: false },
    troubles: { type: "string" },
    set: { type: "string", multiple: true, default: [] },
    help: { type: "boolean", default: false },
  },
});

const scenarios =
  values.scenario === undefined ? SCENARIOS.filter(({ name }) => name !== "large") : [scenarioOf(values.scenario)];
const first = Number(values.seed ?? 1);
const seeds = Number(values.seeds ?? (values.seed === undefined && !values.trace ? 20 : 1));

if (values.help || scenarios.includes(undefined) || !Number.isInteger(first) || !Number.isInteger(seeds)) {
  process.stdout.write(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else if (values.prices) {
  const { hours = "1", strikes = "60", "stall-ms": stalls = "300,800" } = values;
  process.exitCode = await simulatePrices({ ...values, hours, strikes, "stall-ms": stalls });
} else if (values.hours !== undefined) {
  const { hours, strikes = "300", "stall-ms": stalls = "300" } = values;
  process.exitCode = await simulateHours({ ...values, hours, strikes, "stall-ms": stalls });
} else {
  const names = scenarios.flatMap((scenario) => scenario?.name ?? []);
  const jobs = names.flatMap((scenario) =>
    Array.from({ length: seeds }, (_, index) => ({ scenario, seed: first + index })),
  );
  const counts = new Map<string, number>();
  let failures = 0;
  const take = (outcome: Outcome): void => {
    for (const [rule, count] of outcome.counts) counts.set(rule, (counts.get(rule) ?? 0) + count);
    if (outcome.violation === undefined) return;
    failures++;
    process.stdout.write(
      `${outcome.scenario} seed ${outcome.seed}: ${outcome.violation}\n  hack/simulate --scenario ${outcome.scenario} --seed ${outcome.seed} --trace\n`,
    );
    if (jobs.length === 1 && !values.trace) process.stdout.write(`${outcome.tail.slice(-TAIL_LINES).join("\n")}\n`);
  };
  const beganMs = performance.now();
  const [only] = jobs;
  if (jobs.length === 1 && only !== undefined) {
    const outcome = runJob(only, values.trace ? (line) => process.stdout.write(`${line}\n`) : undefined);
    take(outcome);
    process.stdout.write(`trace ${outcome.hash}, ${(outcome.virtualMs / 1_000).toFixed(1)} virtual seconds\n`);
  } else await runBatch(jobs, take);
  for (const [rule, count] of [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    process.stdout.write(`${String(count).padStart(9)}  ${rule}\n`);
  }
  const seconds = ((performance.now() - beganMs) / 1_000).toFixed(1);
  process.stdout.write(`${jobs.length} runs, ${failures} failed, ${seconds} s\n`);
  process.exitCode = failures === 0 ? 0 : 1;
}
