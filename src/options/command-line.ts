/** Reads a command line as Go's flag package does, because MetalLB's manifests are written for it. Pure. */
import type { OptionTable } from "./option-row.ts";

/** A value as written, and the name under which it was given, for sentences about it. */
export interface GivenValue {
  readonly text: string;
  readonly from: string;
}

export interface CommandLine<Name extends string> {
  readonly given: ReadonlyMap<Name, GivenValue>;
  readonly problems: readonly string[];
}

/**
 * `-name value`, `--name value`, `-name=value`; a switch takes a value only after "=". The last of several wins.
 * Unlike Go, all that is wrong is listed, and a word that looks like an option is never taken for a value.
 */
export function readCommandLine<Name extends string>(
  words: readonly string[],
  table: OptionTable<Name>,
): CommandLine<Name> {
  const given = new Map<Name, GivenValue>();
  const problems: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const match = /^--?([^-=][^=]*)(?:=(.*))?$/s.exec(words[index] ?? "");
    if (match === null) {
      problems.push(`"${words[index]}" is not an option`);
      continue;
    }
    const [, written = "", attached] = match;
    const name = written === "h" ? "help" : written;
    const row = table.rows.find((candidate) => candidate.name === name);
    const next = words[index + 1];
    const nextIsValue = next !== undefined && !next.startsWith("-");
    if (row === undefined) {
      problems.push(unknownOption(name, table));
      // What follows is most likely its value: one mistake is one problem.
      if (attached === undefined && nextIsValue) index++;
      continue;
    }
    const from = `--${row.name}`;
    if (attached !== undefined) given.set(row.name, { text: attached, from });
    else if (row.placeholder === undefined) given.set(row.name, { text: "true", from });
    else if (nextIsValue) {
      given.set(row.name, { text: next, from });
      index++;
    } else problems.push(`${from} needs a value: ${row.placeholder}`);
  }
  return { given, problems };
}

/** Adds what environment variables say about options that the command line does not name. */
export function addEnvironment<Name extends string>(
  commandLine: CommandLine<Name>,
  environment: Readonly<Record<string, string | undefined>>,
  table: OptionTable<Name>,
): CommandLine<Name> {
  const given = new Map(commandLine.given);
  for (const { name, variable } of table.rows) {
    const text = variable === undefined ? undefined : environment[variable];
    if (text === undefined || text === "" || variable === undefined || given.has(name)) continue;
    given.set(name, { text, from: variable });
  }
  return { ...commandLine, given };
}

function unknownOption(name: string, { program, rows }: OptionTable<string>): string {
  const near = rows.map((row) => row.name).find((known) => editDistance(known, name) <= 2);
  return `--${name} is not an option of the ${program}${near === undefined ? "" : `; is --${near} meant?`}`;
}

/** Levenshtein's: letters to insert, delete or replace. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
