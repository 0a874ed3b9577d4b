/** F1 to F4: what networks do to datagrams, streams and frames. */
import { during, exponential, type Fault, type FaultContext, instant, someMachine, someMachines } from "./fault.ts";

/** F1: every frame and datagram is lost with the same probability, up to 30 %. */
export const lossFault: Fault = {
  name: "F1 loss",
  inject: (context) => lose(context, 0.3),
};

/** F1 as far as no view may change (SIMULATION 6): up to 10 %. */
export const mildLossFault: Fault = {
  name: "F1 mild loss",
  inject: (context) => lose(context, 0.1),
};

function lose(context: FaultContext, mostRate: number): void {
  const { world, random } = context;
  const rate = random.float() * mostRate;
  const set = (lossRate: number) => {
    world.network.faults.lossRate = lossRate;
    for (const segment of world.segments) segment.faults.lossRate = lossRate;
  };
  during(
    context,
    "loss",
    "vanished",
    context.untilMs - context.fromMs,
    () => set(rate),
    () => set(0),
  );
}

/** F2: one machine hears and says nothing for 20 to 500 ms, several times. */
export const burstLossFault: Fault = {
  name: "F2 burst loss",
  inject: (context) => {
    const { world, random, findings } = context;
    for (let burst = 0; burst < 1 + random.below(8); burst++) {
      const machine = someMachine(context);
      const durationMs = exponential(random, 20, 500);
      world.at(instant(context), () => {
        findings.count("fault burst loss");
        world.disturb(`${machine.name} loses all for ${durationMs.toFixed(0)} ms`, "vanished");
        world.network.loseAllOf(machine.name, durationMs);
        for (const card of machine.cards) card.segment.loseAllOf(card.name, durationMs);
      });
    }
  },
};

/** F3: one in a hundred comes twice, some overtake others by up to 50 ms, one in a hundred is up to a second late. */
export const reorderFault: Fault = {
  name: "F3 duplication and reordering",
  inject: (context) => {
    const { world, random } = context;
    const jitterMs = random.float() * 50;
    const set = (isOn: boolean) => {
      const faults = { duplicateRate: isOn ? 0.01 : 0, jitterMs: isOn ? jitterMs : 0 };
      Object.assign(world.network.faults, faults, { tailMs: isOn ? 1_000 : 0 });
      for (const segment of world.segments) Object.assign(segment.faults, faults);
    };
    during(
      context,
      "reordering",
      "vanished",
      context.untilMs - context.fromMs,
      () => set(true),
      () => set(false),
    );
  },
};

const CUT_KINDS = ["udp", "tcp", "frames", "all"] as const;

/** F4: between two groups of machines, in one direction or both, for one protocol or all. */
export const cutFault: Fault = {
  name: "F4 cut",
  inject: (context) => {
    const { world, random } = context;
    const inside = new Set(someMachines(context));
    const kind = CUT_KINDS[random.below(CUT_KINDS.length)] ?? "all";
    const isOneWay = random.below(3) === 0;
    const pairs = world.machines.flatMap((from) =>
      world.machines
        .filter((to) => inside.has(from) !== inside.has(to) && (!isOneWay || inside.has(from)))
        .map((to) => ({ from, to })),
    );
    const set = (isCut: boolean) => {
      for (const { from, to } of pairs) {
        for (const protocol of ["udp", "tcp"] as const) {
          if (kind !== "all" && kind !== protocol) continue;
          const name = `${from.name}>${to.name}:${protocol}`;
          if (isCut) world.network.cuts.add(name);
          else world.network.cuts.delete(name);
        }
        if (kind !== "all" && kind !== "frames") continue;
        for (const [index, card] of from.cards.entries()) {
          const name = `${card.name}>${to.cards[index]?.name}`;
          if (isCut) card.segment.cuts.add(name);
          else card.segment.cuts.delete(name);
        }
      }
    };
    const durationMs = exponential(random, 500, 30_000);
    during(
      context,
      `cut of ${kind}`,
      "vanished",
      durationMs,
      () => set(true),
      () => set(false),
    );
  },
};
