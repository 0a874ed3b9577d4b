/** How a speaker's first meeting with its peers ended; the standing logic makes `ready` of it (DESIGN D4). */
import type { Core } from "./core.ts";
import { endpointKey } from "./endpoint-key.ts";
import type { Endpoint } from "./message.ts";
import type { FirstContact, PushPullOutcome } from "./swim-event.ts";

/** Peers that say nothing for this long do not keep a speaker from leading. */
const SILENCE_MS = 500;

export class FirstContactWait {
  readonly #core: Core;
  readonly #waiting = new Set<string>();
  #deadlineMs: number | undefined;

  constructor(core: Core) {
    this.#core = core;
  }

  open(dialled: readonly Endpoint[]): void {
    for (const endpoint of dialled) this.#waiting.add(endpointKey(endpoint));
    this.#deadlineMs = this.#core.nowMs + SILENCE_MS;
    if (dialled.length === 0) this.#end("no-peers");
  }

  /** An exchange ended, dialled by us or by a peer. */
  pushPullDone(endpoint: Endpoint, outcome: PushPullOutcome): void {
    if (this.#deadlineMs === undefined) return;
    if (outcome === "done") return this.#end("merged");
    this.#waiting.delete(endpointKey(endpoint));
    // Silence is waited for: a lost SYN is sent again after a second at the earliest.
    if (this.#waiting.size === 0) this.#end("all-refused");
  }

  nextDeadlineMs(): number | undefined {
    return this.#deadlineMs;
  }

  tick(): void {
    if (this.#deadlineMs !== undefined && this.#core.nowMs >= this.#deadlineMs) this.#end("silent");
  }

  #end(how: FirstContact): void {
    this.#deadlineMs = undefined;
    this.#waiting.clear();
    this.#core.emit({ kind: "first-contact", how });
  }
}
