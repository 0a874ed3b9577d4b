/** What CEL says about label selectors and lists in which nothing may stand twice; MetalLB's webhook refuses the same. */
import type { Validation } from "./policy.ts";

/** Words in which nothing may stand twice. `list` is a path below `object`. */
export function noRepeatedWord(list: string): Validation {
  const words = optional(list);
  return {
    expression: `${words}.all(w, ${words}.indexOf(w) == ${words}.lastIndexOf(w))`,
    messageExpression: `'${list} names "' + ${words}.filter(w, ${words}.indexOf(w) != ${words}.lastIndexOf(w))[0] + '" twice'`,
  };
}

/** A list of selectors, each valid, none twice. */
export function selectorValidations(list: string): readonly Validation[] {
  const selectors = optional(list);
  const repeated = `${selectors}.filter(s, ${selectors}.filter(t, ${isSame("s", "t")}).size() > 1)`;
  return [
    {
      expression: `${repeated}.size() == 0`,
      messageExpression: `'${list}[' + string(${selectors}.lastIndexOf(${repeated}[${repeated}.size() - 1])) + '] repeats an entry before it'`,
    },
    ...expressionValidations(`${list}[]`, `${selectors}.map(s, ${expressionsOf("s")})`),
  ];
}

/** The preferences of an advertisement, each a selector; they may repeat. */
export function preferenceValidations(list: string): readonly Validation[] {
  return expressionValidations(`${list}[].preference`, `${optional(list)}.map(p, ${expressionsOf("p.preference")})`);
}

/** The rules of apimachinery's LabelSelectorAsSelector; `lists` is CEL of lists of expressions. */
function expressionValidations(field: string, lists: string): readonly Validation[] {
  const wrong = (predicate: string) => `${lists}.filter(l, l.exists(x, ${predicate}))`;
  const first = (predicate: string) => `${wrong(predicate)}[0].filter(x, ${predicate})[0]`;
  const unknown = `!(x.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])`;
  const empty = `x.operator in ['In', 'NotIn'] && ${valuesOf("x")}.size() == 0`;
  const needless = `x.operator in ['Exists', 'DoesNotExist'] && ${valuesOf("x")}.size() > 0`;
  const none = (predicate: string) => `${lists}.all(l, !l.exists(x, ${predicate}))`;
  return [
    {
      expression: none(unknown),
      messageExpression: `'${field}.matchExpressions: operator "' + ${first(unknown)}.operator + '" must be In, NotIn, Exists or DoesNotExist'`,
    },
    {
      expression: none(empty),
      messageExpression: `'${field}.matchExpressions: values of "' + ${first(empty)}.key + '" must not be empty with ' + ${first(empty)}.operator`,
    },
    {
      expression: none(needless),
      messageExpression: `'${field}.matchExpressions: values of "' + ${first(needless)}.key + '" must be empty with ' + ${first(needless)}.operator`,
    },
  ];
}

/** CEL: equal but for the order of their parts. */
function isSame(one: string, other: string): string {
  const labels = (selector: string) => `(has(${selector}.matchLabels) ? ${selector}.matchLabels : {})`;
  const isIn = `${expressionsOf(other)}.exists(y, y.key == x.key && y.operator == x.operator && sets.equivalent(${valuesOf("y")}, ${valuesOf("x")}))`;
  return (
    `${labels(one)} == ${labels(other)} && ${expressionsOf(one)}.size() == ${expressionsOf(other)}.size()` +
    ` && ${expressionsOf(one)}.all(x, ${isIn})`
  );
}

function expressionsOf(selector: string): string {
  return `(has(${selector}.matchExpressions) ? ${selector}.matchExpressions : [])`;
}

function valuesOf(expression: string): string {
  return `(has(${expression}.values) ? ${expression}.values : [])`;
}

/** CEL of a list below `object` that may be absent, at any step of its path. */
function optional(list: string): string {
  const steps = list.split(".");
  const present = steps.map((_step, index) => `has(object.${steps.slice(0, index + 1).join(".")})`);
  return `(${present.join(" && ")} ? object.${list} : [])`;
}
