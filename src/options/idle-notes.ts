/** Options that were given and have no effect: what somebody wrote on the command line deserves an answer. Pure. */
import type { CommandLine } from "./command-line.ts";
import type { OptionTable } from "./option-row.ts";

/** A sentence for each. MetalLB's manifests set the variables always: those are no reason to speak. */
export function idleNotes<Name extends string>(
  { given }: CommandLine<Name>,
  { rows }: OptionTable<Name>,
  source: "files" | "kubernetes",
): string[] {
  const idle = rows.filter((row) => row.hasNoEffect === true || (row.source ?? source) !== source);
  return idle.flatMap((row) => {
    const from = given.get(row.name)?.from;
    return from?.startsWith("--") === true
      ? [`${from} is given, but has no effect${row.hasNoEffect === true ? " here" : ` with --source=${source}`}`]
      : [];
  });
}
