/**
 * The numbers of fast detection (DESIGN D7), in one place, so that a simulation can say what another one would cost. Why each is what
 * it is stands in docs/decisions/failover-constants.md.
 */
export interface FastTiming {
  /** A watcher pings its leader so often. */
  readonly pingIntervalMs: number;
  /** After a ping, without any sign of life: everybody who could help is asked. */
  readonly escalationMs: number;
  /** Silence after which a leader is accused whose host is silent, too. */
  readonly accuseMs: number;
  /** The same while the kernel of its host answers: its process hangs. */
  readonly hungMs: number;
  /** As `accuseMs`, for a lone accuser: nobody checks it. */
  readonly loneMs: number;
  /** Refusals of its port that a lone accuser wants. */
  readonly loneRefusals: number;
  readonly refusalIntervalMs: number;
  /** A host is asked every 100 ms, by two ways: after so long without an answer it does not answer. */
  readonly hostFreshMs: number;
  /** A deadline is at least so many times the longest silence of the last ten minutes that ended well. */
  readonly stretchFactor: number;
  /** A deadline is never stretched beyond this. */
  readonly mostStretchMs: number;
  /**
   * We asked others and none has answered for so long: we are deaf, and the silence is ours. Others are asked 150 ms after the last sign
   * of life, so this must end before 450 ms; and it must be longer than what a busy machine needs for an answer.
   */
  readonly deafMs: number;
  /** A turn so much after its deadline means that we ourselves stood, and pinged nobody: the time between proves nothing. */
  readonly lateMs: number;
  /** An accusation is said so often and so far apart. */
  readonly accusationSayings: number;
  readonly accusationIntervalMs: number;
  /** Accusations of one incarnation so far apart do not support each other. */
  readonly accusedForMs: number;
  /** Who watches a leader, and who is asked for help, at most. */
  readonly watchers: number;
  readonly helpers: number;
  /** One node gives one verdict in this time, or one for each three other members. */
  readonly brakeMs: number;
  /** A leader that no watcher has pinged for so long asks them; after more it is fenced. */
  readonly unwatchedAskMs: number;
  readonly unwatchedMs: number;
}

export const FAST_TIMING: FastTiming = {
  pingIntervalMs: 100,
  escalationMs: 50,
  accuseMs: 450,
  hungMs: 1_000,
  loneMs: 600,
  loneRefusals: 2,
  refusalIntervalMs: 50,
  hostFreshMs: 300,
  stretchFactor: 2,
  mostStretchMs: 3_000,
  deafMs: 250,
  lateMs: 100,
  accusationSayings: 5,
  accusationIntervalMs: 20,
  accusedForMs: 5_000,
  watchers: 3,
  helpers: 3,
  brakeMs: 2_000,
  unwatchedAskMs: 350,
  unwatchedMs: 500,
};
