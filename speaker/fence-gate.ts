/** The fence (DESIGN D7) as the speaker keeps it: what is done when it closes, and when it opens again. The rules are in fence.ts. */
import { type Random, shuffled } from "../src/base/random.ts";
import type { GossipDriver } from "../src/gossip/driver.ts";
import type { HeldAs } from "../src/gossip/swim-event.ts";
import {
  ASKED_MEMBERS,
  closeFence,
  expire,
  FENCE_TIMING,
  type Fence,
  type FenceTiming,
  fenceDeadlineMs,
  framesUntilMs,
  hear,
  openFence,
  turn,
} from "./fence.ts";
import type { MemberViews } from "./member-views.ts";

export interface FenceHooks {
  /** From now on no frame leaves; what is queued, unread or unsent, is dropped before anything else is done, which might send it. */
  readonly mute: (nowMs: number) => void;
  readonly unmute: (nowMs: number) => void;
  /** Hears what was missed, then asks who leads now; `asked` is called in between. */
  readonly ask: (asked: () => void) => void;
}

/** How often it closed: after a gap of our own turning, and because no watcher was heard. */
export interface FenceEntries {
  readonly gap: number;
  readonly unwatched: number;
}

export class FenceGate {
  readonly #hooks: FenceHooks;
  readonly #timing: FenceTiming;
  readonly #entries = { gap: 0, unwatched: 0 };
  #fence: Fence;
  /** Since it closed. An answer that was on its way before says how things stood before the gap. */
  #hasAsked = false;

  constructor(nowMs: number, timing: FenceTiming | undefined, hooks: FenceHooks) {
    this.#hooks = hooks;
    this.#timing = timing ?? FENCE_TIMING;
    this.#fence = openFence(nowMs);
  }

  get isMute(): boolean {
    return this.#fence.kind === "mute";
  }

  get deadlineMs(): number | undefined {
    return fenceDeadlineMs(this.#fence, this.#timing);
  }

  /** See `framesUntilMs` in fence.ts. */
  get framesUntilMs(): number {
    return framesUntilMs(this.#fence, this.#timing);
  }

  entries(): FenceEntries {
    return { ...this.#entries };
  }

  /** Every entry into the speaker passes here; true when it comes after a gap, and the fence has closed. */
  turn(nowMs: number): boolean {
    const { fence, hadGap } = turn(this.#fence, nowMs, this.#timing);
    this.#fence = fence;
    if (hadGap) this.#closed("gap", nowMs);
    return hadGap;
  }

  /** No watcher is heard any more. */
  unwatched(nowMs: number): void {
    if (this.isMute) return;
    this.#fence = closeFence(nowMs);
    this.#closed("unwatched", nowMs);
  }

  /** True when it has opened: what waited for that can be told. */
  hear(held: HeldAs, ownIncarnation: number, nowMs: number): boolean {
    if (!this.#hasAsked) return false;
    return this.#set(hear(this.#fence, held, ownIncarnation), nowMs);
  }

  /** As `hear`. */
  expire(nowMs: number): boolean {
    return this.#set(expire(this.#fence, nowMs, this.#timing), nowMs);
  }

  #closed(why: keyof FenceEntries, nowMs: number): void {
    this.#entries[why]++;
    this.#hooks.mute(nowMs);
    this.#hasAsked = false;
    this.#hooks.ask(() => {
      this.#hasAsked = true;
    });
  }

  #set(fence: Fence, nowMs: number): boolean {
    const opens = this.#fence.kind === "mute" && fence.kind === "open";
    this.#fence = fence;
    if (opens) this.#hooks.unmute(nowMs);
    return opens;
  }
}

/** Hears what was missed, then pings this node's watchers; before it has any, others. */
export function askMembers(
  gossip: GossipDriver | undefined,
  members: MemberViews,
  random: Random,
  asked: () => void,
): void {
  gossip?.afterDrain(() => {
    asked();
    const present = shuffled(members.present(), random).map(({ member }) => member);
    // Watchers know best, for they are who would have had us replaced.
    const watchers = gossip.fast?.ownWatchers() ?? [];
    const chosen = [
      ...present.filter(({ name }) => watchers.includes(name)),
      ...present.filter(({ name }) => !watchers.includes(name)),
    ].slice(0, ASKED_MEMBERS);
    gossip.command({ kind: "ping-members", names: chosen.map(({ name }) => name) });
    // Whoever holds us alive may have led in our place all the same: words that we missed come with a push/pull only.
    gossip.command({ kind: "join", endpoints: chosen.slice(0, 1).map(({ endpoint }) => endpoint) });
  });
}
