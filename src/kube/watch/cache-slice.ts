/** One kind of a snapshot as bytes and back: a line for each object, gzip. Long work is done in pieces, with pauses for the event loop. */
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";

/** Another format is another program's: it is not read. */
const FORMAT = 1;
/** Objects between two pauses: about 5 ms. */
const PIECE = 500;
/** Of the text of one slice. */
const MAX_TEXT_BYTES = 128 * 1_024 * 1_024;

export async function encodeSlice(objects: ReadonlyMap<string, unknown>): Promise<Uint8Array> {
  const lines = [JSON.stringify({ format: FORMAT })];
  for (const entry of objects) {
    lines.push(JSON.stringify(entry, withBigInts));
    if (lines.length % PIECE === 0) await setImmediate();
  }
  return promisify(gzip)(Buffer.from(`${lines.join("\n")}\n`), { level: 1 });
}

/** Undefined for what is no slice. */
export async function decodeSlice(bytes: Uint8Array): Promise<ReadonlyMap<string, unknown> | undefined> {
  try {
    const text = (await promisify(gunzip)(bytes, { maxOutputLength: MAX_TEXT_BYTES })).toString("utf8");
    const [header = "", ...lines] = text.trimEnd().split("\n");
    if ((JSON.parse(header) as { readonly format?: unknown }).format !== FORMAT) return undefined;
    const objects = new Map<string, unknown>();
    for (const line of lines) {
      const [key, value] = JSON.parse(line, fromBigInts) as readonly [string, unknown];
      objects.set(key, value);
      if (objects.size % PIECE === 0) await setImmediate();
    }
    return objects;
  } catch {
    return undefined;
  }
}

/** Ranges of pools are bigints, which JSON has not. */
function withBigInts(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? { bigint: String(value) } : value;
}

function fromBigInts(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("bigint" in value)) return value;
  return typeof value.bigint === "string" && Object.keys(value).length === 1 ? BigInt(value.bigint) : value;
}
