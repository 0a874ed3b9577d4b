/** Invariant 16: a holder that lives and is in the best tier keeps a sticky address; terms never fall; settled, all remember the same. */
import type { Ip } from "../../src/net/ip.ts";
import type { Machine } from "./machine.ts";
import type { TenantView } from "./tenant.ts";
import type { Answerer, Findings, Witness } from "./witness.ts";

/** Two that answer for a moment are a hand-over; a decision takes as long to become an answer, and to be seen from outside. */
const SLACK_MS = 1_000;

export interface StickyRules {
  readonly machines: readonly Machine[];
  readonly isSettled: () => boolean;
}

export class StickyChecker implements Witness {
  readonly #rules: StickyRules;
  readonly #findings: Findings;
  /** Who answered alone, until somebody else did, too. */
  readonly #stays = new Map<Ip, { readonly node: string; readonly sinceMs: number }>();
  /** Process and address → the highest term that it has known. */
  readonly #terms = new Map<string, Map<Ip, number>>();
  /** Process, address and node → since when that process holds the node for a candidate in the best tier. */
  readonly #bestSinceMs = new Map<string, number>();
  readonly #seen = new Map<string, TenantView>();

  constructor(rules: StickyRules, findings: Findings) {
    this.#rules = rules;
    this.#findings = findings;
  }

  lifecycle(_atMs: number, machine: Machine, what: string): void {
    if (what === "frozen") return;
    this.#seen.delete(machine.name);
    this.#terms.delete(machine.name);
    for (const key of this.#bestSinceMs.keys()) if (key.startsWith(`${machine.name} `)) this.#bestSinceMs.delete(key);
  }

  looked(atMs: number): void {
    const views = this.#rules.machines.flatMap((machine) => {
      const view = machine.isAwake && !machine.isLeaving ? machine.view() : undefined;
      return view === undefined ? [] : [{ name: machine.name, view }];
    });
    for (const { name, view } of views) {
      if (this.#seen.get(name) === view) continue;
      this.#seen.set(name, view);
      this.#lookAtTerms(atMs, name, view);
      this.#lookAtTiers(atMs, name, view);
    }
    if (this.#rules.isSettled()) this.#compare(atMs, views);
  }

  #lookAtTerms(atMs: number, name: string, { holders }: TenantView): void {
    const known = this.#terms.get(name) ?? new Map<Ip, number>();
    this.#terms.set(name, known);
    for (const [ip, [holder]] of holders) {
      const before = known.get(ip) ?? 0;
      const term = holder?.term ?? 0;
      if (term > before && before > 0) this.#findings.count("16 term rose");
      if (term < before) this.#findings.violated(16, atMs, `${name} goes from term ${before} to ${term} for ${ip}`);
      known.set(ip, term);
    }
  }

  #lookAtTiers(atMs: number, name: string, { decisions }: TenantView): void {
    for (const { isSticky, addresses, tiers } of decisions) {
      if (!isSticky) continue;
      const best = Math.min(...tiers.map(({ tier }) => tier));
      for (const { name: node } of this.#rules.machines) {
        const isBest = tiers.some((one) => one.node === node && one.tier === best);
        for (const ip of addresses) {
          const key = `${name} ${ip} ${node}`;
          if (!isBest) this.#bestSinceMs.delete(key);
          else if (!this.#bestSinceMs.has(key)) this.#bestSinceMs.set(key, atMs);
        }
      }
    }
  }

  #compare(atMs: number, views: readonly { readonly name: string; readonly view: TenantView }[]): void {
    const [first, ...others] = views;
    for (const { isSticky, addresses, leader } of first?.view.decisions ?? []) {
      if (!isSticky || leader === undefined) continue;
      for (const ip of addresses) {
        const record = first?.view.holders.get(ip)?.[0];
        this.#findings.count("16 settled");
        if (record?.node !== leader)
          this.#findings.violated(16, atMs, `${leader} leads ${ip}, and ${record?.node ?? "nobody"} holds it`);
        for (const { name, view } of others) {
          const other = view.holders.get(ip)?.[0];
          if (other?.node === record?.node && other?.term === record?.term) continue;
          const text = [record, other]
            .map((one) => `${one?.node ?? "nobody"} in term ${one?.term ?? 0}`)
            .join(", and ");
          this.#findings.violated(16, atMs, `${first?.name} and ${name} remember of ${ip}: ${text}`);
        }
      }
    }
  }

  answered(atMs: number, ip: Ip, answerers: readonly Answerer[]): void {
    const [node, ...others] = new Set(answerers.map((answerer) => answerer.node));
    if (node === undefined) return;
    const before = this.#stays.get(ip);
    if (others.length > 0) {
      // A hand-over, if it was in force before; else two that did not know of each other: the higher term stays.
      if (before === undefined || !new Set([node, ...others]).has(before.node)) this.#stays.delete(ip);
      return;
    }
    if (before?.node === node) return;
    this.#stays.set(ip, { node, sinceMs: atMs });
    // Of two that took it at one time, each before it heard of the other, one gives in.
    if (before === undefined || atMs - before.sinceMs < SLACK_MS) return;
    this.#judgeMove(atMs, ip, before.node, node);
  }

  #judgeMove(atMs: number, ip: Ip, from: string, to: string): void {
    const view = this.#rules.machines.find(({ name }) => name === to)?.view();
    const decision = view?.decisions.find(({ addresses }) => addresses.includes(ip));
    if (view === undefined || decision === undefined || !decision.isSticky) return;
    this.#findings.count("16 moved");
    if (decision.leader !== to || view.taken.includes(ip)) return;
    if (decision.reason === "sticky") this.#findings.count("16 kept though another would come first");
    // It may have changed since the last look.
    const best = Math.min(...decision.tiers.map(({ tier }) => tier));
    if (!decision.tiers.some(({ node, tier }) => node === from && tier === best)) return;
    const sinceMs = this.#bestSinceMs.get(`${to} ${ip} ${from}`);
    if (sinceMs === undefined || atMs - sinceMs < SLACK_MS) return;
    this.#findings.violated(
      16,
      atMs,
      `${ip} goes from ${from} to ${to}, which holds ${from} for one in the best tier for ${(atMs - sinceMs).toFixed(0)} ms`,
    );
  }
}
