/** Which fields of an object are kept while it is parsed, as values that also say it: `kept(spec).paths` is documentation. Pure. */
import { fieldOf } from "../../desired/resource-readers.ts";

/** A part of an object that is kept; what is not named is forgotten. */
export interface Kept {
  /** Undefined: nothing of it is there. */
  readonly of: (value: unknown) => unknown;
  /** Such as `spec.taints`, `metadata.annotations under arpeggio.dev/`. */
  readonly paths: readonly string[];
}

/** As it stands. */
export const whole: Kept = { of: (value) => value, paths: [""] };

/** The named fields of an object, and no other. A value of another form stays as it is, for the schema to refuse. */
export function fields(parts: Readonly<Record<string, Kept>>): Kept {
  const all = Object.entries(parts);
  return {
    of: (value) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
      const result: Record<string, unknown> = {};
      for (const [name, part] of all) {
        const field = part.of(fieldOf(value, name));
        if (field !== undefined) result[name] = field;
      }
      return result;
    },
    paths: all.flatMap(([name, part]) => part.paths.map((path) => joined(name, path))),
  };
}

/** Of every item of an array. */
export function each(part: Kept): Kept {
  return {
    of: (value) => (Array.isArray(value) ? value.map((item) => part.of(item)) : value),
    paths: part.paths.map((path) => joined("[]", path)),
  };
}

/** The entries of a record whose keys begin with one of the prefixes. */
export function keysUnder(...prefixes: readonly string[]): Kept {
  return {
    of: (value) => {
      if (typeof value !== "object" || value === null) return undefined;
      const found = Object.entries(value).filter(([key]) => prefixes.some((prefix) => key.startsWith(prefix)));
      return found.length === 0 ? undefined : Object.fromEntries(found);
    },
    paths: [` under ${prefixes.join(", ")}`],
  };
}

function joined(name: string, path: string): string {
  return path === "" || /^[ [{]/.test(path) ? `${name}${path}` : `${name}.${path}`;
}
