/**
 * How long a node, or a link of it, that was in trouble stays behind others (DESIGN D3, D4), in one place, so that a simulation can say
 * what another number would cost. Why each is what it is stands in docs/decisions/failover-constants.md.
 */
export interface ReturnTiming {
  /** A newcomer, or a node that was held dead: the cluster has then heard of it everywhere. */
  readonly settleMs: number;
  /** A link that came up counts after so long: a flapping cable must not move addresses twice. */
  readonly linkHoldUpMs: number;
  /**
   * One that was lost and is back stays behind other nodes' links so long, and longer when it is lost too often: it may go again. It is
   * answered on all the same where nobody else can.
   */
  readonly linkReturnMs: number;
  /** So many in `dampingWindowMs` damp: one is an accident, two may be an update gone wrong and mended. */
  readonly dampingTroubles: number;
  readonly dampingWindowMs: number;
  /** For the first that damps; each further one doubles it. */
  readonly shortestDampingMs: number;
  readonly longestDampingMs: number;
}

export const RETURN_TIMING: ReturnTiming = {
  settleMs: 10_000,
  linkHoldUpMs: 2_000,
  linkReturnMs: 10_000,
  dampingTroubles: 3,
  dampingWindowMs: 10 * 60_000,
  shortestDampingMs: 60_000,
  longestDampingMs: 10 * 60_000,
};
