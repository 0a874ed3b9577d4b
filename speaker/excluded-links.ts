/** MetalLB's file of links that are never answered on, excludel2.yaml. Pure. */
import { parse } from "yaml";

export type ExcludedLinks =
  /** Regular expressions that compile, to be searched anywhere in a link's name. */
  | { readonly ok: true; readonly patterns: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

const KEY = "announcedInterfacesToExclude";

/** An empty file, and one without the key, exclude nothing. */
export function parseExcludedLinks(text: string): ExcludedLinks {
  const file = parseYaml(text);
  if (!file.ok) return { ok: false, problems: [file.problem] };
  if (file.value === null || file.value === undefined) return { ok: true, patterns: [] };
  if (typeof file.value !== "object" || Array.isArray(file.value))
    return { ok: false, problems: [`it has no key ${KEY}`] };
  const list: unknown = KEY in file.value ? file.value[KEY] : undefined;
  if (list === null || list === undefined) return { ok: true, patterns: [] };
  if (!Array.isArray(list)) return { ok: false, problems: [`${KEY} is no list`] };
  const problems = list.flatMap(problemsOf);
  return problems.length === 0 ? { ok: true, patterns: list.map(String) } : { ok: false, problems };
}

function problemsOf(pattern: unknown): string[] {
  if (typeof pattern !== "string") return [`${KEY}: ${JSON.stringify(pattern)} is no text`];
  try {
    RegExp(pattern);
    return [];
  } catch {
    return [`${KEY}: "${pattern}" is no regular expression`];
  }
}

function parseYaml(
  text: string,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string } {
  try {
    return { ok: true, value: parse(text, { logLevel: "error" }) };
  } catch (error) {
    const [sentence = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    return { ok: false, problem: sentence.replace(/:$/, "") };
  }
}
