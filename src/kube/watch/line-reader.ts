/** Bytes of a watch as lines: each is one event. Pure, but for the reader's own state. */
import { MAX_OBJECT_BYTES } from "./list-reader.ts";

const LINE_END = 0x0a;

export class LineReader {
  #parts: Uint8Array[] = [];
  #bytes = 0;

  /** The lines that became whole with these bytes, without line ends; empty ones are left out. Undefined: one is too long to be any. */
  push(bytes: Uint8Array): readonly string[] | undefined {
    const lines: string[] = [];
    let begin = 0;
    for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, begin)) {
      this.#parts.push(bytes.subarray(begin, end));
      const line = Buffer.concat(this.#parts).toString("utf8");
      if (line.trim() !== "") lines.push(line);
      this.#parts = [];
      this.#bytes = 0;
      begin = end + 1;
    }
    if (begin < bytes.length) this.#parts.push(bytes.subarray(begin));
    this.#bytes += bytes.length - begin;
    return this.#bytes > MAX_OBJECT_BYTES ? undefined : lines;
  }
}
