/**
 * What a folder of files says, with the last good form of everything that is broken now (DESIGN D2, §4). Pure: a file's state
 * follows from its state before and its text; the snapshot follows from all states.
 */
import { lastGood, overlapOf } from "../desired/last-good.ts";
import type { ClusterSnapshot, PoolFacts } from "../desired/snapshot.ts";
import { SNAPSHOT_KINDS, type SnapshotChange } from "../desired/snapshot-difference.ts";
import { compareText } from "../desired/text-order.ts";
import { type Overlays, overlaid } from "./overlay.ts";
import { parseChunk, splitDocuments } from "./parse-documents.ts";
import { type Finding, type ObjectName, type ProblemKind, type ReadDocument, readDocument } from "./read-resource.ts";

/** One thing that is wrong. `sentence` begins with `file:line: ` and can stand alone. */
export interface SourceProblem {
  readonly kind: ProblemKind | "unreadable";
  readonly file: string;
  readonly line?: number;
  readonly sentence: string;
}

/** What one piece of a file says, lines counted within the piece. */
export type ReadChunk =
  | { readonly ok: true; readonly documents: readonly ReadDocument[] }
  | { readonly ok: false; readonly line: number; readonly message: string };

interface HeldObject {
  readonly name: ObjectName;
  readonly line: number;
  readonly change: SnapshotChange;
  /** The last form of which something could be used, where that is kept. */
  readonly value?: unknown;
}

export interface FileState {
  readonly file: string;
  readonly objects: readonly HeldObject[];
  readonly problems: readonly SourceProblem[];
  /** Nothing is wrong with the text: it may be kept as the last good one. */
  readonly isGood: boolean;
  /** By kind and key: objects that are there, and of which nothing could ever be used. */
  readonly unread: readonly string[];
  /** False when there may be objects that nobody knows of. */
  readonly isWhole: boolean;
}

/** What is written, for those who need more than a snapshot. */
export interface FolderDocuments {
  /** By kind and key, such as `services default/web`. */
  readonly values: ReadonlyMap<string, unknown>;
  readonly unread: ReadonlySet<string>;
  readonly isWhole: boolean;
}

/** Depends on nothing but the text, so that the caller may remember it. */
export function readChunk(text: string, keepsValues = false): ReadChunk {
  const parsed = parseChunk(text);
  return parsed.ok
    ? { ok: true, documents: parsed.documents.map((document) => readDocument(document, keepsValues)) }
    : parsed;
}

/** Said, while all that the text says counts. */
const HARMLESS: ReadonlySet<SourceProblem["kind"]> = new Set(["ignored", "not-served", "default-stands"]);

/** A file that is broken anywhere keeps all of its last good state; an object that is refused keeps its own. */
export function readFileState(
  previous: FileState | undefined,
  file: string,
  text: string,
  read: (chunk: string) => ReadChunk = readChunk,
): FileState {
  const objects: HeldObject[] = [];
  const problems: SourceProblem[] = [];
  const unread: string[] = [];
  let hasNameless = false;
  for (const chunk of splitDocuments(text)) {
    const at = (line: number): number => chunk.firstLine + line - 1;
    const parsed = read(chunk.text);
    if (!parsed.ok) return keep(previous, file, at(parsed.line), parsed.message);
    for (const document of parsed.documents) {
      const say = (finding: Finding) => problems.push(problemOf(file, { ...finding, line: at(finding.line) }));
      for (const finding of document.findings) say(finding);
      for (const { name, line, change, value, refusal, remarks } of document.objects) {
        if (refusal !== undefined) say(refusal);
        for (const remark of remarks) say(remark);
        if (name === undefined) {
          hasNameless = true;
          continue;
        }
        const before = heldIn(previous, name);
        const known = refusal === undefined ? change : lastGood(before?.change, change);
        const kept = change === undefined ? before?.value : value;
        if (known === undefined) unread.push(keyOf(name));
        else objects.push({ name, line: at(line), change: known, ...(kept === undefined ? {} : { value: kept }) });
      }
    }
  }
  // An object that lost its name may be any that is missing now.
  if (hasNameless) objects.push(...missingFrom(objects, previous));
  const isGood = problems.every(({ kind }) => HARMLESS.has(kind));
  return { file, objects, problems, isGood, unread, isWhole: !hasNameless || previous?.isWhole === true };
}

