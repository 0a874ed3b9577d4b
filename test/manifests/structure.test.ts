/** The structure of our CustomResourceDefinitions is MetalLB's, but for the limits and rules that we add, listed here. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";

const ROOT = join(import.meta.dirname, "../../..");

/** Keywords that our definitions have and MetalLB's have not. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  "IPAddressPool spec.addresses": ["maxItems", "minItems"],
  "IPAddressPool spec.addresses[]": ["maxLength", "x-kubernetes-validations"],
};

/** Said by the tree itself, or for people. */
const STRUCTURAL = new Set(["type", "description", "properties", "additionalProperties", "items", "required"]);

interface Schema {
  readonly type: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly [keyword: string]: unknown;
}

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: Readonly<Record<"kind" | "plural" | "singular" | "listKind", string>>;
    readonly versions: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly storage: boolean;
      readonly subresources: Readonly<Record<string, object>>;
      readonly additionalPrinterColumns: readonly Readonly<
        Record<"name" | "type" | "jsonPath", string> & { priority?: number }
      >[];
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

describe("structure of the CustomResourceDefinitions", () => {
  for (const [head, lines] of expected()) {
    const [kind = "", plural = ""] = head.split(" ");
    const definition = parse(readFileSync(join(ROOT, `manifests/crd/metallb.io_${plural}.yaml`), "utf8")) as Definition;

    it(`${kind} is MetalLB's`, () => {
      const { names, scope, group } = definition.spec;
      expect([names.kind, names.plural, names.singular, names.listKind, scope].join(" ")).to.equal(head);
      expect(`${group} ${definition.metadata.name}`).to.equal(`metallb.io ${plural}.metallb.io`);
      expect(linesOf(definition).toSorted()).to.deep.equal(lines.toSorted());
    });
  }

  it("every definition has a table", () => expect(expected()).to.have.length(4));
});

/** Heads with their lines; the types of Kubernetes are put in where they are named. */
function expected(): readonly (readonly [string, readonly string[]])[] {
  const text = readFileSync(join(ROOT, "test/manifests/metallb-structure.txt"), "utf8").replaceAll(/^#.*\n/gm, "");
  const sections = text
    .trim()
    .split("\n\n")
    .map((section) => {
      const [head = "", ...lines] = section.split("\n");
      return [head, lines.map((line) => line.slice(2))] as const;
    });
  const types = sections.filter(([head]) => head === "label selector" || head === "condition");
  const isNamed = (line: string) => types.find(([name]) => line.includes(` ${name}`));
  return sections
    .filter((section) => !types.includes(section))
    .map(([head, lines]) => [
      head,
      lines.flatMap((line) => {
        const [name, inner] = isNamed(line) ?? [];
        if (name === undefined || inner === undefined) return [line];
        const [path = ""] = line.split(" ");
        const isRequired = line.endsWith(" required") ? "object required" : "object";
        return inner.map((of) => path + (of.startsWith(" ") ? of.replace("object", isRequired) : of));
      }),
    ]);
}

function linesOf({ spec }: Definition): readonly string[] {
  const [version, ...others] = spec.versions;
  if (version === undefined || others.length > 0) throw new Error("one version is expected");
  const { name, served, storage, subresources, additionalPrinterColumns, schema } = version;
  const subresource = Object.keys(subresources).map((key) => `${key}-subresource`);
  const columns = additionalPrinterColumns.map((column) => {
    const priority = column.priority === undefined ? "" : ` priority=${column.priority}`;
    return `column ${JSON.stringify(column.name)} ${column.type} ${column.jsonPath}${priority}`;
  });
  const fields = childrenOf("", schema.openAPIV3Schema).filter(
    ([path]) => !["apiVersion", "kind", "metadata"].includes(path),
  );
  return [
    [name, served ? "served" : "", storage ? "storage" : "", ...subresource].join(" "),
    ...columns,
    ...fields.flatMap(([path, field, isRequired]) => fieldLines(spec.names.kind, path, field, isRequired)),
  ];
}

function fieldLines(kind: string, path: string, schema: Schema, isRequired: boolean): readonly string[] {
  const added = ADDED[`${kind} ${path}`] ?? [];
  const keywords = Object.keys(schema).filter((keyword) => !STRUCTURAL.has(keyword));
  for (const keyword of added) expect(keywords).to.include(keyword);
  const facts = keywords
    .filter((keyword) => !added.includes(keyword))
    .toSorted()
    .map((keyword) => factOf(keyword, schema[keyword]));
  const line = [path, schema.type, ...(isRequired ? ["required"] : []), ...facts].join(" ");
  return [line, ...childrenOf(path, schema).flatMap((child) => fieldLines(kind, ...child))];
}

function childrenOf(path: string, schema: Schema): readonly (readonly [string, Schema, boolean])[] {
  const at = path === "" ? "" : `${path}.`;
  const properties = Object.entries(schema.properties ?? {}).map(
    ([name, field]) => [at + name, field, schema.required?.includes(name) === true] as const,
  );
  return [
    ...properties,
    ...(schema.items === undefined ? [] : [[`${path}[]`, schema.items, false] as const]),
    ...(schema.additionalProperties === undefined ? [] : [[`${at}*`, schema.additionalProperties, false] as const]),
  ];
}

function factOf(keyword: string, value: unknown): string {
  if (keyword === "x-kubernetes-validations") {
    const rules = value as readonly { readonly rule: string; readonly message: string }[];
    return rules.map(({ rule, message }) => `rule=${JSON.stringify(rule)} says=${JSON.stringify(message)}`).join(" ");
  }
  return `${keyword}=${typeof value === "string" ? value : JSON.stringify(value)}`;
}
