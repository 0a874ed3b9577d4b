/** Gossip: queued broadcasts to a few random members each interval (memberlist state.go:590-642). */
import type { Core } from "./core.ts";
import { isMember } from "./member-table.ts";
import type { Member } from "./swim-event.ts";

export class GossipRound {
  readonly #core: Core;
  #nextMs = 0;

  constructor(core: Core) {
    this.#core = core;
  }

  open(): void {
    this.#nextMs = this.#core.nowMs + this.#core.random.below(this.#core.timing.gossipIntervalMs);
  }

  /** Nothing queued, nothing to wake for: news that comes after a quiet interval is passed on at once. */
  nextDeadlineMs(): number | undefined {
    return this.#core.queue.size > 0 && this.#core.timing.gossipIntervalMs > 0 ? this.#nextMs : undefined;
  }

  tick(): void {
    const core = this.#core;
    const { gossipIntervalMs, gossipNodes } = core.timing;
    if (core.queue.size === 0 || gossipIntervalMs <= 0 || core.nowMs < this.#nextMs) return;
    this.#nextMs = core.nowMs + gossipIntervalMs;
    for (const member of core.table.pick(gossipNodes, (candidate) => this.#isTarget(candidate))) {
      const parts = core.takeBroadcasts(core.partsBudgetBytes);
      if (parts.length === 0) return;
      core.sendParts(member, parts);
    }
  }

  /** The recently dead are told, too: a process that only stood still can refute then. */
  #isTarget(member: Member): boolean {
    const core = this.#core;
    if (core.isSelf(member.name)) return false;
    if (isMember(member)) return true;
    return member.state === "dead" && core.nowMs - member.sinceMs <= core.timing.gossipToTheDeadMs;
  }
}
