/** What CEL says about label selectors and lists in which nothing may stand twice; MetalLB's webhook refuses the same. */
import type { Rules, Validation, Variable } from "./policy.ts";

/** Words in which nothing may stand twice. `list` is a path below `object`; its last step names the variables. */
export function wordRules(list: string): Rules {
  const name = nameOf(list);
  const repeated = (word: string) => `variables.${name}.indexOf(${word}) != variables.${name}.lastIndexOf(${word})`;
  return {
    variables: [listVariable(list)],
    validations: [
      {
        expression: `!variables.${name}.exists(w, ${repeated("w")})`,
        messageExpression: `'${list} names "' + variables.${name}.filter(w, ${repeated("w")})[0] + '" twice'`,
      },
    ],
  };
}

/** A list of selectors, each valid, none twice. */
export function selectorRules(list: string): Rules {
  const name = nameOf(list);
  const all = `variables.${name}`;
  const repeats = `variables.${name}Repeats`;
  const expressions = expressionRules(`${list}[]`, `${name}Expressions`, `${all}.map(s, ${expressionsOf("s")})`);
  return {
    variables: [
      listVariable(list),
      { name: `${name}Repeats`, expression: `${all}.filter(s, ${all}.filter(t, ${isSame("s", "t")}).size() > 1)` },
      ...expressions.variables,
    ],
    validations: [
      {
        expression: `${repeats}.size() == 0`,
        messageExpression: `'${list}[' + string(${all}.lastIndexOf(${repeats}[${repeats}.size() - 1])) + '] repeats an entry before it'`,
      },
      ...expressions.validations,
    ],
  };
}

/** The preferences of an advertisement, each a selector; they may repeat. */
export function preferenceRules(list: string): Rules {
  const name = nameOf(list);
  const selectors = `variables.${name}.map(p, ${expressionsOf("p.preference")})`;
  const { variables, validations } = expressionRules(`${list}[].preference`, `${name}Expressions`, selectors);
  return { variables: [listVariable(list), ...variables], validations };
}

/** The rules of apimachinery's LabelSelectorAsSelector; `lists` is CEL of lists of expressions. */
function expressionRules(field: string, name: string, lists: string): Rules {
  const values = valuesOf("x");
  const first = (faults: string) => `variables.${name}${faults}[0][0]`;
  const faults: readonly (readonly [string, string, string])[] = [
    [
      "Unknown",
      "!(x.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",
      `operator "' + ${first("Unknown")}.operator + '" must be In, NotIn, Exists or DoesNotExist'`,
    ],
    [
      "Empty",
      `x.operator in ['In', 'NotIn'] && ${values}.size() == 0`,
      `values of "' + ${first("Empty")}.key + '" must not be empty with ' + ${first("Empty")}.operator`,
    ],
    [
      "Needless",
      `x.operator in ['Exists', 'DoesNotExist'] && ${values}.size() > 0`,
      `values of "' + ${first("Needless")}.key + '" must be empty with ' + ${first("Needless")}.operator`,
    ],
  ];
  const variables = faults.map(
    ([fault, isFault]): Variable => ({
      name: name + fault,
      expression: `variables.${name}.map(l, l.filter(x, ${isFault})).filter(l, l.size() > 0)`,
    }),
  );
  const validations = faults.map(
    ([fault, , sentence]): Validation => ({
      expression: `variables.${name}${fault}.size() == 0`,
      messageExpression: `'${field}.matchExpressions: ${sentence}`,
    }),
  );
  return { variables: [{ name, expression: lists }, ...variables], validations };
}

/** CEL: equal but for the order of their parts. */
function isSame(one: string, other: string): string {
  const isIn = `${expressionsOf(other)}.exists(y, y.key == x.key && y.operator == x.operator && sets.equivalent(${valuesOf("y")}, ${valuesOf("x")}))`;
  return (
    `${labelsOf(one)} == ${labelsOf(other)} && ${expressionsOf(one)}.size() == ${expressionsOf(other)}.size()` +
    ` && ${expressionsOf(one)}.all(x, ${isIn})`
  );
}

function labelsOf(selector: string): string {
  return `(has(${selector}.matchLabels) ? ${selector}.matchLabels : {})`;
}

function expressionsOf(selector: string): string {
  return `(has(${selector}.matchExpressions) ? ${selector}.matchExpressions : [])`;
}

function valuesOf(expression: string): string {
  return `(has(${expression}.values) ? ${expression}.values : [])`;
}

/** The list, empty if it is absent at any step of its path. */
function listVariable(list: string): Variable {
  const steps = list.split(".");
  const present = steps.map((_step, index) => `has(object.${steps.slice(0, index + 1).join(".")})`);
  return { name: nameOf(list), expression: `${present.join(" && ")} ? object.${list} : []` };
}

function nameOf(list: string): string {
  return list.slice(list.lastIndexOf(".") + 1);
}
