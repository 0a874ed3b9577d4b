/** What an operator's cluster goes through when a node, a cable or half of the network does not behave: stories whose ends are counted. */
import type { Random } from "../../src/base/random.ts";
import { isolate } from "./faults-leader.ts";
import type { Machine } from "./machine.ts";
import type { World } from "./world.ts";

export interface Course {
  /** Whose addresses are looked at. */
  readonly concerned: readonly Machine[];
  /** When nothing is wrong any more. */
  readonly healedMs: number;
}

export interface Trouble {
  readonly name: string;
  readonly nodes: number;
  /** What figures are told of: an hour in which it goes on, or each time that it happens. */
  readonly per: "hour" | "time";
  /** `leaders`: whoever leads most comes first. */
  readonly plan: (world: World, random: Random, fromMs: number, leaders: readonly Machine[]) => Course;
}

const LASTS_MS = 40 * 60_000;

function between(random: Random, leastMs: number, mostMs: number): number {
  return leastMs + random.float() * (mostMs - leastMs);
}

function endAt(world: World, machine: Machine, atMs: number, isHost: boolean): void {
  world.at(atMs, () => {
    world.disturb(`${machine.name} is killed`, "vanished");
    if (isHost) machine.powerOff();
    else machine.kill();
    world.lifecycle(machine, "killed");
  });
}

function startAt(world: World, machine: Machine, atMs: number): void {
  world.at(atMs, () => {
    machine.powerOn();
    world.start(machine);
  });
}

function loseLink(world: World, machine: Machine, fromMs: number, untilMs: number): void {
  const set = (hasCarrier: boolean): void => {
    world.disturb(`the links of ${machine.name} are ${hasCarrier ? "back" : "lost"}`, "vanished");
    for (const card of machine.cards) machine.changeCard(card, (changed) => changed.setCarrier(hasCarrier));
  };
  world.at(fromMs, () => set(false));
  world.at(untilMs, () => set(true));
}

type Span = readonly [leastMs: number, mostMs: number];

/** Down for some time, again and again for forty minutes; gives when it is up for good. */
function againAndAgain(
  random: Random,
  fromMs: number,
  spans: { readonly down: Span; readonly up: Span },
  fail: (atMs: number, untilMs: number) => void,
): number {
  let [atMs, healedMs] = [fromMs, fromMs];
  while (atMs < fromMs + LASTS_MS) {
    healedMs = atMs + between(random, ...spans.down);
    fail(atMs, healedMs);
    atMs = healedMs + between(random, ...spans.up);
  }
  return healedMs;
}

/** Down, up, and down once more. */
function twice(random: Random, fromMs: number, spans: { readonly down: Span; readonly up: Span }) {
  const backMs = fromMs + between(random, ...spans.down);
  const againMs = backMs + between(random, ...spans.up);
  const healedMs = againMs + between(random, ...spans.down);
  return { backMs, againMs, healedMs };
}

export const TROUBLES = {
  crashLoop: {
    name: "a speaker that crashes 20 s to 4 min after each start",
    nodes: 3,
    per: "hour",
    plan: (world, random, fromMs, leaders) => {
      const concerned = leaders.slice(0, 1);
      const spans = { down: [1_000, 5_000], up: [20_000, 240_000] } as const;
      const healedMs = againAndAgain(random, fromMs, spans, (atMs, untilMs) => {
        for (const machine of concerned) {
          endAt(world, machine, atMs, false);
          startAt(world, machine, untilMs);
        }
      });
      return { concerned, healedMs };
    },
  },
  diesAgain: {
    name: "a node that comes back and dies again 2 to 20 s later",
    nodes: 3,
    per: "time",
    plan: (world, random, fromMs, leaders) => {
      const concerned = leaders.slice(0, 1);
      const spans = { down: [1_000, 5_000], up: [2_000, 20_000] } as const;
      const { backMs, againMs, healedMs } = twice(random, fromMs, spans);
      for (const machine of concerned) {
        endAt(world, machine, fromMs, false);
        startAt(world, machine, backMs);
        endAt(world, machine, againMs, true);
        startAt(world, machine, healedMs);
      }
      return { concerned, healedMs };
    },
  },
  flappingLink: {
    name: "a link that is lost for 50 to 400 ms, 1 s to 4 min after it came back",
    nodes: 3,
    per: "hour",
    plan: (world, random, fromMs, leaders) => {
      const concerned = leaders.slice(0, 1);
      const spans = { down: [50, 400], up: [1_000, 240_000] } as const;
      const healedMs = againAndAgain(random, fromMs, spans, (atMs, untilMs) => {
        for (const machine of concerned) loseLink(world, machine, atMs, untilMs);
      });
      return { concerned, healedMs };
    },
  },
  linkTwice: {
    name: "a link that is lost for 50 to 400 ms, and again 1 to 20 s later",
    nodes: 3,
    per: "time",
    plan: (world, random, fromMs, leaders) => {
      const concerned = leaders.slice(0, 1);
      const spans = { down: [50, 400], up: [1_000, 20_000] } as const;
      const { backMs, againMs, healedMs } = twice(random, fromMs, spans);
      for (const machine of concerned) {
        loseLink(world, machine, fromMs, backMs);
        loseLink(world, machine, againMs, healedMs);
      }
      return { concerned, healedMs };
    },
  },
  twoHosts: {
    name: "two hosts of five that die at once, for 10 s",
    nodes: 5,
    per: "time",
    plan: (world, _random, fromMs, leaders) => {
      const concerned = leaders.slice(0, 2);
      const healedMs = fromMs + 10_000;
      for (const machine of concerned) {
        endAt(world, machine, fromMs, true);
        startAt(world, machine, healedMs);
      }
      return { concerned, healedMs };
    },
  },
  split: {
    name: "two nodes of five that are cut off from the others for 1 to 4 s",
    nodes: 5,
    per: "time",
    plan: (world, random, fromMs, leaders) => {
      const healedMs = fromMs + between(random, 1_000, 4_000);
      const first = random.below(world.machines.length);
      const cutOff = [first, (first + 1) % world.machines.length].flatMap((index) => world.machines[index] ?? []);
      const set = (atMs: number, isCut: boolean): void =>
        world.at(atMs, () => {
          world.disturb(`two nodes are ${isCut ? "cut off" : "connected again"}`, "vanished");
          for (const machine of cutOff) isolate(world, machine, 0, isCut);
          if (isCut) connect(world, cutOff);
        });
      set(fromMs, true);
      set(healedMs, false);
      return { concerned: leaders, healedMs };
    },
  },
} as const satisfies Readonly<Record<string, Trouble>>;

export type TroubleName = keyof typeof TROUBLES;

/** Who is cut off from all is connected with these again. */
function connect({ network }: World, machines: readonly Machine[]): void {
  for (const from of machines) {
    for (const to of machines) {
      for (const protocol of ["udp", "tcp"]) network.cuts.delete(`${from.name}>${to.name}:${protocol}`);
      for (const card of from.cards) for (const far of to.cards) card.segment.cuts.delete(`${card.name}>${far.name}`);
    }
  }
}
