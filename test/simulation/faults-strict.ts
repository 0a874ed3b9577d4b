/** F4 aimed at who answers for a strict address: it is cut off while it answers, in both directions or one. */
import { exponential, type Fault, instant } from "./fault.ts";
import { isolate, someLeader } from "./faults-leader.ts";

export const leaderCutFault: Fault = {
  name: "F4 leader cut off",
  inject: (context) => {
    const { world, random, findings } = context;
    const beginMs = instant(context);
    const durationMs = exponential(random, 600, 10_000);
    const direction = random.below(3);
    const pick = random.below(8);
    world.at(beginMs, () => {
      const machine = someLeader(world, pick);
      if (machine === undefined) return;
      findings.count("fault leader cut off");
      const name = `cut of ${machine.name} ${beginMs}`;
      world.calm.begin(name, "vanished", world.clock.nowMs());
      world.disturb(`${machine.name} is cut off for ${durationMs.toFixed(0)} ms (${direction})`, "vanished");
      isolate(world, machine, direction, true);
      world.at(Math.min(context.untilMs, beginMs + durationMs), () => {
        isolate(world, machine, direction, false);
        world.calm.end(name, "vanished", world.clock.nowMs());
        world.disturb(`${machine.name} is connected again`, "vanished");
      });
    });
  },
};
