/** What a daemon's command line asks for: both daemons are asked alike. Pure. */
import { addEnvironment, type CommandLine, readCommandLine } from "./command-line.ts";
import { OptionReader } from "./option-reader.ts";
import type { OptionTable } from "./option-row.ts";
import { parseSwitch } from "./option-values.ts";

export type Invocation<Options> =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  /** `notes` are to be logged as warnings: options that were given and have no effect. */
  | { readonly kind: "run"; readonly options: Options; readonly notes: readonly string[] }
  /** One sentence each; the process prints them all and ends with exit code 2. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

type Named<Name extends string> = Name | "help" | "version";

/** How a daemon reads its own options; undefined when they are not enough, with a problem for each that is missing. */
export interface InvocationReaders<Name extends string, Options> {
  readonly options: (reader: OptionReader<Named<Name>>, isInPod: boolean) => Options | undefined;
  readonly notes: (commandLine: CommandLine<Named<Name>>, options: Options) => readonly string[];
}

export function readInvocation<Name extends string, Options>(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  table: OptionTable<Named<Name>>,
  readers: InvocationReaders<Name, Options>,
): Invocation<Options> {
  const commandLine = addEnvironment(readCommandLine(words, table), environment, table);
  const reader = new OptionReader(commandLine);
  if (reader.read("help", parseSwitch, false)) return { kind: "help" };
  if (reader.read("version", parseSwitch, false)) return { kind: "version" };
  const options = readers.options(reader, (environment["KUBERNETES_SERVICE_HOST"] ?? "") !== "");
  if (options === undefined || reader.problems.length > 0) return { kind: "invalid", problems: reader.problems };
  return { kind: "run", options, notes: readers.notes(commandLine, options) };
}
