/** What a speaker is made of and what it tells: the wire thread gives it real sockets, the simulation memory. */
import type { READY_REASONS } from "../api/reasons.ts";
import type { GroupPort, PacketPort } from "../src/announcer/packet-port.ts";
import type { Clock } from "../src/base/clock.ts";
import type { Random } from "../src/base/random.ts";
import type { Trouble } from "../src/election/damping.ts";
import type { RankHeads } from "../src/election/rank-hash.ts";
import type { ReturnTiming } from "../src/election/return-timing.ts";
import type { Codec } from "../src/gossip/codec.ts";
import type { FastTiming } from "../src/gossip/fast/fast-timing.ts";
import type { Transport, Turns } from "../src/gossip/ports.ts";
import type { KeyNews } from "../src/gossip/rotating-keys.ts";
import type { Timing } from "../src/gossip/timing.ts";
import type { ServiceReportChange } from "../src/kube/write/service-report.ts";
import type { FenceTiming } from "./fence.ts";
import type { LeaderChange } from "./leadership.ts";

/** What a speaker still waits for; "ready" when nothing. */
export type Readiness = (typeof READY_REASONS)[number];

export interface PastTrouble {
  readonly kind: Trouble["kind"];
  /** When this process began. */
  readonly ageMs: number;
}

export function pastTroublesOf(troubles: readonly Trouble[], nowMs: number): readonly PastTrouble[] {
  // A wall clock that was set back must not make troubles to come.
  return troubles.map(({ kind, atMs }) => ({ kind, ageMs: Math.max(0, nowMs - atMs) }));
}

export interface SpeakerSettings {
  readonly nodeName: string;
  readonly electionCap: "auto" | "metallb" | "arpeggio";
  readonly loadBalancerClass: string;
  readonly ignoresExcludeLabel: boolean;
  readonly ignoresCordon: boolean;
  readonly excludedLinks: readonly RegExp[];
  /** Own restarts without a leave and refuted deaths, before this process began (D4), the oldest first. */
  readonly pastTroubles: readonly PastTrouble[];
  /** Nothing is known of the time before: what peers remember of it counts. Absent: it is. */
  readonly isFirstRun?: boolean;
  /** `--fast-detection`: leaders are watched closely (DESIGN D7). */
  readonly detectsFast: boolean;
  /** Whether somebody writes down what this node leads, and what nobody does: with the Kubernetes source. */
  readonly reportsServices: boolean;
  /** What is decided in one turn, in the unit of `Election`; absent: some milliseconds' worth. Tests make few addresses take as many turns as thousands do. */
  readonly turnBudget?: number;
}

export interface GossipPorts {
  readonly transport: Transport;
  readonly codec: Codec;
  readonly timing: Timing;
  /** Other numbers than DESIGN D7's: simulations say what those would cost. */
  readonly fastTiming?: FastTiming;
}

/** What the council asks of them. */
export interface CouncilPorts {
  /** Absent: gossip is off, and this node is alone. */
  readonly gossip?: GossipPorts;
  /** A fast way to the hashes of the election; absent: by `rankHeads` itself. */
  readonly rankHeads?: RankHeads;
  /** Other numbers than DESIGN D3's for who was in trouble, as `GossipPorts.fastTiming`. */
  readonly returnTiming?: ReturnTiming;
}

export interface SpeakerPorts extends CouncilPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly turns: Turns;
  /** Frames come in by `Speaker.receiveFrame`. */
  readonly packets: PacketPort;
  readonly groups: GroupPort;
  /** Other numbers for the fence than DESIGN D7's, as `GossipPorts.fastTiming`. */
  readonly fenceTiming?: FenceTiming;
}

export type SpeakerNote =
  | { readonly kind: "leaders"; readonly changes: readonly LeaderChange[] }
  /** A member was held dead `seconds` after its last sign of life. */
  | { readonly kind: "detected"; readonly node: string; readonly seconds: number }
  /** First frame for an address `seconds` after its leader was gone. */
  | { readonly kind: "took-over"; readonly seconds: number }
  | { readonly kind: "readiness"; readonly readiness: Readiness }
  /** Whether pools and advertisements count as they were read last; `refusal` is a sentence. */
  | { readonly kind: "configuration"; readonly refusal?: string }
  /**
   * What this node has to write about Services, as far as it is new; never before it is ready, the first time even if it is
   * nothing. Before `isEnd` not everything was said, so that what was not said means nothing yet.
   */
  | { readonly kind: "services"; readonly changes: readonly ServiceReportChange[]; readonly isEnd: boolean }
  /** Names of the members that are alive or suspect, this node among them; told with the services. */
  | { readonly kind: "members"; readonly names: readonly string[] }
  /** This node was held dead, and not for a broken network: one of its troubles, to be remembered. */
  | { readonly kind: "refuted-death" }
  /** Peers have told this node its troubles of before this process, of which it had no record. */
  | { readonly kind: "remembered"; readonly troubles: readonly PastTrouble[] }
  | { readonly kind: "name-conflict"; readonly node: string; readonly other: string }
  | { readonly kind: "gossip-key"; readonly news: KeyNews }
  /** Every address was handed over, or none could be, and the cluster was told. */
  | { readonly kind: "left" };
