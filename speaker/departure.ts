/** The order of a shutdown (DESIGN D8): who says goodbye before and who after its addresses were taken over. Pure. */
import type { Rule } from "../src/election/word.ts";

/** Longest wait for every address to be claimed. */
export const HANDOVER_LIMIT_MS = 12_000;
/** Longest answering after a goodbye to members that take over only then. */
export const ANSWER_AFTER_GOODBYE_MS = 2_000;

export interface Departure {
  readonly startedMs: number;
  /** When the goodbye was begun; absent before. */
  readonly goodbyeMs?: number;
  /** Under `metallb-1` others take over only after a goodbye. Fixed with the goodbye: until then the rule may change. */
  readonly goesBeforeHandover: boolean;
  readonly hasSaidGoodbye: boolean;
  readonly isReported: boolean;
}

export function startDeparture(nowMs: number): Departure {
  return { startedMs: nowMs, goesBeforeHandover: false, hasSaidGoodbye: false, isReported: false };
}

/** The departure with its goodbye begun, or as it was. `handsOver`: some address is answered here that another shall lead. */
export function beginGoodbye(departure: Departure, rule: Rule, handsOver: boolean, nowMs: number): Departure {
  if (departure.goodbyeMs !== undefined) return departure;
  const goesBeforeHandover = rule === "metallb-1";
  const isTime = goesBeforeHandover || !handsOver || nowMs >= departure.startedMs + HANDOVER_LIMIT_MS;
  return isTime ? { ...departure, goodbyeMs: nowMs, goesBeforeHandover } : departure;
}

/** It is no candidate any more, and answers only until others are heard. */
export function isGone({ goodbyeMs, goesBeforeHandover }: Departure): boolean {
  return goodbyeMs !== undefined && goesBeforeHandover;
}

export function isOver(departure: Departure, handsOver: boolean, nowMs: number): boolean {
  const { goodbyeMs, goesBeforeHandover, hasSaidGoodbye } = departure;
  if (!hasSaidGoodbye || goodbyeMs === undefined) return false;
  return !goesBeforeHandover || !handsOver || nowMs >= goodbyeMs + ANSWER_AFTER_GOODBYE_MS;
}

/** When something happens without an event; the end of a goodbye is one. */
export function departureDeadlineMs(departure: Departure): number | undefined {
  const { startedMs, goodbyeMs, isReported } = departure;
  if (isReported) return undefined;
  if (goodbyeMs === undefined) return startedMs + HANDOVER_LIMIT_MS;
  return isGone(departure) ? goodbyeMs + ANSWER_AFTER_GOODBYE_MS : undefined;
}
