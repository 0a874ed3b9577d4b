/** F15: Go members that join, leave, and are killed, while speakers do the same. */
import { exponential, type Fault, instant } from "./fault.ts";

/** A member of Go's kind is away for a while: it said goodbye, or was killed. The rule follows when it is gone for good. */
export const metallbFault: Fault = {
  name: "F15 Go member comes and goes",
  inject: (context) => {
    const { world, random, findings } = context;
    const { metallb } = world.plan;
    const names = [...metallb];
    const machine = world.machines.find(({ name }) => name === names[random.below(Math.max(1, names.length))]);
    if (machine === undefined) return;
    const beginMs = instant(context);
    const says = random.below(2) === 0;
    const staysAway = random.below(3) === 0;
    const name = `absence of ${machine.name} ${beginMs}`;
    world.at(beginMs, () => {
      if (!machine.isRunning || machine.isLeaving) return;
      findings.count(says ? "fault Go member leaves" : "fault Go member killed");
      world.disturb(`${machine.name}, a Go member, ${says ? "leaves" : "is killed"}`, "vanished");
      if (says) return machine.leave();
      machine.kill();
      world.lifecycle(machine, "killed");
    });
    if (staysAway) return;
    const endMs = Math.min(context.untilMs, beginMs + exponential(random, 500, 20_000));
    world.calm.begin(name, "vanished", world.clock.nowMs());
    world.at(endMs, () => {
      world.calm.end(name, "vanished", world.clock.nowMs());
      if (machine.isRunning) return;
      findings.count("fault Go member joins");
      world.start(machine);
    });
  },
};
