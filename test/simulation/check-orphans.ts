/** Invariant 9: an address that somebody would lead is answered within 5 s, whatever anybody's view is. */
import type { Ip } from "../../src/net/ip.ts";
import { isNear } from "./check-leader.ts";
import type { Machine } from "./machine.ts";
import type { Answerer, Findings, Witness } from "./witness.ts";

const ORPHAN_MS = 5_000;
/** Nobody below the fifth in its own order takes an orphan. */
const LAST_RANK = 5;

export interface OrphanRules {
  readonly machines: readonly Machine[];
  /** Since when everybody is connected; undefined while somebody is not. */
  readonly connectedFromMs: () => number | undefined;
}

export class OrphanChecker implements Witness {
  readonly #rules: OrphanRules;
  readonly #findings: Findings;
  /** Address → since when nobody answers, and who would have led it all the time. */
  readonly #silent = new Map<Ip, { readonly sinceMs: number; willing: readonly string[] }>();

  constructor(rules: OrphanRules, findings: Findings) {
    this.#rules = rules;
    this.#findings = findings;
  }

  answered(atMs: number, ip: Ip, answerers: readonly Answerer[]): void {
    const connectedFromMs = this.#rules.connectedFromMs();
    if (answerers.length > 0 || connectedFromMs === undefined || atMs < connectedFromMs) {
      this.#silent.delete(ip);
      return;
    }
    const willing = this.#willingFor(ip);
    const known = this.#silent.get(ip);
    const throughout = known === undefined ? willing : known.willing.filter((name) => willing.includes(name));
    if (known === undefined || throughout.length === 0) {
      this.#silent.set(ip, { sinceMs: atMs, willing });
      return;
    }
    known.willing = throughout;
    if (atMs - known.sinceMs <= ORPHAN_MS) return;
    this.#findings.violated(
      9,
      atMs,
      `nobody answers for ${ip} since ${known.sinceMs.toFixed(0)} ms, and ${throughout.join(" and ")} would`,
    );
  }

  looked(): void {
    for (const machine of this.#rules.machines) {
      const { taken = [], contested = [] } = machine.isAwake ? (machine.view() ?? {}) : {};
      if (taken.length > 0) this.#findings.count("9 orphan taken");
      if (contested.length > 0) this.#findings.count("8 contest lost");
    }
  }

  #willingFor(ip: Ip): readonly string[] {
    return this.#rules.machines.flatMap((machine) => {
      const decision = machine.isAwake
        ? machine.view()?.decisions.find(({ addresses }) => addresses.includes(ip))
        : undefined;
      const place = decision?.candidates.indexOf(machine.name) ?? -1;
      const isWilling = place >= 0 && place < LAST_RANK && machine.cards.some((card) => isNear(card, ip));
      return isWilling ? [machine.name] : [];
    });
  }
}
