/** Invariants 1, 11 and 15: what speakers hold of each other and decide from it. */

import type { Ip } from "../../src/net/ip.ts";
import type { Machine } from "./machine.ts";
import type { TenantView } from "./tenant.ts";
import type { Findings, Witness } from "./witness.ts";

export interface ViewRules {
  readonly machines: readonly Machine[];
  /** From when on whoever lives must be alive everywhere; undefined while a fault is active. */
  readonly reunitedFromMs: () => number | undefined;
  /** Deaths have been detected, and whoever came back has settled. */
  readonly isSettled: () => boolean;
  /** Who sent a claim in this datagram, and for what. */
  readonly claimsIn: (bytes: Uint8Array) => readonly string[];
}

export class ViewChecker implements Witness {
  readonly #rules: ViewRules;
  readonly #findings: Findings;
  /** Nodes whose word has ever said ready: peers may still hold that word after a restart. */
  readonly #onceReady = new Set<string>();
  /** Incarnation that each running process said last. */
  readonly #incarnations = new Map<string, number>();
  /** `holder subject` → incarnation and address at which it is held dead or left. */
  readonly #deaths = new Map<string, { readonly incarnation: number; readonly ip: Ip }>();

  #judged: ReadonlyMap<string, TenantView> = new Map();
  #stage: "apart" | "reunited" | "settled" = "apart";

  constructor(rules: ViewRules, findings: Findings) {
    this.#rules = rules;
    this.#findings = findings;
  }

  lifecycle(_atMs: number, machine: Machine, what: string): void {
    if (what === "frozen") return;
    this.#incarnations.delete(machine.name);
    for (const key of this.#deaths.keys()) if (key.startsWith(`${machine.name} `)) this.#deaths.delete(key);
  }

  datagram(atMs: number, from: string, _to: unknown, bytes: Uint8Array): void {
    const claims = this.#rules.claimsIn(bytes);
    if (claims.length === 0) return;
    this.#findings.count("11 claim sent");
    const sender = this.#rules.machines.find(({ name }) => name === from)?.tenant?.flags();
    if (sender !== undefined && !sender.isReady) {
      this.#findings.violated(11, atMs, `${from} claims ${claims.join(" ")} and has not said ready`);
    }
  }

  looked(atMs: number): void {
    const views = this.#views();
    const isNew =
      views.size !== this.#judged.size || [...views].some(([name, view]) => this.#judged.get(name) !== view);
    if (!isNew && !this.#isReunionDue(atMs)) return;
    this.#judged = views;
    for (const [name, view] of views) if (view.isReady) this.#onceReady.add(name);
    this.#judgePurity(atMs, views);
    this.#judgeReadiness(atMs, views);
    this.#judgeIncarnations(atMs, views);
    this.#judgeReunion(atMs, views);
  }

  /** Time alone makes a fault of what was none: who lives must be held alive from then on, who is gone must not. */
  #isReunionDue(atMs: number): boolean {
    const fromMs = this.#rules.reunitedFromMs();
    const stage = fromMs === undefined || atMs < fromMs ? "apart" : this.#rules.isSettled() ? "settled" : "reunited";
    const isDue = stage !== this.#stage && stage !== "apart";
    this.#stage = stage;
    return isDue;
  }

  #views(): ReadonlyMap<string, TenantView> {
    const views = new Map<string, TenantView>();
    for (const machine of this.#rules.machines) {
      const view = machine.isAwake ? machine.view() : undefined;
      if (view !== undefined) views.set(machine.name, view);
    }
    return views;
  }

