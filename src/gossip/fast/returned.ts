/**
 * Members that were dead and are alive again (DESIGN D7): they count again only when they have answered us, so that nobody leads for
 * others who cannot be reached. They are pinged at once, and then every 100 ms.
 */
import type { Core } from "../core.ts";
import { endpointOf } from "../members.ts";
import type { PendingPings } from "../pending-pings.ts";
import type { Member, MemberChange } from "../swim-event.ts";

const PING_INTERVAL_MS = 100;
const LATE_ACK_MS = 1_000;
const MAX_NAMES = 1_024;

export class Returned {
  readonly #core: Core;
  readonly #pings: PendingPings;
  readonly #dead = new Set<string>();
  readonly #unproven = new Set<string>();
  #nextMs = Number.POSITIVE_INFINITY;

  constructor(core: Core, pings: PendingPings) {
    this.#core = core;
    this.#pings = pings;
  }

  /** Alive by hearsay, and not heard by us yet. */
  get unproven(): ReadonlySet<string> {
    return this.#unproven;
  }

  changed(change: MemberChange, { name }: Member): void {
    if (this.#core.isSelf(name)) return;
    switch (change) {
      case "dead":
        if (this.#dead.size < MAX_NAMES) this.#dead.add(name);
        this.#unproven.delete(name);
        return;
      case "left":
        this.#dead.delete(name);
        this.#unproven.delete(name);
        return;
      case "joined":
        if (!this.#dead.delete(name)) return;
        this.#unproven.add(name);
        this.#nextMs = this.#core.nowMs;
        return;
      case "suspected":
      case "alive-again":
      case "updated":
        return;
    }
  }

  /** It answered a ping of ours. */
  answered(name: string): void {
    if (this.#unproven.delete(name)) this.#core.emit({ kind: "proved-alive", name });
  }

  nextDeadlineMs(): number | undefined {
    return this.#unproven.size > 0 ? this.#nextMs : undefined;
  }

  tick(): void {
    const core = this.#core;
    if (this.#unproven.size === 0 || core.nowMs < this.#nextMs) return;
    this.#nextMs = core.nowMs + PING_INTERVAL_MS;
    for (const node of this.#unproven) {
      const endpoint = endpointOf(core, node);
      if (endpoint === undefined) continue;
      const seqNo = core.nextSeqNo();
      this.#pings.add(seqNo, { kind: "returned", node }, core.nowMs + LATE_ACK_MS);
      core.send(endpoint, core.pingOf(node, seqNo));
    }
  }
}
