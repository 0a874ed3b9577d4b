/** `dutiesOf` for decisions that come and go: only what has changed is worked out again. Pure, but for its own state. */
import type { Duty } from "../src/announcer/ports.ts";
import type { ListDifference } from "../src/base/list-difference.ts";
import type { Decision } from "../src/election/decision.ts";
import type { Ip } from "../src/net/ip.ts";
import { type DutyMemory, type DutyView, dutiesOfOne } from "./duties.ts";

export interface BookView extends DutyView {
  /** Who is not ready has no duty at all. */
  readonly isReady: boolean;
}

interface DutyChanges {
  readonly changes: ListDifference<Duty>;
  readonly budgetLeft: number;
}

interface Concerned {
  readonly concerned: Iterable<Decision>;
  readonly asked: number;
}

const NONE: readonly Duty[] = [];
/** Of one decision whose duties are worked out, with what the announcer does of them; in the unit of `Election`. */
const DECISION_COST = 13;
/** Of one that is only asked whether another view means anything to it: all of them are, in one turn. */
const ASKED_COST = 0.1;

export class DutyBook {
  readonly #memory: DutyMemory = new Map();
  /** Every decision, with its duties. */
  readonly #dutiesOf = new Map<Decision, readonly Duty[]>();
  readonly #decisionOf = new Map<Ip, Decision>();
  readonly #touched = new Set<Ip>();
  /** Decisions whose duties are of before: they stand until their turn. */
  readonly #queue = new Set<Decision>();
  #view: BookView | undefined;

  /** This node has begun or ceased to answer for the address, or has taken or released it. */
  touch(ip: Ip): void {
    this.#touched.add(ip);
  }

  decisionOf(ip: Ip): Decision | undefined {
    return this.#decisionOf.get(ip);
  }

  /** Every duty follows from the last view. */
  get isDone(): boolean {
    return this.#queue.size === 0;
  }

  /**
   * Takes the decisions that have changed, and gives what changed about duties, by identity. What follows from another view for all
   * decisions is worked out as far as the budget goes.
   */
  follow(decisions: ListDifference<Decision>, view: BookView, budget: number): DutyChanges {
    const changes = { gone: [] as Duty[], come: [] as Duty[] };
    for (const decision of decisions.gone) {
      changes.gone.push(...(this.#dutiesOf.get(decision) ?? NONE));
      this.#dutiesOf.delete(decision);
      this.#memory.delete(decision);
      this.#queue.delete(decision);
      for (const ip of decision.group.addresses) {
        if (this.#decisionOf.get(ip) === decision) this.#decisionOf.delete(ip);
      }
    }
    for (const decision of decisions.come) {
      this.#dutiesOf.set(decision, NONE);
      for (const ip of decision.group.addresses) this.#decisionOf.set(ip, decision);
    }
    const { concerned, asked } = this.#concerned(decisions.come, view);
    for (const decision of concerned) this.#work(decision, view, changes);
    let left = budget - ASKED_COST * asked;
    for (const decision of this.#queue) {
      if (left <= 0) break;
      left -= DECISION_COST;
      this.#work(decision, view, changes);
    }
    return { changes, budgetLeft: left };
  }

  /** Decisions whose duties may be others than before, and cannot wait; how many were asked for those that can. */
  #concerned(come: readonly Decision[], view: BookView): Concerned {
    const last = this.#view;
    this.#view = view;
    const touched = [...this.#touched].flatMap((ip) => this.#decisionOf.get(ip) ?? []);
    this.#touched.clear();
    // Others lead: it stops at once.
    if (view.wasReplaced && last?.wasReplaced !== true) return { concerned: this.#dutiesOf.keys(), asked: 0 };
    const isAlike =
      last?.incarnation === view.incarnation &&
      last.ownLabels === view.ownLabels &&
      last.wasReplaced === view.wasReplaced &&
      last.saysGoodbye === view.saysGoodbye &&
      last.isReady === view.isReady;
    const isAsking = !isAlike || last.ours !== view.ours;
    if (!isAlike) for (const decision of this.#dutiesOf.keys()) this.#queue.add(decision);
    else if (isAsking) {
      // Whom a claim goes to, or is waited for from: thousands when a node comes back from which as many were taken.
      for (const decision of this.#talkingTo(symmetricDifference(last.ours, view.ours), view))
        this.#queue.add(decision);
    }
    return { concerned: new Set([...come, ...touched]), asked: isAsking ? this.#dutiesOf.size : 0 };
  }

  /** Decisions whose duties say whether one of the members reads or sends claims. */
  #talkingTo(nodes: ReadonlySet<string>, { self, leadership, orphans }: BookView): Decision[] {
    return [...this.#dutiesOf.keys()].filter(({ leader, group }) => {
      if (leader === undefined) return false;
      if (leader !== self) return nodes.has(leader) || group.addresses.some((ip) => orphans.has(ip));
      return group.addresses.some((ip) => nodes.has(leadership.get(ip)?.previousLeader ?? ""));
    });
  }

  #work(decision: Decision, view: BookView, changes: { readonly gone: Duty[]; readonly come: Duty[] }): void {
    this.#queue.delete(decision);
    const before = this.#dutiesOf.get(decision) ?? NONE;
    const duties = view.isReady ? dutiesOfOne(decision, view, this.#memory) : NONE;
    if (duties === before) return;
    for (const duty of before) if (!duties.includes(duty)) changes.gone.push(duty);
    for (const duty of duties) if (!before.includes(duty)) changes.come.push(duty);
    this.#dutiesOf.set(decision, duties);
  }
}

function symmetricDifference(a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...[...a].filter((one) => !b.has(one)), ...[...b].filter((one) => !a.has(one))]);
}
