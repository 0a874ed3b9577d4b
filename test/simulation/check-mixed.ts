/** Invariant 14 with Go members: while one is a member all use MetalLB's rule; settled, they name whom MetalLB's speakers would. */
import type { ClusterSnapshot } from "../../src/desired/snapshot.ts";
import type { Ip } from "../../src/net/ip.ts";
import type { Machine } from "./machine.ts";
import { metallbLeaders } from "./metallb-tenant.ts";
import type { TenantView } from "./tenant.ts";
import type { Answerer, Findings, Witness } from "./witness.ts";

/** Who joins is decided upon after sockets were read, in the next turns of the loop. */
const DECIDED_MS = 20;

export interface MixedRules {
  readonly machines: readonly Machine[];
  /** Machines that run MetalLB's speaker. */
  readonly metallb: ReadonlySet<string>;
  /** Speakers that may not follow a younger rule. */
  readonly capped: ReadonlySet<string>;
  readonly snapshot: () => ClusterSnapshot;
  readonly isSettled: () => boolean;
}

export class MixedChecker implements Witness {
  readonly #rules: MixedRules;
  readonly #findings: Findings;
  /** Since when a speaker knows of a Go member and follows a younger rule. */
  readonly #youngerSinceMs = new Map<string, number>();
  /** Asked for every address, and changes rarely. */
  #known:
    | { readonly snapshot: ClusterSnapshot; readonly names: string; readonly leaders: ReadonlyMap<Ip, string> }
    | undefined;

  constructor(rules: MixedRules, findings: Findings) {
    this.#rules = rules;
    this.#findings = findings;
  }

  looked(atMs: number): void {
    const { machines, metallb, isSettled } = this.#rules;
    const isJudged = isSettled();
    for (const machine of machines) {
      const view = machine.isAwake && !machine.isLeaving ? machine.view() : undefined;
      if (view === undefined) continue;
      if (!metallb.has(machine.name)) this.#judgeRule(atMs, machine.name, view);
      if (isJudged) this.#judgeLeaders(atMs, machine.name, view);
    }
  }

  #judgeRule(atMs: number, name: string, { members, rule }: TenantView): void {
    const without = members.find(
      (member) => member.meta === "" && (member.state === "alive" || member.state === "suspect"),
    );
    if (without === undefined) return this.#findings.count(`14 no Go member, ${rule}`);
    this.#findings.count("14 Go member");
    if (rule === "metallb-1") return void this.#youngerSinceMs.delete(name);
    const sinceMs = this.#youngerSinceMs.get(name) ?? atMs;
    this.#youngerSinceMs.set(name, sinceMs);
    if (atMs - sinceMs > DECIDED_MS)
      this.#findings.violated(14, atMs, `${name} uses ${rule}, and ${without.name} is a member without metadata`);
  }

  /** Everybody who runs is a member everywhere, and so whoever knows the rule names the same. */
  #judgeLeaders(atMs: number, name: string, { decisions }: TenantView): void {
    if (!this.#isMetallbRule()) return;
    for (const [ip, leader] of this.#expected()) {
      const held = decisions.find(({ addresses }) => addresses.includes(ip));
      this.#findings.count(this.#rules.metallb.has(name) ? "14 as the model leads" : "14 as MetalLB would lead");
      if (held?.leader !== leader)
        this.#findings.violated(14, atMs, `${name} names ${held?.leader ?? "nobody"} for ${ip}, and MetalLB ${leader}`);
    }
  }

  answered(atMs: number, ip: Ip, answerers: readonly Answerer[]): void {
    const { metallb, isSettled } = this.#rules;
    if (!isSettled() || !this.#isMetallbRule()) return;
    const leader = this.#expected().get(ip);
    if (leader === undefined) return;
    const names = [...new Set(answerers.map(({ node }) => node))];
    // What the model leads is answered by none of ours.
    const isRight = metallb.has(leader) ? names.length === 0 : names.length === 1 && names[0] === leader;
    this.#findings.count("14 answered as MetalLB would lead");
    if (!isRight)
      this.#findings.violated(14, atMs, `${names.join(" and ") || "nobody"} answers for ${ip}, and ${leader} leads it`);
  }

  #isMetallbRule(): boolean {
    const { machines, metallb, capped } = this.#rules;
    return machines.some(({ name, isRunning }) => isRunning && (metallb.has(name) || capped.has(name)));
  }

  #expected(): ReadonlyMap<Ip, string> {
    const snapshot = this.#rules.snapshot();
    const running = this.#rules.machines.flatMap(({ name, isRunning }) => (isRunning ? [name] : []));
    const names = running.join();
    if (this.#known?.snapshot !== snapshot || this.#known.names !== names) {
      this.#known = { snapshot, names, leaders: metallbLeaders(snapshot, running) };
    }
    return this.#known.leaders;
  }
}
