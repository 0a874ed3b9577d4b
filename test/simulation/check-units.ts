/** Invariant 27: both families of a Service, and all Services on one address, have one leader in the eyes of every node. */
import type { ClusterSnapshot, ServiceFacts } from "../../src/desired/snapshot.ts";
import type { Ip } from "../../src/net/ip.ts";
import type { Machine } from "./machine.ts";
import type { HeldDecision } from "./tenant.ts";
import type { Findings, Witness } from "./witness.ts";

const READ_MS = 1_000;

export interface UnitRules {
  readonly machines: readonly Machine[];
  readonly snapshot: () => ClusterSnapshot;
}

export class UnitChecker implements Witness {
  readonly #rules: UnitRules;
  readonly #findings: Findings;
  readonly #judged = new WeakMap<readonly HeldDecision[], ClusterSnapshot>();
  /** When a Service was first seen as it is: nodes have read it by `READ_MS` later. */
  readonly #seenMs = new WeakMap<ServiceFacts, number>();

  constructor(rules: UnitRules, findings: Findings) {
    this.#rules = rules;
    this.#findings = findings;
  }

  looked(atMs: number): void {
    for (const machine of this.#rules.machines) {
      const view = machine.isAwake ? machine.view() : undefined;
      const snapshot = this.#rules.snapshot();
      if (view === undefined || this.#judged.get(view.decisions) === snapshot) continue;
      if (this.#judge(atMs, machine.name, view.decisions)) this.#judged.set(view.decisions, snapshot);
    }
  }

  /** Whether all could be judged. */
  #judge(atMs: number, name: string, decisions: readonly HeldDecision[]): boolean {
    let isWhole = true;
    const leaderOf = new Map<Ip, string>();
    for (const { addresses, leader } of decisions) for (const ip of addresses) leaderOf.set(ip, leader ?? "nobody");
    // Services that share an address are bound by it; so the families of each are enough.
    for (const [key, service] of this.#rules.snapshot().services) {
      const { addresses } = service;
      const seenMs = this.#seenMs.get(service) ?? (atMs < READ_MS ? Number.NEGATIVE_INFINITY : atMs);
      this.#seenMs.set(service, seenMs);
      if (atMs - seenMs < READ_MS) {
        isWhole = false;
        continue;
      }
      const decided = addresses.filter((ip) => leaderOf.has(ip as Ip));
      const leaders = new Set(decided.map((ip) => leaderOf.get(ip as Ip)));
      if (decided.length > 1) this.#findings.count("27 both families");
      if (leaders.size > 1) {
        this.#findings.violated(27, atMs, `${name} holds ${[...leaders].join(" and ")} for leaders of ${key}`);
      }
    }
    return isWhole;
  }
}
