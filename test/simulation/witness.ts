/** What can be seen of a world from outside, as it happens. Checkers implement the parts they judge. */
import type { Endpoint } from "../../src/gossip/message.ts";
import type { Ip } from "../../src/net/ip.ts";
import type { Disturbance } from "./calm.ts";
import type { LeaderFault } from "./check-failover.ts";
import type { NeighbourFrame } from "./frames.ts";
import type { Machine } from "./machine.ts";
import type { NetworkCard } from "./network-card.ts";

/** A machine that answered an observer's request. */
export interface Answerer {
  readonly node: string;
  readonly machine: Machine;
  readonly card: NetworkCard;
}

export interface Witness {
  /** Somebody asked for `ip` on every segment and was answered by these, each once. */
  answered?(atMs: number, ip: Ip, answerers: readonly Answerer[]): void;
  /** A speaker sent a frame. */
  sent?(atMs: number, machine: Machine, card: NetworkCard, frame: NeighbourFrame): void;
  joined?(atMs: number, machine: Machine, card: NetworkCard, group: Ip): void;
  left?(atMs: number, machine: Machine, card: NetworkCard, group: Ip): void;
  datagram?(atMs: number, from: string, to: Endpoint, bytes: Uint8Array): void;
  /** What a process wrote to one of its gossip streams. */
  streamed?(atMs: number, from: string, bytes: Uint8Array): void;
  /** A fault began or ended, or an input changed. */
  disturbed?(atMs: number, what: string, kind: Disturbance): void;
  /** A process started, was killed, or ended by itself. */
  lifecycle?(atMs: number, machine: Machine, what: "started" | "killed" | "exited" | "frozen"): void;
  /** A leader is killed, loses its host or stands still, and nothing else is wrong; then that is over. */
  struck?(fault: LeaderFault, machine: Machine, atMs: number): void;
  healed?(): void;
  /** A process, or its whole machine, begins to stand still. */
  stood?(machine: Machine, atMs: number, durationMs: number, isGapVisible: boolean): void;
  /** Called after every step of the world in which something may have changed, and at least every 250 ms. */
  looked?(atMs: number): void;
}

/** All witnesses of a world, asked by what they want to hear of: most want little, and a datagram is sent every few steps. */
export class Witnesses {
  readonly #all: Witness[] = [];
  readonly #byKind = new Map<keyof Witness, readonly Witness[]>();

  push(...witnesses: readonly Witness[]): void {
    this.#all.push(...witnesses);
    this.#byKind.clear();
  }

  of<Kind extends keyof Witness>(kind: Kind): readonly (Witness & Required<Pick<Witness, Kind>>)[] {
    const known = this.#byKind.get(kind) ?? this.#all.filter((witness) => witness[kind] !== undefined);
    this.#byKind.set(kind, known);
    return known as readonly (Witness & Required<Pick<Witness, Kind>>)[];
  }
}

/** An invariant that did not hold, with the evidence. Thrown through the world to whoever runs it. */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly invariant: number;
  readonly atMs: number;

  constructor(invariant: number, atMs: number, evidence: string) {
    super(`invariant ${invariant} at ${atMs.toFixed(1)} ms: ${evidence}`);
    this.invariant = invariant;
    this.atMs = atMs;
  }
}

/**
 * What the checkers of one run found: violations, thrown, and how often each rule came to its interesting state, because a run
 * in which one never did proves nothing.
 */
export class Findings {
  readonly #counts = new Map<string, number>();
  readonly #only: number | undefined;

  /** `only`: the invariant that a mutant breaks; what else it breaks is passed over. */
  constructor(only?: number) {
    this.#only = only;
  }

  judges(invariant: number): boolean {
    return this.#only === undefined || this.#only === invariant;
  }

  violated(invariant: number, atMs: number, evidence: string): void {
    if (this.judges(invariant)) throw new Violation(invariant, atMs, evidence);
  }

  count(rule: string): void {
    this.#counts.set(rule, (this.#counts.get(rule) ?? 0) + 1);
  }

  add(other: Findings): void {
    for (const [rule, count] of other.#counts) this.#counts.set(rule, (this.#counts.get(rule) ?? 0) + count);
  }

  of(rule: string): number {
    return this.#counts.get(rule) ?? 0;
  }

  entries(): readonly (readonly [string, number])[] {
    return [...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
  }
}
