/**
 * The fence (DESIGN D7): a speaker that stood still may have been replaced, so it stays mute until somebody has told it
 * what it missed. Pure: gaps, acks and time in, "mute" or "open" out.
 */
import type { HeldAs } from "../src/gossip/swim-event.ts";

export interface FenceTiming {
  /** A gap in our own turning that makes us ask before we answer. */
  readonly gapMs: number;
  /** Nobody answers for this long: we are alone, and go on. */
  readonly aloneMs: number;
}

/** Why each is what it is stands in docs/decisions/failover-constants.md. */
export const FENCE_TIMING: FenceTiming = { gapMs: 250, aloneMs: 300 };
/** How many members are asked. */
export const ASKED_MEMBERS = 3;

export type Fence =
  | { readonly kind: "open"; readonly lastTurnMs: number }
  | { readonly kind: "mute"; readonly lastTurnMs: number; readonly sinceMs: number };

export function openFence(nowMs: number): Fence {
  return { kind: "open", lastTurnMs: nowMs };
}

/** Whoever notices that it may have been replaced closes it. */
export function closeFence(nowMs: number): Fence {
  return { kind: "mute", lastTurnMs: nowMs, sinceMs: nowMs };
}

/** Every event and every beat passes here first. A gap closes the fence, or closes it anew. */
export function turn(
  fence: Fence,
  nowMs: number,
  { gapMs }: FenceTiming,
): { readonly fence: Fence; readonly hadGap: boolean } {
  const hadGap = nowMs - fence.lastTurnMs > gapMs;
  if (hadGap) return { fence: closeFence(nowMs), hadGap };
  return { fence: { ...fence, lastTurnMs: nowMs }, hadGap };
}

/** An answer that holds us alive at our incarnation opens; any other leaves us mute until the election has heard of it. */
export function hear(fence: Fence, held: HeldAs, ownIncarnation: number): Fence {
  if (fence.kind === "open") return fence;
  const holdsUsAlive = (held.state === "alive" || held.state === "suspect") && held.incarnation === ownIncarnation;
  return holdsUsAlive ? { kind: "open", lastTurnMs: fence.lastTurnMs } : fence;
}

/** Opens when the time alone is over: by then a verdict about us has led to an election, or nobody is there. */
export function expire(fence: Fence, nowMs: number, { aloneMs }: FenceTiming): Fence {
  if (fence.kind === "open" || nowMs - fence.sinceMs < aloneMs) return fence;
  return { kind: "open", lastTurnMs: fence.lastTurnMs };
}

/** What a turn decided to send must leave by then: whoever sends it later has stood still in between. */
export function framesUntilMs(fence: Fence, { gapMs }: FenceTiming): number {
  return fence.lastTurnMs + gapMs;
}

export function fenceDeadlineMs(fence: Fence, { aloneMs }: FenceTiming): number | undefined {
  return fence.kind === "mute" ? fence.sinceMs + aloneMs : undefined;
}
