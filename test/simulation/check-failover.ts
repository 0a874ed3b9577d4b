/** Invariant 4: how long nobody answers after a leader is killed, loses its host, or stands still, where two could accuse it. */
import type { Ip } from "../../src/net/ip.ts";
import type { Machine } from "./machine.ts";
import type { Answerer, Findings, Witness } from "./witness.ts";

/** From the fault to another's first answer (SIMULATION 4). */
const BOUNDS_MS = { "process kill": 500, "host kill": 800, freeze: 1_300 } as const;
export type LeaderFault = keyof typeof BOUNDS_MS;

interface Loss {
  readonly fault: LeaderFault;
  readonly machine: Machine;
  readonly atMs: number;
  readonly addresses: Set<Ip>;
}

export interface FailoverRules {
  readonly hasCandidate: (ip: Ip) => boolean;
  /** Told of every failover, for the histogram. */
  readonly measured?: (fault: LeaderFault, ms: number) => void;
}

export class FailoverChecker implements Witness {
  readonly #rules: FailoverRules;
  readonly #findings: Findings;
  readonly #answerers = new Map<Ip, readonly string[]>();
  #loss: Loss | undefined;

  constructor(rules: FailoverRules, findings: Findings) {
    this.#rules = rules;
    this.#findings = findings;
  }

  /** What happens to a leader at this moment; from now on time counts. */
  struck(fault: LeaderFault, machine: Machine, atMs: number): void {
    const addresses = [...this.#answerers].flatMap(([ip, names]) =>
      names.length === 1 && names[0] === machine.name ? [ip] : [],
    );
    this.#loss = { fault, machine, atMs, addresses: new Set(addresses) };
  }

  /** It is over: whoever does not answer by now is another matter. */
  healed(): void {
    this.#loss = undefined;
  }

  answered(atMs: number, ip: Ip, answerers: readonly Answerer[]): void {
    const names = [...new Set(answerers.map(({ node }) => node))];
    this.#answerers.set(ip, names);
    const loss = this.#loss;
    if (loss === undefined || !loss.addresses.has(ip)) return;
    const afterMs = atMs - loss.atMs;
    if (names.some((name) => name !== loss.machine.name)) {
      loss.addresses.delete(ip);
      this.#findings.count(`4 taken over after a ${loss.fault}`);
      this.#rules.measured?.(loss.fault, afterMs);
      return;
    }
    if (afterMs <= BOUNDS_MS[loss.fault] || !this.#rules.hasCandidate(ip)) return;
    this.#findings.violated(
      4,
      atMs,
      `nobody answers for ${ip}, ${afterMs.toFixed(0)} ms after the ${loss.fault} of ${loss.machine.name}`,
    );
  }
}
