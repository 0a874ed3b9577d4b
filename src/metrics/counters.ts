/** What the wire thread counts, as one plain value that survives postMessage: totals since the process began, never differences. */

/** Reason from a closed set → how often. A Map survives postMessage. */
export type CountsByReason = ReadonlyMap<string, number>;

export interface FrameCounts {
  readonly ipv4: number;
  readonly ipv6: number;
}

/** Fast detection and the fence; zero where they are off. */
export interface DetectionCounters {
  readonly accusations: { readonly silent: number; readonly hung: number; readonly refused: number };
  readonly accusationsOverruled: number;
  readonly verdicts: number;
  readonly verdictsOverruled: number;
  readonly verdictsBraked: number;
  readonly fences: { readonly gap: number; readonly unwatched: number };
}

export interface WireCounters {
  readonly framesReceived: FrameCounts;
  readonly framesSent: FrameCounts;
  readonly requestsAnswered: FrameCounts;
  /** Frames that nobody asked for. */
  readonly announcementsSent: number;
  readonly packetDrops: CountsByReason;
  readonly gossipDrops: CountsByReason;
  readonly detection: DetectionCounters;
  /** Changes of leader that this node saw, one for each address, by who leads after it. */
  readonly moves: { readonly self: number; readonly other: number; readonly nobody: number };
}

/** What is known only at the moment when it happens; each value is given once. */
export interface Timings {
  /** Leader held dead, or gone, to this node's first frame for the address. */
  readonly takeoverSeconds: readonly number[];
  /** Last sign of life of a member to its being held dead. */
  readonly detectionSeconds: readonly number[];
}
