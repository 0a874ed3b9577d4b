/** When a silence becomes an accusation (DESIGN D7). Pure: every number that the rule needs goes in. */

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

export const SILENT_MS = 450;
export const HUNG_MS = 1_000;
/** A lone accuser waits longer: nobody checks it. */
export const LONE_SILENT_MS = 600;
export const LONE_REFUSALS = 2;
export const REFUSAL_INTERVAL_MS = 50;
/** A deadline is never stretched beyond this. */
export const MOST_STRETCH_MS = 3_000;
/** A host is asked every 100 ms, by two ways: after so long without an answer it does not answer. */
export const HOST_FRESH_MS = 300;

/** Twice the longest silence that ended well, and at least `leastMs`. */
export function stretched(leastMs: number, longestMs: number): number {
  return Math.max(leastMs, Math.min(MOST_STRETCH_MS, 2 * longestMs));
}

/** The silence after which the member is accused, as things stand. */
export function deadlineMs({
  longestMs,
  hostAgeMs,
  isLone,
}: Pick<Ladder, "longestMs" | "hostAgeMs" | "isLone">): number {
  if (hostAgeMs <= HOST_FRESH_MS) return stretched(HUNG_MS, longestMs);
  return stretched(isLone ? LONE_SILENT_MS : SILENT_MS, longestMs);
}

/** Undefined: nothing to accuse it of yet. */
export function judge(ladder: Ladder): Evidence | undefined {
  const { silentMs, longestMs, hostAgeMs, refusals, isDeaf, isLone } = ladder;
  if (refusals >= (isLone ? LONE_REFUSALS : 1)) return "refused";
  if (isDeaf) return undefined;
  if (hostAgeMs > HOST_FRESH_MS) {
    return silentMs >= stretched(isLone ? LONE_SILENT_MS : SILENT_MS, longestMs) ? "silent" : undefined;
  }
  // A host that answers for its node address only may be behind a filter: alone, we want to have been let in.
  const isProven = !isLone || ladder.hasAccepted;
  return isProven && silentMs >= stretched(HUNG_MS, longestMs) ? "hung" : undefined;
}
