/**
 * The memberlist machine: SWIM with Lifeguard, and Arpeggio's rejoin and heal. Sans-I/O: events and the time in, effects out.
 * Start reading here, then members.ts (rules), probe.ts, gossip-round.ts, push-pull.ts, rejoin.ts, leave.ts.
 */
import type { Random } from "../base/random.ts";
import type { Endpoint, GossipMessage } from "./message.ts";
import type { HeldAs, Member, SwimEffect, SwimEvent } from "./swim-event.ts";
import type { Timing } from "./timing.ts";

export interface SwimOptions {
  /** At most 253 bytes of UTF-8. */
  readonly name: string;
  /** What peers are told to send to: never a wildcard. */
  readonly endpoint: Endpoint;
  readonly timing: Timing;
  readonly random: Random;
  /** Bytes of one message, its type byte first. */
  readonly encode: (message: GossipMessage) => Uint8Array;
  /** Label and encryption around a datagram. */
  readonly overheadBytes: number;
  /** Our ack payload (DESIGN D6); a payload that is not ours reads as undefined. */
  readonly encodeHeldAs: (held: HeldAs) => Uint8Array;
  readonly decodeHeldAs: (payload: Uint8Array) => HeldAs | undefined;
}

/** Monotonic counts since the start, for metrics; never read by the machine. */
export interface SwimCounters {
  readonly aliveMessages: number;
  readonly suspectMessages: number;
  readonly deadMessages: number;
  readonly probes: number;
  readonly probesDegraded: number;
  readonly probesFailed: number;
  readonly suspicionsExpired: number;
  readonly suspicionsUnconfirmed: number;
  readonly refutes: number;
  readonly nameConflicts: number;
  readonly pushPulls: number;
  readonly pushPullsFailed: number;
  readonly messagesIgnored: number;
}

export class Swim {
  constructor(options: SwimOptions) {
    void options;
  }

  /** `nowMs` is monotonic, the time at which the event was read. Never throws on what strangers send. */
  handle(event: SwimEvent, nowMs: number): SwimEffect[] {
    void event;
    void nowMs;
    return [];
  }

  /** When a `tick` is wanted next; undefined: not before another event. */
  nextDeadlineMs(): number | undefined {
    return undefined;
  }

  /** Everybody known, ourselves, dead and left ones included, in a stable order. */
  members(): readonly Member[] {
    return [];
  }

  /** Ourselves, as others are told. */
  get self(): Member {
    throw new Error("not yet");
  }

  /** 0: healthy; up to awarenessMaxMultiplier - 1. */
  healthScore(): number {
    return 0;
  }

  counters(): SwimCounters {
    throw new Error("not yet");
  }
}
