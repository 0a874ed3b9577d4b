/** One seed of one scenario, from the first start to the verdict. */
import { SeededRandom } from "../../src/base/random.ts";
import { installCheckers } from "./checkers.ts";
import type { Machine } from "./machine.ts";
import { metallbTenant } from "./metallb-tenant.ts";
import type { Mutant } from "./mutants.ts";
import { drawFaults, FAULTS_FROM_MS, inSeed, type Scenario } from "./scenario.ts";
import { speakerTenant, type Variant } from "./speaker-tenant.ts";
import type { StartTenant } from "./tenant.ts";
import { Findings, Violation } from "./witness.ts";
import { World } from "./world.ts";
import { drawPlan, type WorldPlan } from "./world-plan.ts";

/** After settling. */
const JUDGED_MS = 2_000;
/** One seed in ten is watched for longer: six seconds after everybody agrees there is silence (invariant 20). */
const SILENCE_JUDGED_MS = 9_000;
const SILENCE_JUDGED = 10;
const STARTS_WITHIN_MS = 2_000;
/** A run whose faults keep it from settling longer than this, when they are over, is a fault of the world. */
const LONGEST_MS = 360_000;

export interface SimulationOptions {
  readonly mutant?: Mutant;
  readonly print?: (line: string) => void;
}

export interface SimulationResult {
  readonly scenario: string;
  readonly seed: number;
  readonly hash: string;
  readonly findings: Findings;
  readonly virtualMs: number;
  readonly violation?: Violation;
  /** The last lines of the trace. */
  readonly tail: readonly string[];
}

export function simulate(named: Scenario, seed: number, options: SimulationOptions = {}): SimulationResult {
  const scenario = inSeed(named, seed);
  const findings = new Findings(options.mutant?.invariant);
  const draw = new SeededRandom(seed * 7_919 + 17);
  const plan = drawPlan(seed, draw, scenario.limits);
  const { keyPace } = plan;
  const speaker = speakerTenant({ ...options.mutant, ...sliceOf(seed), ...cappedIn(plan, options.mutant), keyPace });
  const start: StartTenant = (ports) => (plan.metallb.has(ports.name) ? metallbTenant(ports) : speaker(ports));
  const world = new World(plan, start, options.print);
  installCheckers(world, scenario, findings);
  let violation: Violation | undefined;
  try {
    startAll(world, draw);
    const untilMs = FAULTS_FROM_MS + scenario.activeMs;
    for (const fault of drawFaults(scenario, draw)) {
      fault.inject({ world, random: draw, fromMs: FAULTS_FROM_MS, untilMs, findings });
    }
    world.run(untilMs);
    // Of a cut that lasts nothing is judged but what moves meanwhile.
    if (scenario.judges !== 10) runUntilJudged(world, judgedMsOf(seed), untilMs + LONGEST_MS);
  } catch (error) {
    if (!(error instanceof Violation) && !findings.judges(23)) throw error;
    violation = error instanceof Violation ? error : thrown(error, world);
    world.trace.note(world.clock.nowMs(), "violation", violation.message);
  }
  return {
    scenario: scenario.name,
    seed,
    hash: world.trace.digest(),
    findings,
    virtualMs: world.clock.nowMs(),
    tail: world.trace.tail(),
    ...(violation === undefined ? {} : { violation }),
  };
}

/** F15: some speakers follow MetalLB's rule at most. */
function cappedIn({ capped }: WorldPlan, mutant: Mutant | undefined): Pick<Variant, "settings"> {
  if (capped.size === 0) return {};
  return {
    settings: (settings) => {
      const given = mutant?.settings?.(settings) ?? settings;
      return capped.has(given.nodeName) ? { ...given, electionCap: "metallb" } : given;
    },
  };
}

/** Invariant 23: whatever comes in, nothing throws. */
function thrown(error: unknown, world: World): Violation {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new Violation(23, world.clock.nowMs(), text);
}

/** In one seed of three a decision has a turn of its own, in another a few share one: as thousands of addresses are decided. */
function sliceOf(seed: number): { readonly turnBudget?: number } {
  const turnBudget = [1, 60][seed % 3];
  return turnBudget === undefined ? {} : { turnBudget };
}

/** Together, or one after the other within two seconds. */
function startAll(world: World, draw: SeededRandom): void {
  const isTogether = draw.below(2) === 0;
  for (const machine of world.machines) {
    world.at(isTogether ? 0 : draw.below(STARTS_WITHIN_MS), () => startOnce(world, machine));
  }
}

function startOnce(world: World, machine: Machine): void {
  if (!machine.isRunning) world.start(machine);
}

function judgedMsOf(seed: number): number {
  return seed % SILENCE_JUDGED === 0 ? SILENCE_JUDGED_MS : JUDGED_MS;
}

function runUntilJudged(world: World, forMs: number, latestMs: number): void {
  while (world.clock.nowMs() < latestMs) {
    // A piece at a time: everybody may agree sooner than could be said.
    const judgedMs = (world.calm.settledFromMs() ?? Number.POSITIVE_INFINITY) + forMs;
    if (judgedMs <= world.clock.nowMs()) return;
    world.run(Math.min(judgedMs, world.clock.nowMs() + 1_000));
  }
  throw new Error("the world does not settle");
}
