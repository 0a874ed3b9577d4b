/** F5 to F8 and F16: what happens to processes, machines and clocks. */
import type { Ip } from "../../src/net/ip.ts";
import { parseIp } from "../../src/net/ip.ts";
import { exponential, type Fault, type FaultContext, instant, someMachine } from "./fault.ts";
import type { Machine } from "./machine.ts";

/** F5: the process is killed, or the whole machine; it starts again later, now and then with another address. */
export const crashFault: Fault = {
  name: "F5 crash",
  inject: (context) => {
    const { world, random, findings } = context;
    const machine = someMachine(context);
    const isHost = random.below(2) === 0;
    const beginMs = instant(context);
    const endMs = Math.min(context.untilMs, beginMs + exponential(random, 0, 60_000));
    const newIp = random.below(6) === 0 ? spareIp(random.below(40)) : undefined;
    const name = `crash of ${machine.name} ${beginMs}`;
    world.at(beginMs, () => {
      if (!machine.isRunning) return;
      findings.count(isHost ? "fault host kill" : "fault process kill");
      world.calm.begin(name, "vanished", world.clock.nowMs());
      world.disturb(`${machine.name} is killed${isHost ? " with its host" : ""}`, "vanished");
      if (isHost) machine.powerOff();
      else machine.kill();
      world.lifecycle(machine, "killed");
    });
    world.at(endMs, () => {
      world.calm.end(name, "vanished", world.clock.nowMs());
      restart(context, machine, newIp);
    });
  },
};

function restart({ world, findings }: FaultContext, machine: Machine, newIp?: Ip): void {
  if (machine.isRunning) return;
  machine.powerOn();
  if (newIp !== undefined) {
    findings.count("fault new address");
    machine.readdress(newIp);
    world.disturb(`${machine.name} has the address ${newIp} now`, "readdressed");
    for (const other of world.machines) other.setPeers(world.machines.map(({ endpoint }) => endpoint));
  }
  world.start(machine);
}

function spareIp(number: number): Ip {
  return parseIp(`192.0.2.${50 + number}`) as Ip;
}

/** F6: 50 ms to 60 s without a step; queues kept (SIGSTOP) or lost (a paused guest), the gap visible to its clock or not. */
export const freezeFault: Fault = {
  name: "F6 freeze",
  inject: (context) => {
    const { random } = context;
    stand(context, "freeze", exponential(random, 50, Math.min(60_000, context.untilMs - context.fromMs)), {
      keepsQueues: random.below(2) === 0,
      isGapVisible: random.below(3) > 0,
    });
  },
};

/** F6 as far as the machine's clock goes on: what a lease needs (invariant 17). */
export const seenFreezeFault: Fault = {
  name: "F6 freeze that the clock sees",
  inject: (context) => {
    const { random } = context;
    stand(context, "freeze", exponential(random, 50, Math.min(20_000, context.untilMs - context.fromMs)), {
      keepsQueues: random.below(2) === 0,
      isGapVisible: true,
    });
  },
};

/** F7: the wire thread is busy for 10 to 800 ms, several times. */
export const stallFault: Fault = {
  name: "F7 stall",
  inject: (context) => {
    for (let stall = 0; stall < 1 + context.random.below(10); stall++) {
      stand(context, "stall", exponential(context.random, 10, 800), { keepsQueues: true, isGapVisible: true });
    }
  },
};

/** F7 as far as no view may change (SIMULATION 6): up to 300 ms. */
export const mildStallFault: Fault = {
  name: "F7 mild stall",
  inject: (context) => {
    for (let stall = 0; stall < 1 + context.random.below(10); stall++) {
      stand(context, "stall", exponential(context.random, 10, 300), { keepsQueues: true, isGapVisible: true });
    }
  },
};

function stand(
  context: FaultContext,
  what: string,
  durationMs: number,
  how: { readonly keepsQueues: boolean; readonly isGapVisible: boolean },
): void {
  const { world, findings, untilMs } = context;
  const machine = someMachine(context);
  const beginMs = instant(context);
  const lastsMs = Math.min(durationMs, untilMs - beginMs);
  const name = `${what} of ${machine.name} ${beginMs}`;
  world.at(beginMs, () => {
    if (!machine.isAwake) return;
    findings.count(`fault ${what}`);
    if (lastsMs > 250) findings.count("fault gap");
    world.calm.begin(name, "vanished", world.clock.nowMs());
    world.disturb(`${machine.name} stands for ${lastsMs.toFixed(0)} ms (${JSON.stringify(how)})`, "vanished");
    world.stand(machine, { durationMs: lastsMs, ...how });
    world.lifecycle(machine, "frozen");
    world.at(world.clock.nowMs() + lastsMs, () => {
      world.calm.end(name, "vanished", world.clock.nowMs());
      world.disturb(`${machine.name} turns again`, "vanished");
    });
  });
}

/** F8: wall clocks step; their rates differ by up to 200 ppm in every world. */
export const clockFault: Fault = {
  name: "F8 clock",
  inject: (context) => {
    const { world, random, findings } = context;
    const machine = someMachine(context);
    const byMs = (random.float() - 0.5) * 7_200_000;
    world.at(instant(context), () => {
      findings.count("fault wall step");
      world.disturb(`${machine.name}'s wall clock steps by ${byMs.toFixed(0)} ms`, "planned");
      machine.stepWall(byMs);
    });
  },
};

/** F16: SIGTERM, then SIGKILL after the grace; the next process starts a little later. */
export function terminateFault(gracesMs: readonly number[]): Fault {
  return {
    name: "F16 terminate",
    inject: (context) => {
      const { world, random, findings } = context;
      const machine = someMachine(context);
      const graceMs = gracesMs[random.below(gracesMs.length)] ?? 0;
      const beginMs = instant(context);
      const pauseMs = exponential(random, 0, 10_000);
      const name = `SIGTERM of ${machine.name} ${beginMs}`;
      world.at(beginMs, () => {
        if (!machine.isRunning || machine.isLeaving) return;
        findings.count(`fault SIGTERM grace ${graceMs / 1_000} s`);
        world.calm.begin(name, "membership", world.clock.nowMs());
        world.disturb(`${machine.name} gets SIGTERM, grace ${graceMs} ms`, "membership");
        machine.leave();
        world.at(beginMs + graceMs, () => {
          if (!machine.isRunning) return;
          findings.count("fault SIGKILL after grace");
          world.disturb(`${machine.name} is killed after its grace`, "vanished");
          machine.kill();
          world.lifecycle(machine, "killed");
        });
        world.at(beginMs + graceMs + pauseMs + 1, () => {
          world.calm.end(name, "membership", world.clock.nowMs());
          restart(context, machine);
        });
      });
    },
  };
}
