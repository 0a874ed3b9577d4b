/** What is wrong with an object, as a sentence that names field and value (DESIGN §4). Pure. */
import type { TLocalizedValidationError } from "typebox/error";

/** Steps into a value: keys and indexes. */
export type FieldPath = readonly (string | number)[];

const LONGEST_VALUE = 60;

export interface Fault {
  readonly path: FieldPath;
  /** `spec.nodeSelectors[0] is 3: must be an object` */
  readonly sentence: string;
}

/** `is` shows the value that stands there. */
export function fault(path: FieldPath, value: unknown, must: string): Fault {
  const field = formatPath(path);
  return { path, sentence: value === undefined ? `${field} ${must}` : `${field} is ${formatValue(value)}: ${must}` };
}

/** The first error that a user can act on; a schema that allows null or an object complains about both. */
export function schemaFault(errors: readonly TLocalizedValidationError[], value: unknown): Fault {
  const error =
    errors.find(({ keyword, params }) => keyword !== "anyOf" && !("type" in params && params.type === "null")) ??
    errors[0];
  if (error === undefined) return fault([], value, "is not valid");
  const path = pathOf(error.instancePath, value);
  if (error.keyword === "required") {
    return fault([...path, error.params.requiredProperties[0] ?? ""], undefined, "is missing");
  }
  if (error.keyword === "boolean") return fault(path, undefined, "is no field of this kind");
  if (error.keyword === "additionalProperties") {
    return fault([...path, error.params.additionalProperties[0] ?? ""], undefined, "is no field of this kind");
  }
  return fault(path, valueAt(value, path), mustOf(error));
}

function mustOf(error: TLocalizedValidationError): string {
  const { keyword, params } = error;
  if (keyword === "type") return `must be ${article([params.type].flat().join(" or "))}`;
  if (keyword === "enum") return `must be one of ${params.allowedValues.filter((value) => value !== "").join(", ")}`;
  if (keyword === "const") return `must be ${formatValue(params.allowedValue)}`;
  if (keyword === "minimum") return `must not be less than ${params.limit}`;
  if (keyword === "maximum") return `must not be more than ${params.limit}`;
  if (keyword === "minItems" || keyword === "minLength") return "must not be empty";
  return error.message;
}

function article(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

/** Keys that are no words are quoted: `metadata.labels["example.org/zone"]`. */
function formatPath(path: FieldPath): string {
  if (path.length === 0) return "the document";
  return path
    .map((step, index) => {
      if (typeof step === "number") return `[${step}]`;
      if (!/^\w+$/.test(step)) return `[${JSON.stringify(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join("");
}

function formatValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}…`;
}

/** A JSON pointer (RFC 6901) as steps; a number is an index where an array stands. */
function pathOf(pointer: string, value: unknown): FieldPath {
  const path: (string | number)[] = [];
  for (const step of pointer.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    path.push(Array.isArray(valueAt(value, path)) ? Number(key) : key);
  }
  return path;
}

function valueAt(value: unknown, path: FieldPath): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== "object" || at === null) return undefined;
    at = Object.hasOwn(at, step) ? (at as Readonly<Record<string | number, unknown>>)[step] : undefined;
  }
  return at;
}
