/** The files that options name, read once at start. All that is wrong in them is listed, as with options. */
import { errnoOf } from "../src/base/errors.ts";
import type { KeyFiles } from "../src/gossip/key-rotation.ts";
import { TIMING_PRESETS, type Timing } from "../src/gossip/timing.ts";
import { parseTimingFile } from "../src/gossip/timing-file.ts";
import { parseExcludedLinks } from "./excluded-links.ts";
import { keysOf } from "./key-files.ts";
import type { SpeakerOptions } from "./options.ts";

export interface SpeakerConfig {
  /** Absent: gossip is not encrypted, or off. */
  readonly keys?: KeyFiles;
  readonly timing: Timing;
  /** Regular expressions of link names that are never answered on. */
  readonly excludedLinks: readonly string[];
}

export type ConfigReading =
  | { readonly ok: true; readonly config: SpeakerConfig }
  | { readonly ok: false; readonly problems: readonly string[] };

/** `readFile` may throw: what it says is one of the problems. */
export async function readConfigFiles(
  { gossip, excludeLinksFile }: SpeakerOptions,
  readFile: (path: string) => Promise<Uint8Array>,
): Promise<ConfigReading> {
  const problems: string[] = [];
  const read = async (path: string): Promise<Uint8Array | undefined> => {
    try {
      return await readFile(path);
    } catch (error) {
      problems.push(`${path} cannot be read: ${errnoOf(error)}`);
      return undefined;
    }
  };
  const refuse = (path: string, sentences: readonly string[]) => {
    for (const sentence of sentences) problems.push(`${path}: ${sentence}`);
  };

  const keyFile = gossip?.secretKeyFile;
  const secret = keyFile === undefined ? undefined : await read(keyFile);
  if (keyFile !== undefined && secret?.length === 0) refuse(keyFile, ["the key is empty"]);
  // What is wrong with the second file is of no account: it is there for the few minutes of an exchange.
  const previous = secret === undefined ? undefined : await readFile(`${keyFile}.previous`).catch(() => undefined);
  const keys = secret === undefined ? undefined : keysOf(secret, previous);

  let timing = TIMING_PRESETS[gossip?.timing.kind === "wan" ? "wan" : "lan"];
  if (gossip?.timing.kind === "file") {
    const bytes = await read(gossip.timing.path);
    const file = bytes === undefined ? undefined : parseTimingFile(textOf(bytes));
    if (file?.ok === true) timing = file.timing;
    else refuse(gossip.timing.path, file?.problems ?? []);
  }

  const bytes = excludeLinksFile === undefined ? undefined : await read(excludeLinksFile);
  const excluded = bytes === undefined ? undefined : parseExcludedLinks(textOf(bytes));
  if (excludeLinksFile !== undefined && excluded?.ok === false) refuse(excludeLinksFile, excluded.problems);

  if (problems.length > 0) return { ok: false, problems };
  const excludedLinks = excluded?.ok === true ? excluded.patterns : [];
  return { ok: true, config: { ...(keys === undefined ? {} : { keys }), timing, excludedLinks } };
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
