/**
 * The schemas of CustomResourceDefinitions: structural OpenAPI v3 as the API server wants it, made from the schemas that the speaker
 * reads with. Pure.
 */
import type { TSchema } from "typebox";

/** A rule in CEL that the API server holds a value against; `messageExpression` wins over `message` where it can be evaluated. */
export interface ValidationRule {
  readonly rule: string;
  readonly message: string;
  readonly messageExpression?: string;
}

export interface StructuralSchema {
  readonly type: "object" | "array" | "string" | "integer" | "boolean";
  readonly description?: string;
  readonly default?: unknown;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema;
  readonly items?: StructuralSchema;
  readonly "x-kubernetes-map-type"?: "atomic";
  readonly "x-kubernetes-list-type"?: "atomic" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

/** What is taken over as it stands. */
const PLAIN_KEYWORDS = [
  "type",
  "description",
  "default",
  "format",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "pattern",
  "enum",
  "required",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-validations",
] as const;

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The structural form of a schema that objects are read with. Null besides a value is left out, for the API server drops it; so is
 * the closedness of objects, for it drops unknown fields. Schemas in `replaced` stand for a type of Kubernetes with a form of its own.
 * @throws Error for a keyword that has no structural form: a fault of ours, found by the generator.
 */
export function structuralSchema(schema: TSchema, replaced: ReadonlyMap<TSchema, StructuralSchema>): StructuralSchema {
  const known = replaced.get(schema);
  if (known !== undefined) return known;
  const json = schema as JsonSchema;
  if (Array.isArray(json["anyOf"])) return structuralSchema(withoutNull(json["anyOf"] as readonly TSchema[]), replaced);
  const plain = PLAIN_KEYWORDS.flatMap((keyword) => (keyword in json ? [[keyword, json[keyword]] as const] : []));
  return {
    // TypeBox gives an enum no type; ours are of words.
    ...("enum" in json ? { type: "string" } : {}),
    ...(Object.fromEntries(plain) as unknown as StructuralSchema),
    ...(isSchema(json["items"]) ? { items: structuralSchema(json["items"], replaced) } : {}),
    ...structuralProperties(json["properties"], replaced),
  };
}

function structuralProperties(properties: unknown, replaced: ReadonlyMap<TSchema, StructuralSchema>) {
  const entries = Object.entries(isSchema(properties) ? properties : {}) as readonly [string, TSchema][];
  if (entries.length === 0) return {};
  return {
    properties: Object.fromEntries(entries.map(([name, schema]) => [name, structuralSchema(schema, replaced)])),
  };
}

function withoutNull(alternatives: readonly TSchema[]): TSchema {
  const others = alternatives.filter((alternative) => (alternative as JsonSchema)["type"] !== "null");
  const [only] = others;
  if (only === undefined || others.length > 1) throw new Error("a structural schema has no alternatives");
  return only;
}

function isSchema(value: unknown): value is TSchema {
  return typeof value === "object" && value !== null;
}
