/** F1 to F4: what networks do to datagrams, streams and frames. */
import { shuffled } from "../../src/base/random.ts";
import { during, exponential, type Fault, type FaultContext, instant, someMachine, someMachines } from "./fault.ts";
import { someLeader } from "./faults-leader.ts";
import type { Machine } from "./machine.ts";
import type { World } from "./world.ts";

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

interface Pair {
  readonly from: Machine;
  readonly to: Machine;
}

function setCuts({ network }: World, pairs: readonly Pair[], kind: (typeof CUT_KINDS)[number], isCut: boolean): void {
  const set = (cuts: Set<string>, name: string): void => void (isCut ? cuts.add(name) : cuts.delete(name));
  for (const { from, to } of pairs) {
    for (const protocol of ["udp", "tcp"] as const) {
      if (kind === "all" || kind === protocol) set(network.cuts, `${from.name}>${to.name}:${protocol}`);
    }
    if (kind !== "all" && kind !== "frames") continue;
    for (const [index, card] of from.cards.entries()) {
      set(card.segment.cuts, `${card.name}>${to.cards[index]?.name}`);
    }
  }
}

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
    const set = (isCut: boolean) => setCuts(world, pairs, kind, isCut);
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

/** F4, from the first moment to the last: some others do not hear a leader, or it does not hear them (SIMULATION 10). */
export const constantCutFault: Fault = {
  name: "F4 constant one-way cut of a leader",
  inject: (context) => {
    const { world, random, fromMs, untilMs, findings } = context;
    const pick = random.below(8);
    const kind = random.below(2) === 0 ? "all" : (CUT_KINDS[random.below(CUT_KINDS.length)] ?? "all");
    const isUnheard = random.below(3) > 0;
    const order = shuffled(world.machines, random);
    const share = random.float();
    const name = `constant cut ${pick}`;
    let pairs: readonly Pair[] = [];
    world.at(fromMs, () => {
      const leader = someLeader(world, pick);
      if (leader === undefined || world.calm.isDisturbed) return;
      const others = order.filter((machine) => machine !== leader);
      const apart = others.slice(0, 1 + Math.floor(share * others.length));
      pairs = apart.map((other) => (isUnheard ? { from: leader, to: other } : { from: other, to: leader }));
      findings.count(`fault leader ${isUnheard ? "is not heard" : "does not hear"}`);
      world.calm.begin(name, "vanished", fromMs);
      const names = apart.map((machine) => machine.name).join(", ");
      world.disturb(`${leader.name} ${isUnheard ? "is not heard by" : "does not hear"} ${names} (${kind})`, "vanished");
      setCuts(world, pairs, kind, true);
    });
    world.at(untilMs, () => {
      if (pairs.length === 0) return;
      setCuts(world, pairs, kind, false);
      world.calm.end(name, "vanished", untilMs);
      world.disturb("the constant cut ends", "vanished");
    });
  },
};
