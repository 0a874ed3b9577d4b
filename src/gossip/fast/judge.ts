/** When a silence becomes an accusation (DESIGN D7). Pure: every number that the rule needs goes in. */
import { FAST_TIMING } from "./fast-timing.ts";

/** silent: neither the process nor its host answers. hung: the host does. refused: the gossip port is closed. */
export const EVIDENCE = ["silent", "hung", "refused"] as const;
export type Evidence = (typeof EVIDENCE)[number];

export interface Ladder {
  /** Time since the last sign of life, as far as it counts. */
  readonly silentMs: number;
  /** Longest silence of the last ten minutes that ended well. */
  readonly longestMs: number;
  /** Since the host's kernel answered last; infinite when it has not during this silence. */
  readonly hostAgeMs: number;
  /** A connection was accepted during this silence. */
  readonly hasAccepted: boolean;
  /** The port refused during this silence, after it had accepted in this incarnation; refusals 50 ms apart. */
  readonly refusals: number;
  /** We asked others, and nobody answers us: the fault may be ours. */
  readonly isDeaf: boolean;
  /** Nobody else could accuse: what we find is the verdict. */
  readonly isLone: boolean;
}

/** Twice the longest silence that ended well, and at least `leastMs`. */
export function stretched(leastMs: number, longestMs: number, timing = FAST_TIMING): number {
  return Math.max(leastMs, Math.min(timing.mostStretchMs, timing.stretchFactor * longestMs));
}

/** The silence after which the member is accused, as things stand. */
export function deadlineMs(
  { longestMs, hostAgeMs, isLone }: Pick<Ladder, "longestMs" | "hostAgeMs" | "isLone">,
  timing = FAST_TIMING,
): number {
  const { hostFreshMs, hungMs, loneMs, accuseMs } = timing;
  if (hostAgeMs <= hostFreshMs) return stretched(hungMs, longestMs, timing);
  return stretched(isLone ? loneMs : accuseMs, longestMs, timing);
}

/** Undefined: nothing to accuse it of yet. */
export function judge(ladder: Ladder, timing = FAST_TIMING): Evidence | undefined {
  const { silentMs, hostAgeMs, refusals, isDeaf, isLone } = ladder;
  if (refusals >= (isLone ? timing.loneRefusals : 1)) return "refused";
  if (isDeaf || silentMs < deadlineMs(ladder, timing)) return undefined;
  if (hostAgeMs > timing.hostFreshMs) return "silent";
  // A host that answers for its node address only may be behind a filter: alone, we want to have been let in.
  return !isLone || ladder.hasAccepted ? "hung" : undefined;
}
