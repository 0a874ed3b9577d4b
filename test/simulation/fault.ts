/** A kind of fault: drawn from a seed, begun, and always healed before the world is judged. */
import { type Random, shuffled } from "../../src/base/random.ts";
import type { Disturbance } from "./calm.ts";
import type { Machine } from "./machine.ts";
import type { Findings } from "./witness.ts";
import type { World } from "./world.ts";

/** The part of the run in which faults may be active. */
export interface FaultContext {
  readonly world: World;
  readonly random: Random;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly findings: Findings;
}

export interface Fault {
  /** As SIMULATION numbers them: "F4 cut". */
  readonly name: string;
  inject(context: FaultContext): void;
}

/** Begins at a random time and ends, at the latest, with the window. */
export function during(
  context: FaultContext,
  what: string,
  kind: Disturbance,
  durationMs: number,
  begin: () => void,
  end: () => void,
): void {
  const { world, fromMs, untilMs, findings } = context;
  const beginMs = instant(context);
  const endMs = Math.min(untilMs, beginMs + durationMs);
  const name = `${what} ${fromMs}/${beginMs}`;
  world.at(beginMs, () => {
    findings.count(`fault ${what}`);
    world.calm.begin(name, kind, world.clock.nowMs());
    world.disturb(`${what} begins`, kind);
    begin();
  });
  world.at(endMs, () => {
    world.calm.end(name, kind, world.clock.nowMs());
    world.disturb(`${what} ends`, kind);
    end();
  });
}

/** A time in the window, not in its last tenth, so that what begins has time to matter. */
export function instant({ random, fromMs, untilMs }: FaultContext): number {
  return fromMs + random.float() * 0.9 * (untilMs - fromMs);
}

/** Exponentially distributed, as bursts and outages are. */
export function exponential(random: Random, leastMs: number, mostMs: number): number {
  const meanMs = (mostMs - leastMs) / 3;
  return Math.min(mostMs, leastMs - meanMs * Math.log(1 - random.float()));
}

export function someMachine({ world, random }: FaultContext): Machine {
  const machine = world.machines[random.below(world.machines.length)];
  if (machine === undefined) throw new Error("a world without machines");
  return machine;
}

/** Between one and all but one of the machines, in random order. */
export function someMachines({ world, random }: FaultContext): readonly Machine[] {
  return shuffled(world.machines, random).slice(0, 1 + random.below(Math.max(1, world.machines.length - 1)));
}
