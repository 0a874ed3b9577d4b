/** Invariant 17: at no instant two answer for a strict address, and whoever cannot reach most of the others is silent soon. */
import type { Ip } from "../../src/net/ip.ts";
import type { GossipNetwork } from "./gossip-network.ts";
import type { Machine } from "./machine.ts";
import type { Answerer, Findings, Witness } from "./witness.ts";

/** What was granted within this time may still count, though who granted it is cut off or stands still by now. */
const LEASE_MS = 1_000;
/** Beyond that: the time since it was asked for last, and what a look comes late. */
const SILENT_AFTER_MS = 500;

export interface StrictRules {
  readonly machines: readonly Machine[];
  readonly network: Pick<GossipNetwork, "cuts">;
}

export class StrictChecker implements Witness {
  readonly #rules: StrictRules;
  readonly #findings: Findings;
  /** When a machine reached another last, both ways. */
  readonly #reachedMs = new Map<Machine, Map<Machine, number>>();
  /** Since when those that a machine has reached within a lease are at most half of all. */
  readonly #cutOffSinceMs = new Map<Machine, number>();
  readonly #lastAnswerer = new Map<Ip, string>();

  constructor(rules: StrictRules, findings: Findings) {
    this.#rules = rules;
    this.#findings = findings;
  }

  looked(atMs: number): void {
    for (const machine of this.#rules.machines) this.#follow(machine, atMs);
  }

  lifecycle(atMs: number): void {
    this.looked(atMs);
  }

  #follow(machine: Machine, atMs: number): void {
    const { machines } = this.#rules;
    const reachedMs = this.#reachedMs.get(machine) ?? new Map<Machine, number>();
    this.#reachedMs.set(machine, reachedMs);
    for (const other of machines) {
      if (other === machine || this.#isReached(machine, other)) reachedMs.set(other, atMs);
    }
    const mayGrant = machines.filter((other) => atMs - (reachedMs.get(other) ?? Number.NEGATIVE_INFINITY) <= LEASE_MS);
    if (2 * mayGrant.length > machines.length) this.#cutOffSinceMs.delete(machine);
    else if (!this.#cutOffSinceMs.has(machine)) this.#cutOffSinceMs.set(machine, atMs);
  }

  #isReached(from: Machine, to: Machine): boolean {
    const { cuts } = this.#rules.network;
    const isCut = cuts.has(`${from.name}>${to.name}:udp`) || cuts.has(`${to.name}>${from.name}:udp`);
    return !isCut && to.isAwake && to.isReachable;
  }

  answered(atMs: number, ip: Ip, answerers: readonly Answerer[]): void {
    const names = [...new Set(answerers.map(({ node }) => node))];
    if (names.length > 1) {
      this.#findings.violated(17, atMs, `${names.join(" and ")} answer for ${ip}, which is strict`);
    }
    const [name] = names;
    if (name !== undefined) {
      this.#findings.count("17 one answers");
      if (this.#lastAnswerer.get(ip) !== name) this.#findings.count("17 another answers");
      this.#lastAnswerer.set(ip, name);
    }
    for (const [machine, sinceMs] of this.#cutOffSinceMs) {
      if (atMs - sinceMs <= SILENT_AFTER_MS || !machine.isAwake) continue;
      this.#findings.count("17 cut off for long");
      if (!names.includes(machine.name)) continue;
      // Whom it needs may have come back since the last look, in this instant.
      this.#follow(machine, atMs);
      if (!this.#cutOffSinceMs.has(machine)) continue;
      const forMs = (atMs - sinceMs).toFixed(0);
      this.#findings.violated(
        17,
        atMs,
        `${machine.name} answers for ${ip}, and may have too few grants for ${forMs} ms`,
      );
    }
  }
}
