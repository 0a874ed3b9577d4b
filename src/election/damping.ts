/**
 * A node, or a link of it, that is in trouble again and again stays behind for a while (DESIGN D3 tier 2, D4). It counts for itself: observers of
 * a flapping link do not agree. Pure; times are monotonic milliseconds, those before this process began are negative or early.
 */
import { RETURN_TIMING, type ReturnTiming } from "./return-timing.ts";

/** After that a trouble neither damps nor belongs to a window that does. */
export const TROUBLE_KEPT_MS = RETURN_TIMING.dampingWindowMs + RETURN_TIMING.longestDampingMs;
/** The longest damping needs seven: more change nothing. */
const TROUBLES_KEPT = 16;

/** A restart without a leave, or a death verdict that the node refuted. */
export interface Trouble {
  readonly kind: "restart" | "refuted-death";
  readonly atMs: number;
}

/** What others remember of a process of this node. */
export interface PastRun {
  readonly restarts: number;
  readonly refutes: number;
  /** Of the latest of both. */
  readonly ageSeconds: number;
  /** It said goodbye: what follows it is no restart. */
  readonly hasLeft: boolean;
}

/** As if all had come at the time of the latest, which alone is known: a node that crashes in a loop must not get off. */
export function troublesAfter({ restarts, refutes, ageSeconds, hasLeft }: PastRun, nowMs: number): readonly Trouble[] {
  const atMs = nowMs - ageSeconds * 1_000;
  const past = [
    ...Array.from({ length: Math.min(restarts, TROUBLES_KEPT) }, (): Trouble => ({ kind: "restart", atMs })),
    ...Array.from({ length: Math.min(refutes, TROUBLES_KEPT) }, (): Trouble => ({ kind: "refuted-death", atMs })),
  ].slice(-TROUBLES_KEPT);
  return hasLeft ? past : addTrouble(past, { kind: "restart", atMs: nowMs });
}

/** What damps when it comes too often: its time is all that counts. */
export interface Happening {
  readonly atMs: number;
}

/** In the order of time, the oldest that count no more left out. */
export function addTrouble<Of extends Happening>(troubles: readonly Of[], trouble: Of): readonly Of[] {
  return [...troubles, trouble]
    .filter(({ atMs }) => atMs > trouble.atMs - TROUBLE_KEPT_MS)
    .toSorted((a, b) => a.atMs - b.atMs)
    .slice(-TROUBLES_KEPT);
}

/** Until when the node, or a link of it, stays behind for that; undefined when it does not. */
export function dampedUntilMs(
  troubles: readonly Happening[],
  { dampingTroubles, dampingWindowMs, shortestDampingMs, longestDampingMs }: ReturnTiming = RETURN_TIMING,
): number | undefined {
  const untils = troubles.flatMap(({ atMs }) => {
    const count = troubles.filter((other) => other.atMs <= atMs && other.atMs > atMs - dampingWindowMs).length;
    const doublings = count - dampingTroubles;
    return doublings < 0 ? [] : [atMs + Math.min(shortestDampingMs * 2 ** doublings, longestDampingMs)];
  });
  return untils.length === 0 ? undefined : Math.max(...untils);
}
