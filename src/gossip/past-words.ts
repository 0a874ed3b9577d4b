/**
 * Section 2 of the user state (docs/wire.md): what members that are gone, or may be soon, said last of their troubles, so that one
 * that crashed and lost its cache folder learns them from its peers (DESIGN D4). Pure.
 */
import { ByteWriter } from "./byte-writer.ts";
import { MsgpackReader } from "./msgpack-reader.ts";
import { writeMapHeader, writeText, writeUnsigned } from "./msgpack-writer.ts";
import { putNumber, readPairs } from "./user-entries.ts";

export const PAST_WORDS_SECTION = 2;
const MAX_BYTES = 16 * 1024;
const KEY = { node: 1, restarts: 2, refutes: 3, ageSeconds: 4, hasLeft: 5 } as const;

/** Of a process that was ready. */
export interface PastWord {
  readonly node: string;
  readonly restarts: number;
  readonly refutes: number;
  /** Since the latest of both. */
  readonly ageSeconds: number;
  /** It said goodbye: that it is gone is no trouble. */
  readonly hasLeft: boolean;
}

/** As many of the first as fit. */
export function encodePastWords(words: readonly PastWord[]): Uint8Array {
  const writer = new ByteWriter(1_024);
  const scratch = new ByteWriter(256);
  for (const { node, restarts, refutes, ageSeconds, hasLeft } of words) {
    scratch.clear();
    writeMapHeader(scratch, 5);
    writeUnsigned(scratch, KEY.node);
    writeText(scratch, node);
    const numbers = { restarts, refutes, ageSeconds, hasLeft: hasLeft ? 1 : 0 } as const;
    for (const name of ["restarts", "refutes", "ageSeconds", "hasLeft"] as const) {
      putNumber(scratch, KEY[name], numbers[name]);
    }
    const entry = scratch.finish();
    if (writer.length + entry.length > MAX_BYTES) break;
    writer.bytes(entry);
  }
  return writer.finish();
}

/** Those before a broken one stand. */
export function decodePastWords(bytes: Uint8Array): readonly PastWord[] {
  const words: PastWord[] = [];
  const reader = new MsgpackReader(bytes);
  while (reader.offset < bytes.length && reader.fault === undefined) {
    const word = readWord(reader);
    if (reader.fault === undefined && word.node !== "") words.push(word);
  }
  return words;
}

function readWord(reader: MsgpackReader): PastWord {
  let node = "";
  const numbers = new Map<number, number>();
  readPairs(reader, (key) => {
    if (key === KEY.node) node = reader.readText();
    else if (key > KEY.node && key <= KEY.hasLeft) numbers.set(key, reader.readInteger(0, 0xffff_ffff));
    else reader.skip();
  });
  return {
    node,
    restarts: Math.min(numbers.get(KEY.restarts) ?? 0, 0xff),
    refutes: Math.min(numbers.get(KEY.refutes) ?? 0, 0xff),
    ageSeconds: numbers.get(KEY.ageSeconds) ?? 0,
    hasLeft: numbers.get(KEY.hasLeft) === 1,
  };
}
