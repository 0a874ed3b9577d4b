/** What happened, line by line: hashed always, so that two runs of one seed can be compared; kept when somebody reads. */
import { createHash } from "node:crypto";

/** Lines that a failure report shows. */
const TAIL_LINES = 400;
const HASHED_AT_ONCE = 32_768;

export class Trace {
  readonly #hash = createHash("sha256");
  readonly #tail: string[] = [];
  readonly #print: ((line: string) => void) | undefined;
  #lines = 0;
  #unhashed = "";

  constructor(print?: (line: string) => void) {
    this.#print = print;
  }

  note(atMs: number, who: string, what: string): void {
    const line = `${atMs.toFixed(3)} ${who} ${what}`;
    this.#lines++;
    this.#unhashed += `${line}\n`;
    if (this.#unhashed.length >= HASHED_AT_ONCE) this.#hashAll();
    this.#print?.(line);
    if (this.#tail.push(line) > 2 * TAIL_LINES) this.#tail.splice(0, TAIL_LINES);
  }

  get lines(): number {
    return this.#lines;
  }

  /** The end of the story, for a failure report. */
  tail(lines = TAIL_LINES): readonly string[] {
    return this.#tail.slice(-lines);
  }

  /** Ends the trace. */
  digest(): string {
    this.#hashAll();
    return this.#hash.digest("hex").slice(0, 16);
  }

  #hashAll(): void {
    this.#hash.update(this.#unhashed);
    this.#unhashed = "";
  }
}
