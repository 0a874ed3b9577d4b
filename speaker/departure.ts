/** The order of a shutdown (DESIGN D8): who says goodbye before and who after its addresses were taken over. Pure. */
import type { Rule } from "../src/election/word.ts";

/** Longest wait for every address to be claimed. */
export const HANDOVER_LIMIT_MS = 12_000;
/** Longest answering after a goodbye to members that take over only then. */
export const ANSWER_AFTER_GOODBYE_MS = 2_000;

export interface Departure {
  readonly startedMs: number;
  /** Under `metallb-1` others take over only after a goodbye. */
  readonly goesBeforeHandover: boolean;
  readonly isSayingGoodbye: boolean;
  readonly hasSaidGoodbye: boolean;
  readonly isReported: boolean;
}

export function startDeparture(rule: Rule, nowMs: number): Departure {
  return {
    startedMs: nowMs,
    goesBeforeHandover: rule === "metallb-1",
    isSayingGoodbye: false,
    hasSaidGoodbye: false,
    isReported: false,
  };
}

/** `handsOver`: some address is still answered here that another node shall lead. */
export function maySayGoodbye(departure: Departure, handsOver: boolean, nowMs: number): boolean {
  if (departure.isSayingGoodbye) return false;
  return departure.goesBeforeHandover || !handsOver || nowMs >= departure.startedMs + HANDOVER_LIMIT_MS;
}

export function isOver(departure: Departure, handsOver: boolean, nowMs: number): boolean {
  if (!departure.hasSaidGoodbye) return false;
  return !departure.goesBeforeHandover || !handsOver || nowMs >= departure.startedMs + ANSWER_AFTER_GOODBYE_MS;
}

export function departureDeadlineMs({ startedMs, goesBeforeHandover, isReported }: Departure): number | undefined {
  if (isReported) return undefined;
  return startedMs + (goesBeforeHandover ? ANSWER_AFTER_GOODBYE_MS : HANDOVER_LIMIT_MS);
}