/** A file that is listed but cannot be read keeps its last good state. */
export function unreadableFile(previous: FileState | undefined, file: string, why: string): FileState {
  const sentence = `${file}: cannot be read (${why})${hasGoodState(previous) ? ", its last good state stands" : ""}`;
  return { ...keptOf(previous), file, problems: [{ kind: "unreadable", file, sentence }], isGood: false };
}

/** All files together, by name: of two objects with one name the first stands. `overlays`: what an allocator wrote about them. */
export function mergeFiles(
  files: readonly FileState[],
  overlays: Overlays = new Map(),
): {
  readonly snapshot: ClusterSnapshot;
  readonly documents: FolderDocuments;
  readonly problems: readonly SourceProblem[];
} {
  const ordered = files.toSorted((a, b) => compareText(a.file, b.file));
  const problems: SourceProblem[] = ordered.flatMap((state) => state.problems);
  const maps = Object.fromEntries(SNAPSHOT_KINDS.map((kind) => [kind, new Map<string, unknown>()]));
  const firsts = new Map<string, string>();
  const values = new Map<string, unknown>();
  for (const { file, objects } of ordered) {
    for (const { name, line, change, value } of objects) {
      const place = `${file}:${line}`;
      const key = keyOf(name);
      const first = firsts.get(key);
      if (first !== undefined) {
        const sentence = `${name.title}: is defined at ${first} already, this one is refused`;
        problems.push(problemOf(file, { kind: "duplicate", line, sentence }));
        continue;
      }
      firsts.set(key, place);
      if (value !== undefined) values.set(key, value);
      maps[name.kind]?.set(name.key, overlaid(change, overlays.get(key)).facts);
    }
  }
  // Each map was filled from changes of its own kind.
  const snapshot = { source: "files", ...maps } as unknown as ClusterSnapshot;
  const unread = new Set(ordered.flatMap((state) => state.unread));
  const documents = { values, unread, isWhole: ordered.every(({ isWhole }) => isWhole) };
  return { snapshot, documents, problems: [...problems, ...overlaps(snapshot, firsts)] };
}

function keptOf(previous: FileState | undefined): Pick<FileState, "objects" | "unread" | "isWhole"> {
  const { objects = [], unread = [], isWhole = false } = previous ?? {};
  return { objects, unread, isWhole };
}

function hasGoodState(previous: FileState | undefined): boolean {
  return previous !== undefined && (previous.isGood || previous.objects.length > 0);
}

function keep(previous: FileState | undefined, file: string, line: number, message: string): FileState {
  const consequence = hasGoodState(previous) ? "the last good state of the file stands" : "the file is skipped";
  const problem = problemOf(file, {
    kind: "broken",
    line,
    sentence: `${message.replaceAll("\n", " ")}; ${consequence}`,
  });
  return { ...keptOf(previous), file, problems: [problem], isGood: false };
}

function problemOf(file: string, { kind, line, sentence }: Finding): SourceProblem {
  return { kind, file, line, sentence: `${file}:${line}: ${sentence}` };
}

function heldIn(state: FileState | undefined, name: ObjectName): HeldObject | undefined {
  return state?.objects.find((held) => held.name.kind === name.kind && held.name.key === name.key);
}

function keyOf({ kind, key }: ObjectName): string {
  return `${kind} ${key}`;
}

function missingFrom(objects: readonly HeldObject[], previous: FileState | undefined): readonly HeldObject[] {
  const names = new Set(objects.map(({ name }) => keyOf(name)));
  return (previous?.objects ?? []).filter(({ name }) => !names.has(keyOf(name)));
}

/** Pools that overlap are said; both count, the first by name first. */
function overlaps(snapshot: ClusterSnapshot, places: ReadonlyMap<string, string>): readonly SourceProblem[] {
  const problems: SourceProblem[] = [];
  const seen: PoolFacts[] = [];
  for (const pool of snapshot.pools.values()) {
    const other = seen.find((before) => overlapOf(before, pool) !== undefined);
    seen.push(pool);
    if (other === undefined) continue;
    const [file = "", line = "1"] = (places.get(`pools ${pool.name}`) ?? "").split(/:(?=\d+$)/);
    const sentence = `IPAddressPool ${pool.name}: spec.addresses overlaps with IPAddressPool ${other.name}`;
    problems.push(problemOf(file, { kind: "refused", line: Number(line), sentence }));
  }
  return problems;
}
