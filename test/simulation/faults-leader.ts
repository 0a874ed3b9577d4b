/** F5 and F6 aimed at who leads, and the uplink of a node that leads nothing: for what a failover costs, and what must not be one. */
import { exponential, type Fault, type FaultContext, instant } from "./fault.ts";
import type { Machine } from "./machine.ts";
import type { World } from "./world.ts";

/** Whoever came back has settled, so that two can accuse. */
const SETTLED_MS = 13_000;

/** One that leads something now, as itself says. */
export function someLeader(world: World, pick: number): Machine | undefined {
  const leaders = world.machines.filter(
    (machine) => machine.isAwake && machine.view()?.decisions.some(({ leader }) => leader === machine.name) === true,
  );
  return leaders[pick % Math.max(1, leaders.length)];
}

/** Its process is killed, its host dies, or it stands still for longer than detection takes; others live and are connected. */
function strikeLeader(kind: "process kill" | "host kill" | "freeze"): Fault {
  return {
    name: `F5/F6 ${kind} of a leader`,
    inject: (context) => {
      const { world, random, findings } = context;
      const beginMs = instant(context);
      const pick = random.below(8);
      const lastsMs = 2_000 + random.below(8_000);
      const keepsQueues = random.below(2) === 0;
      world.at(beginMs, () => {
        const machine = someLeader(world, pick);
        const quietSinceMs = world.calm.quietSinceMs() ?? Number.POSITIVE_INFINITY;
        if (machine === undefined || beginMs - quietSinceMs < SETTLED_MS) return;
        findings.count(`fault ${kind} of a leader`);
        const name = `${kind} of ${machine.name} ${beginMs}`;
        world.calm.begin(name, "vanished", beginMs);
        world.disturb(`${machine.name} leads, and there is a ${kind}`, "vanished");
        world.strike(kind, machine);
        if (kind === "freeze") world.stand(machine, { durationMs: lastsMs, keepsQueues, isGapVisible: true });
        else if (kind === "host kill") machine.powerOff();
        else machine.kill();
        world.lifecycle(machine, kind === "freeze" ? "frozen" : "killed");
        world.at(beginMs + lastsMs, () => {
          world.strikeEnds();
          world.calm.end(name, "vanished", world.clock.nowMs());
          if (kind === "freeze") return world.disturb(`${machine.name} turns again`, "vanished");
          machine.powerOn();
          world.start(machine);
        });
      });
    },
  };
}

export const leaderProcessFault = strikeLeader("process kill");
export const leaderHostFault = strikeLeader("host kill");
export const leaderFreezeFault = strikeLeader("freeze");

/** F4: the uplink of a node that leads nothing is cut for a while, in both directions or one. */
export const isolationFault: Fault = {
  name: "F4 isolated watcher",
  inject: (context: FaultContext) => {
    const { world, random, findings } = context;
    const durationMs = exponential(random, 300, 800);
    const direction = random.below(3);
    world.at(instant(context), () => {
      const leading = new Set(world.machines.flatMap((each) => each.view()?.decisions.map(({ leader }) => leader)));
      const machine = world.machines.find(({ name, isAwake }) => isAwake && !leading.has(name));
      if (machine === undefined || world.calm.isDisturbed || world.isolated !== undefined) return;
      findings.count("fault isolated watcher");
      const name = `isolation of ${machine.name}`;
      const set = (isCut: boolean): void => isolate(world, machine, direction, isCut);
      world.calm.begin(name, "vanished", world.clock.nowMs());
      world.isolated = machine.name;
      world.disturb(`${machine.name}'s uplink is cut for ${durationMs.toFixed(0)} ms (${direction})`, "vanished");
      set(true);
      world.at(world.clock.nowMs() + durationMs, () => {
        set(false);
        world.calm.end(name, "vanished", world.clock.nowMs());
        world.disturb(`${machine.name} is connected again`, "vanished");
      });
    });
  },
};

/** `direction`: 0 both, 1 what it hears, 2 what it says. */
export function isolate(world: World, machine: Machine, direction: number, isCut: boolean): void {
  const change = (cuts: Set<string>, name: string): void => void (isCut ? cuts.add(name) : cuts.delete(name));
  for (const other of world.machines) {
    if (other === machine) continue;
    for (const protocol of ["udp", "tcp"] as const) {
      if (direction !== 1) change(world.network.cuts, `${machine.name}>${other.name}:${protocol}`);
      if (direction !== 2) change(world.network.cuts, `${other.name}>${machine.name}:${protocol}`);
    }
    for (const [index, card] of machine.cards.entries()) {
      const far = other.cards[index];
      if (direction !== 1) change(card.segment.cuts, `${card.name}>${far?.name}`);
      if (direction !== 2) change(card.segment.cuts, `${far?.name}>${card.name}`);
    }
  }
}
