/** Sees when everybody agrees, so that a world is judged then and not only after the longest that agreeing may take. */
import type { Machine } from "./machine.ts";
import type { TenantView } from "./tenant.ts";
import type { Witness } from "./witness.ts";

export interface AgreementRules {
  readonly machines: readonly Machine[];
  /** Objects are on their way to somebody. */
  readonly isDelivering: () => boolean;
  /** Told at every look at which everybody agrees. */
  readonly agreed: (atMs: number) => void;
  readonly disagreed: () => void;
}

export class Agreement implements Witness {
  readonly #rules: AgreementRules;
  #seen: readonly (TenantView | undefined)[] = [];
  #isAgreed = false;

  constructor(rules: AgreementRules) {
    this.#rules = rules;
  }

  looked(atMs: number): void {
    const { machines, isDelivering, agreed, disagreed } = this.#rules;
    const views = machines.map((machine) => machine.view());
    if (views.some((view, index) => view !== this.#seen[index])) this.#isAgreed = isAgreement(machines, views);
    this.#seen = views;
    if (this.#isAgreed && !isDelivering()) agreed(atMs);
    else disagreed();
  }
}

/** All know the same, hold alive who runs and nobody else, and nothing that a node says of itself will pass with time. */
function isAgreement(machines: readonly Machine[], views: readonly (TenantView | undefined)[]): boolean {
  const running = new Set(machines.flatMap(({ name, isRunning }) => (isRunning ? [name] : [])));
  const inputs = new Set(views.flatMap((view) => (view === undefined ? [] : [view.inputs])));
  if (inputs.size > 1 || inputs.has(undefined) || machines.some(({ isRunning, isAwake }) => isRunning !== isAwake)) {
    return false;
  }
  return views.every((view) => {
    if (view === undefined) return true;
    const { isReady, isSettling, isDamped, returningLinks, members, taken } = view;
    if (!isReady || isSettling || isDamped || returningLinks.length > 0) return false;
    // Who took what another is to lead gives it back when it may: after a partition that takes up to 12 s.
    if (taken.length > 0) return false;
    const alive = members.filter(({ state }) => state === "alive");
    const areOthersGone = members.every(({ name, state }) => running.has(name) || state === "dead" || state === "left");
    return alive.length === running.size && areOthersGone;
  });
}
