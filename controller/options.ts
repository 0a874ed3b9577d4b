/** The command line, read once into one validated value (DESIGN §4). Pure but for the `Host` it is given. */
import { LOG_LEVELS, type LogLevel } from "../src/base/log.ts";
import type { Ip } from "../src/net/ip.ts";
import { readCommandLine } from "../src/options/command-line.ts";
import { absolute, type Host } from "../src/options/host.ts";
import { OptionReader } from "../src/options/option-reader.ts";
import {
  bad,
  type ListenAddress,
  type ParsedValue,
  parseChoice,
  parseListenAddress,
  parseSource,
  parseSwitch,
  parseText,
} from "../src/options/option-values.ts";
import { OPTIONS } from "./options-table.ts";

/** Of the controller's loopback (DESIGN D17). */
const HTTP_PORT = 17473;
const LOOPBACK = "127.0.0.1" as Ip;

export interface ControllerOptions {
  /** Of manifests. */
  readonly folder: string;
  /** Empty: Services that name no class. */
  readonly loadBalancerClass: string;
  readonly writesConditions: boolean;
  readonly http: ListenAddress;
  readonly logLevel: LogLevel;
}

export type Invocation =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "run"; readonly options: ControllerOptions }
  /** One sentence each; the process prints them all and ends with exit code 2. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

export function parseOptions(words: readonly string[], host: Pick<Host, "workingFolder">): Invocation {
  const reader = new OptionReader(readCommandLine(words, OPTIONS));
  if (reader.read("help", parseSwitch, false)) return { kind: "help" };
  if (reader.read("version", parseSwitch, false)) return { kind: "version" };
  const folder = reader.readRequired("source", parseFolder, "give --source=files:DIR, a folder of manifests");
  const options = {
    loadBalancerClass: reader.read("lb-class", parseText, ""),
    writesConditions: !reader.read("no-conditions", parseSwitch, false),
    http: reader.read("http-address", parseListenAddress, { ip: LOOPBACK, port: HTTP_PORT }),
    logLevel: reader.read("log-level", parseChoice(LOG_LEVELS), "info"),
  };
  if (folder === undefined || reader.problems.length > 0) return { kind: "invalid", problems: reader.problems };
  return { kind: "run", options: { folder: absolute(folder, host), ...options } };
}

function parseFolder(text: string): ParsedValue<string> {
  const parsed = parseSource(text);
  if (parsed.ok && parsed.value.kind === "files") return { ok: true, value: parsed.value.folder };
  return bad(
    parsed.ok
      ? "the controller of this release allocates from files only: give --source=files:DIR"
      : `"${text}" is not of the form files:DIR`,
  );
}
