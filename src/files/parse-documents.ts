/** Text of a manifest file as documents that know their lines. YAML 1.2; JSON is a part of it. Pure. */
import { type Document, isMap, isScalar, LineCounter, parseAllDocuments } from "yaml";
import type { FieldPath } from "../desired/sentence.ts";

/** A piece of a file between document markers. */
export interface Chunk {
  readonly text: string;
  /** Line of the file, counted from 1, that the piece begins on. */
  readonly firstLine: number;
}

export interface ParsedDocument {
  readonly value: unknown;
  /** Line within the chunk, counted from 1, of the field, or of what there is of its path. */
  lineOf(path: FieldPath): number;
}

export type ParsedChunk =
  | { readonly ok: true; readonly documents: readonly ParsedDocument[] }
  | { readonly ok: false; readonly line: number; readonly message: string };

/**
 * Cuts at `---` lines, which end a document wherever they stand (YAML 1.2 §9.1.2), so that an edit of one document
 * parses one document again: the parser is slow. Pieces with nothing but comments and directives are left out.
 */
export function splitDocuments(text: string): readonly Chunk[] {
  const chunks: Chunk[] = [];
  let begin = 0;
  let line = 1;
  while (begin < text.length) {
    const marker = text.slice(begin + 1).search(/^---(?=\s|$)/m);
    const end = marker === -1 ? text.length : begin + 1 + marker;
    const piece = text.slice(begin, end);
    if (piece.split("\n").some(isContent)) chunks.push({ text: piece, firstLine: line });
    line += piece.split("\n").length - 1;
    begin = end;
  }
  return chunks;
}

/** Not blank, no comment, directive or marker. */
function isContent(line: string): boolean {
  return !/^(?:%.*|(?:---|\.\.\.)?\s*(?:#.*)?)$/.test(line);
}

/** Never throws: what is no YAML comes back as the line and the parser's message. */
export function parseChunk(text: string): ParsedChunk {
  if (/^\s*\{/.test(text)) {
    const value = parseJson(text);
    if (value !== undefined) return { ok: true, documents: [jsonDocument(text, value)] };
  }
  return parseYaml(text);
}

/** JSON.parse is many times faster; the lines are found only when somebody asks. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // YAML, or broken: its parser says where.
    return undefined;
  }
}

function jsonDocument(text: string, value: unknown): ParsedDocument {
  return {
    value,
    lineOf: (path) => {
      const parsed = parseYaml(text);
      return parsed.ok ? (parsed.documents[0]?.lineOf(path) ?? 1) : 1;
    },
  };
}

function parseYaml(text: string): ParsedChunk {
  const lines = new LineCounter();
  const documents: ParsedDocument[] = [];
  for (const document of parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })) {
    const [error] = document.errors;
    if (error !== undefined) return { ok: false, line: lines.linePos(error.pos[0]).line, message: error.message };
    const value = plainValue(document);
    if (!value.ok) return { ok: false, line: lines.linePos(document.range[0]).line, message: value.message };
    if (value.value === null) continue;
    documents.push({ value: value.value, lineOf: (path) => lineOf(document, lines, path) });
  }
  return { ok: true, documents };
}

/** Aliases that unfold without end are refused by the parser, with an exception. */
function plainValue(document: Document): { ok: true; value: unknown } | { ok: false; message: string } {
  try {
    return { ok: true, value: document.toJS() as unknown };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : "cannot be read" };
  }
}

function lineOf(document: Document, lines: LineCounter, path: FieldPath): number {
  for (let length = path.length; length >= 0; length--) {
    const offset = offsetOf(keyOrNode(document, path.slice(0, length)));
    if (offset !== undefined) return lines.linePos(offset).line;
  }
  return 1;
}

/** The key of a field, which may stand lines before its value; the item of a list. */
function keyOrNode(document: Document, path: FieldPath): unknown {
  if (path.length === 0) return document.contents;
  const parent: unknown = document.getIn(path.slice(0, -1), true);
  const step = path.at(-1);
  if (!isMap(parent)) return document.getIn(path, true);
  return parent.items.find(({ key }) => isScalar(key) && String(key.value) === step)?.key;
}

function offsetOf(node: unknown): number | undefined {
  if (typeof node !== "object" || node === null || !("range" in node) || !Array.isArray(node.range)) return undefined;
  const [start] = node.range as readonly unknown[];
  return typeof start === "number" ? start : undefined;
}
