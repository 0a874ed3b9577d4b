/** One trouble (`troubles.ts`) from a calm cluster until each address is back where it was, and what an operator saw of it from outside. */
import { SeededRandom } from "../../src/base/random.ts";
import type { Ip } from "../../src/net/ip.ts";
import type { Machine } from "./machine.ts";
import { type SpeakerTiming, withTiming } from "./other-timing.ts";
import { runPool, serveJobs } from "./pool.ts";
import { speakerTenant } from "./speaker-tenant.ts";
import { TROUBLES, type Trouble, type TroubleName } from "./troubles.ts";
import type { Answerer, Witness } from "./witness.ts";
import { World } from "./world.ts";
import { planOf } from "./world-plan.ts";

export interface TroublePlan {
  readonly trouble: TroubleName;
  readonly seed: number;
  /** Numbers that differ from the product's. */
  readonly timing: Partial<SpeakerTiming>;
}

/** Of the addresses that whoever was in trouble led before. */
export interface AddressTally {
  /** From the first fault until all was well. */
  readonly troubledMs: number;
  /** From one that answers alone to another, until the address is back. */
  readonly moves: number;
  readonly unansweredMs: number;
  /** More than one answered. */
  readonly overlapMs: number;
  /** From when all was well until the best node answers alone; undefined: not within `LONGEST_MS`. */
  readonly backMs: number | undefined;
}

interface Job {
  readonly index: number;
  readonly plan: TroublePlan;
}

interface Done {
  readonly index: number;
  readonly tallies: readonly AddressTally[];
}

/** Founders have settled. */
const BEGINS_MS = 20_000;
const SERVICES = 6;
/** Somewhat more than the longest damping, with the highest number for it. */
const LONGEST_MS = 25 * 60_000;
/** Who answers alone for so long is taken to stay. */
const STAYS_MS = 3_000;

/** On all cores; `done` is called with what became of each, in no order. */
export async function runTroubles(
  plans: readonly TroublePlan[],
  done: (tallies: readonly AddressTally[], index: number) => void,
): Promise<void> {
  const jobs = plans.map((plan, index): Job => ({ plan, index }));
  await runPool(new URL(import.meta.url), jobs, (given) => {
    const { tallies, index } = given as Done;
    done(tallies, index);
  });
}

export function runTrouble({ trouble: name, seed, timing }: TroublePlan): readonly AddressTally[] {
  const trouble: Trouble = TROUBLES[name];
  const plan = { ...planOf({ nodes: trouble.nodes, services: SERVICES, closeLookMs: 5 }), seed };
  const world = new World(plan, speakerTenant({ ports: (ports) => withTiming(ports, timing) }));
  const ledger = new Ledger();
  world.witnesses.push(ledger);
  for (const machine of world.machines) world.start(machine);
  world.run(BEGINS_MS - 1_000);
  const best = new Map(world.addresses.map((ip) => [ip, ledger.aloneAt(ip)?.node ?? ""]));
  const leadsCount = ({ name: node }: Machine): number => [...best.values()].filter((one) => one === node).length;
  const leaders = world.machines
    .filter((machine) => leadsCount(machine) > 0)
    .toSorted((a, b) => leadsCount(b) - leadsCount(a));
  const random = new SeededRandom(seed * 7_919 + trouble.nodes);
  // Not in step with what happens once a second.
  const beginMs = BEGINS_MS + random.float() * 1_000;
  const { concerned, healedMs } = trouble.plan(world, random, beginMs, leaders);
  const names = new Set(concerned.map((machine) => machine.name));
  const addresses = world.addresses.filter((ip) => names.has(best.get(ip) ?? ""));
  ledger.begin();
  world.run(healedMs);
  const backSinceMs = (ip: Ip): number | undefined => {
    const alone = ledger.aloneAt(ip);
    return alone?.node === best.get(ip) ? alone?.sinceMs : undefined;
  };
  const isBack = (ip: Ip): boolean => world.clock.nowMs() - (backSinceMs(ip) ?? world.clock.nowMs()) >= STAYS_MS;
  while (!addresses.every(isBack) && world.clock.nowMs() < healedMs + LONGEST_MS)
    world.run(world.clock.nowMs() + 1_000);
  return addresses.map((ip) => {
    const sinceMs = backSinceMs(ip);
    const backMs = sinceMs === undefined ? undefined : Math.max(0, sinceMs - healedMs);
    return { troubledMs: healedMs - beginMs, ...ledger.tallyOf(ip), backMs };
  });
}

interface Entry {
  readonly nodes: ReadonlySet<string>;
  /** When it was looked at last. */
  readonly atMs: number;
  readonly alone?: { readonly node: string; readonly sinceMs: number };
  readonly moves: number;
  readonly unansweredMs: number;
  readonly overlapMs: number;
}

class Ledger implements Witness {
  readonly #entries = new Map<Ip, Entry>();

  answered(atMs: number, ip: Ip, answerers: readonly Answerer[]): void {
    const nodes = new Set(answerers.map(({ node }) => node));
    const before = this.#entries.get(ip) ?? { nodes, atMs, moves: 0, unansweredMs: 0, overlapMs: 0 };
    const spentMs = atMs - before.atMs;
    const [node] = nodes;
    const isAlone = node !== undefined && nodes.size === 1;
    const last = before.alone;
    const hasMoved = isAlone && last !== undefined && last.node !== node;
    const [onlyBefore] = before.nodes;
    // A gap or an overlap begins the stay anew, for whoever comes back from it.
    const isSameStay = isAlone && last?.node === node && before.nodes.size === 1 && onlyBefore === node;
    const alone = isSameStay || !isAlone ? last : { node, sinceMs: atMs };
    this.#entries.set(ip, {
      nodes,
      atMs,
      ...(alone === undefined ? {} : { alone }),
      moves: before.moves + Number(hasMoved),
      unansweredMs: before.unansweredMs + (before.nodes.size === 0 ? spentMs : 0),
      overlapMs: before.overlapMs + (before.nodes.size > 1 ? spentMs : 0),
    });
  }

  /** What was before does not count. */
  begin(): void {
    for (const [ip, entry] of this.#entries)
      this.#entries.set(ip, { ...entry, moves: 0, unansweredMs: 0, overlapMs: 0 });
  }

  /** Who answers alone now, and since when. */
  aloneAt(ip: Ip): { readonly node: string; readonly sinceMs: number } | undefined {
    const entry = this.#entries.get(ip);
    return entry?.nodes.size === 1 ? entry.alone : undefined;
  }

  tallyOf(ip: Ip): Pick<AddressTally, "moves" | "unansweredMs" | "overlapMs"> {
    const { moves = 0, unansweredMs = 0, overlapMs = 0 } = this.#entries.get(ip) ?? {};
    return { moves, unansweredMs, overlapMs };
  }
}

serveJobs(({ plan, index }: Job): Done => ({ index, tallies: runTrouble(plan) }));
