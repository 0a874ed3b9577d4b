/** Label selectors as Kubernetes defines them (apimachinery, LabelSelectorAsSelector). Pure. */
import type { LabelExpression, LabelSelector } from "./snapshot.ts";

export type Labels = Readonly<Record<string, string>>;

/** All labels and all expressions hold; a selector that says nothing matches everything. */
export function selectorMatches(selector: LabelSelector, labels: Labels): boolean {
  for (const [key, value] of Object.entries(selector.matchLabels)) {
    if (labelOf(labels, key) !== value) return false;
  }
  return selector.matchExpressions.every((expression) => expressionHolds(expression, labels));
}

/** Selectors of one list are alternatives. An empty list selects everything, as MetalLB reads it. */
export function anySelectorMatches(selectors: readonly LabelSelector[], labels: Labels): boolean {
  return selectors.length === 0 || selectors.some((selector) => selectorMatches(selector, labels));
}

function expressionHolds({ key, operator, values }: LabelExpression, labels: Labels): boolean {
  const value = labelOf(labels, key);
  if (operator === "Exists") return value !== undefined;
  if (operator === "DoesNotExist") return value === undefined;
  const isListed = value !== undefined && values.includes(value);
  // A missing label is not in the list either.
  return operator === "In" ? isListed : !isListed;
}

/** Own properties only: a label called "constructor" is a label like any other. */
function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