  /** 1: equal snapshots, members and words give equal decisions. */
  #judgePurity(atMs: number, views: ReadonlyMap<string, TenantView>): void {
    const seen = new Map<string, { readonly name: string; readonly wholes: readonly string[] }>();
    for (const machine of this.#rules.machines) {
      const view = views.get(machine.name);
      if (view === undefined || view.inputs === undefined) continue;
      const wholes = view.decisions.map(({ whole }) => whole);
      const other = seen.get(view.inputs);
      if (other === undefined) {
        seen.set(view.inputs, { name: machine.name, wholes });
        continue;
      }
      this.#findings.count("1 equal inputs");
      const index = wholes.findIndex((whole, position) => whole !== other.wholes[position]);
      if (index < 0 && wholes.length === other.wholes.length) continue;
      const both = `${other.wholes[index]}\nand\n${wholes[index]}`;
      this.#findings.violated(1, atMs, `${other.name} and ${machine.name} know the same and decide\n${both}`);
    }
  }

  /** 11: who has not said ready leads nothing in anybody's eyes. */
  #judgeReadiness(atMs: number, views: ReadonlyMap<string, TenantView>): void {
    for (const [name, view] of views) {
      if (view.isReady || this.#onceReady.has(name)) continue;
      this.#findings.count("11 not ready");
      for (const [holder, { decisions, rule }] of views) {
        const wrong = rule === "arpeggio-1" && decisions.find(({ candidates }) => candidates.includes(name));
        if (wrong)
          this.#findings.violated(
            11,
            atMs,
            `${holder} holds ${name}, which has never said ready, a candidate for ${wrong.key}`,
          );
      }
    }
  }

  /** 15, safety: the own incarnation never falls; a dead node comes back only by a higher one. */
  #judgeIncarnations(atMs: number, views: ReadonlyMap<string, TenantView>): void {
    for (const [holder, view] of views) {
      const before = this.#incarnations.get(holder) ?? 0;
      if (view.incarnation < before) {
        this.#findings.violated(15, atMs, `${holder}'s own incarnation fell from ${before} to ${view.incarnation}`);
      }
      if (view.incarnation > before && before > 0) this.#findings.count("15 incarnation rose");
      this.#incarnations.set(holder, view.incarnation);
      // A record that was reaped is forgotten, and whoever comes then is new.
      const held = new Set(view.members.map(({ name }) => `${holder} ${name}`));
      for (const key of this.#deaths.keys()) {
        if (key.startsWith(`${holder} `) && !held.has(key)) this.#deaths.delete(key);
      }
      for (const { name, ip, state, incarnation } of view.members) {
        if (name === holder) continue;
        const key = `${holder} ${name}`;
        const died = this.#deaths.get(key);
        if (state === "dead" || state === "left") {
          this.#deaths.set(key, { incarnation: Math.max(incarnation, died?.incarnation ?? 0), ip });
          this.#findings.count("15 held dead");
          continue;
        }
        if (died === undefined) continue;
        // Who comes from another address under a dead name is somebody else (memberlist's alive, rule 5).
        if (incarnation <= died.incarnation && ip === died.ip) {
          this.#findings.violated(
            15,
            atMs,
            `${holder} holds ${name} ${state} at ${incarnation}, after death at ${died.incarnation}`,
          );
        }
        this.#findings.count("15 came back");
        this.#deaths.delete(key);
      }
    }
  }

  /** 15, liveness: everybody who lives is alive everywhere, and nobody else is. */
  #judgeReunion(atMs: number, views: ReadonlyMap<string, TenantView>): void {
    const fromMs = this.#rules.reunitedFromMs();
    if (fromMs === undefined || atMs < fromMs) return;
    this.#findings.count("15 reunited");
    for (const [holder, { members }] of views) {
      const stateOf = new Map(members.map(({ name, state }) => [name, state]));
      for (const machine of this.#rules.machines) {
        const state = stateOf.get(machine.name);
        const isPresent = state === "alive" || state === "suspect";
        if (machine.isAwake && !isPresent) {
          this.#findings.violated(
            15,
            atMs,
            `${holder} holds ${machine.name}, alive and connected, ${state ?? "unknown"}`,
          );
        }
        if (!machine.isRunning && isPresent && this.#rules.isSettled()) {
          this.#findings.violated(15, atMs, `${holder} still holds ${machine.name}, which is gone, ${state}`);
        }
      }
    }
  }
}
