/** Where the API server keeps a resource. Pure. */

/** As it is applied. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    /** Absent: it belongs to no namespace. */
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  /** spec, rules, … */
  readonly [field: string]: unknown;
}

export function pathOf({ apiVersion, kind, metadata: { name, namespace } }: Resource): string {
  return `${collectionPath(apiVersion, kind, namespace)}/${name}`;
}

/** `kind` in the singular, as in the resource. */
export function collectionPath(apiVersion: string, kind: string, namespace?: string): string {
  const group = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
  const place = namespace === undefined ? "" : `/namespaces/${namespace}`;
  const word = kind.toLowerCase();
  return `${group}${place}/${word}${word.endsWith("s") ? "es" : "s"}`;
}
