/**
 * Every duration and multiplier of the swim machine, and memberlist's three presets (config.go:302-391). One value differs:
 * memberlist never lets a dead name move to another address, and so keeps a node that restarts with a new one out for
 * half a minute; here the verdict is enough.
 */

export interface Timing {
  /** Dialling, and a push/pull from first to last byte. */
  readonly tcpTimeoutMs: number;
  /** Members asked to ping a target that did not answer us. */
  readonly indirectChecks: number;
  /** A broadcast is sent retransmitMult x ceil(log10(n + 1)) times. */
  readonly retransmitMult: number;
  /** Least suspicion: suspicionMult x max(1, log10 n) x probeIntervalMs. */
  readonly suspicionMult: number;
  /** Greatest suspicion, in multiples of the least. */
  readonly suspicionMaxTimeoutMult: number;
  /** Up to 32 nodes; longer beyond. 0: never. */
  readonly pushPullIntervalMs: number;
  readonly probeTimeoutMs: number;
  readonly probeIntervalMs: number;
  /** The health score stays below this. */
  readonly awarenessMaxMultiplier: number;
  readonly gossipNodes: number;
  /** 0: no gossip beside pings. */
  readonly gossipIntervalMs: number;
  /** A dead member is gossiped to, and kept in the table, for this long. */
  readonly gossipToTheDeadMs: number;
  /** A dead name may come back from another address after more than this; 0: never while it is kept. */
  readonly deadNodeReclaimMs: number;
  readonly disablesTcpPings: boolean;
  /** Longest datagram, label and encryption included, checksum not. */
  readonly udpBufferBytes: number;
  readonly verifiesIncoming: boolean;
  readonly verifiesOutgoing: boolean;
  readonly compresses: boolean;
}

const LAN: Timing = {
  tcpTimeoutMs: 10_000,
  indirectChecks: 3,
  retransmitMult: 4,
  suspicionMult: 4,
  suspicionMaxTimeoutMult: 6,
  pushPullIntervalMs: 30_000,
  probeTimeoutMs: 500,
  probeIntervalMs: 1_000,
  awarenessMaxMultiplier: 8,
  gossipNodes: 3,
  gossipIntervalMs: 200,
  gossipToTheDeadMs: 30_000,
  deadNodeReclaimMs: 1,
  disablesTcpPings: false,
  udpBufferBytes: 1_400,
  verifiesIncoming: true,
  verifiesOutgoing: true,
  compresses: true,
};

export type TimingPreset = "lan" | "wan" | "local";

export const TIMING_PRESETS: Readonly<Record<TimingPreset, Timing>> = {
  lan: LAN,
  wan: {
    ...LAN,
    tcpTimeoutMs: 30_000,
    suspicionMult: 6,
    pushPullIntervalMs: 60_000,
    probeTimeoutMs: 3_000,
    probeIntervalMs: 5_000,
    gossipNodes: 4,
    gossipIntervalMs: 500,
    gossipToTheDeadMs: 60_000,
  },
  local: {
    ...LAN,
    tcpTimeoutMs: 1_000,
    indirectChecks: 1,
    retransmitMult: 2,
    suspicionMult: 3,
    pushPullIntervalMs: 15_000,
    probeTimeoutMs: 200,
    gossipIntervalMs: 100,
    gossipToTheDeadMs: 15_000,
  },
};
