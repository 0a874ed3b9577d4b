/** Invariant 6, and half of 12: nothing moves, and nobody is held dead or suspect, who is only hard to hear. */
import type { Ip } from "../../src/net/ip.ts";
import type { Machine } from "./machine.ts";
import type { Answerer, Findings, Witness } from "./witness.ts";

export interface SteadyRules {
  readonly machines: readonly Machine[];
  /** Faults have begun, and everybody has settled before. */
  readonly isBegun: (atMs: number) => boolean;
  /** Who is cut off: what others hold of it is its own affair. */
  readonly isolated: () => string | undefined;
  /** 6: leaders may not change. 12: nobody's view of anybody may. */
  readonly invariant: 6 | 12;
}

export class SteadyChecker implements Witness {
  readonly #rules: SteadyRules;
  readonly #findings: Findings;
  /** Address → who led it when the faults began. */
  readonly #leaders = new Map<Ip, string>();

  constructor(rules: SteadyRules, findings: Findings) {
    this.#rules = rules;
    this.#findings = findings;
  }

  answered(atMs: number, ip: Ip, answerers: readonly Answerer[]): void {
    const names = new Set(answerers.map(({ node }) => node));
    const [name] = names;
    if (!this.#rules.isBegun(atMs)) {
      if (names.size === 1 && name !== undefined) this.#leaders.set(ip, name);
      return;
    }
    const leader = this.#leaders.get(ip);
    for (const other of names) {
      if (leader === undefined || other === leader) continue;
      this.#findings.violated(this.#rules.invariant, atMs, `${ip} moves from ${leader} to ${other}`);
    }
  }

  looked(atMs: number): void {
    if (!this.#rules.isBegun(atMs)) return;
    const isolated = this.#rules.isolated();
    for (const machine of this.#rules.machines) {
      if (!machine.isAwake || machine.name === isolated) continue;
      const view = machine.view();
      for (const { name, state } of view?.members ?? []) {
        if (name === isolated || state === "alive" || (this.#rules.invariant === 6 && state === "suspect")) continue;
        this.#findings.violated(this.#rules.invariant, atMs, `${machine.name} holds ${name} ${state}`);
      }
    }
    this.#findings.count(this.#rules.invariant === 6 ? "6 looked, and nothing moves" : "12 looked at others' views");
  }
}
