/** What happened, line by line: hashed always, so that two runs of one seed can be compared; kept when somebody reads. */
import { createHash } from "node:crypto";

/** Lines that a failure report shows. */
const TAIL_LINES = 400;

export class Trace {
  readonly #hash = createHash("sha256");
  readonly #tail: string[] = [];
  readonly #print: ((line: string) => void) | undefined;
  #lines = 0;

  constructor(print?: (line: string) => void) {
    this.#print = print;
  }

  note(atMs: number, who: string, what: string): void {
    const line = `${atMs.toFixed(3)} ${who} ${what}`;
    this.#lines++;
    this.#hash.update(line).update("\n");
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
    return this.#hash.digest("hex").slice(0, 16);
  }
}
