/** What the fast detector is told and what it asks for: plain values. */
import type { PROOFS_OF_LIFE } from "../../../api/reasons.ts";
import type { Evidence } from "./judge.ts";
import type { LeaderNode } from "./watchers.ts";

/** What the composition root knows: leaders follow from the election. The whole of it, whenever something of it changes. */
export interface WatchView {
  readonly leaders: readonly LeaderNode[];
  /** Members of ours that may watch: ready, alive or suspect; ourselves among them when we are. */
  readonly watchers: readonly string[];
  /** Members without a word of ours, alive or suspect: they help, and may suspect, but watch nobody. */
  readonly goMembers: readonly string[];
  /** Some link of ours carries. */
  readonly hasLink: boolean;
}

/** What proved that a process lives. relayed: an ack that came through a helper. neighbour: it answered ARP or NS for an address it leads. */
export type ProofOfLife = (typeof PROOFS_OF_LIFE)[number];

export type FastObservation =
  | { readonly kind: "view"; readonly view: WatchView; readonly members: ReadonlyMap<string, number> }
  /** A member is, or was told to be, of this incarnation and this state. */
  | { readonly kind: "member"; readonly node: string; readonly incarnation: number; readonly isPresent: boolean }
  | { readonly kind: "proof"; readonly node: string; readonly by: ProofOfLife }
  /** An answer to something that we had sent: we hear and are heard. */
  | { readonly kind: "answered"; readonly node: string }
  /** Its gossip port accepted our connection. */
  | { readonly kind: "accepted"; readonly node: string; readonly incarnation: number }
  | { readonly kind: "refused"; readonly node: string; readonly incarnation: number }
  /** Its kernel answered for the node address. */
  | { readonly kind: "host-answered"; readonly node: string }
  /** The system could not hand a datagram to it. */
  | { readonly kind: "unreachable"; readonly node: string }
  /** Somebody suspects it. */
  | { readonly kind: "accused"; readonly node: string; readonly incarnation: number; readonly by: string }
  /** It pinged us. */
  | { readonly kind: "pinged"; readonly by: string }
  | { readonly kind: "tick" };

export type FastEffect =
  /** A bare ping. */
  | { readonly kind: "ping"; readonly node: string }
  /** Indirect pings through up to three members, and a ping to each of them. */
  | { readonly kind: "ask-helpers"; readonly node: string }
  /** Unicast ARP or NS for an address that it leads and for its node address. */
  | { readonly kind: "ask-neighbour"; readonly node: string }
  | { readonly kind: "tcp-ping"; readonly node: string }
  /** We accuse it from now on. */
  | { readonly kind: "suspect"; readonly node: string; readonly incarnation: number }
  /** The accusation once more, directly to these. */
  | {
      readonly kind: "tell-suspect";
      readonly node: string;
      readonly incarnation: number;
      readonly to: readonly string[];
    }
  | { readonly kind: "dead"; readonly node: string; readonly incarnation: number }
  /** No watcher was heard for too long, though there are some (the fence). */
  | { readonly kind: "unwatched" };

/** Since the start. */
export interface FastCounters {
  readonly accusations: Readonly<Record<Evidence, number>>;
  readonly verdicts: number;
  /** Accusations of ours that ended with a sign of life, or a refutation, before a verdict. */
  readonly accusationsOverruled: number;
  /** Members that we declared dead and that refuted it within 10 s. */
  readonly verdictsOverruled: number;
  /** Verdicts that the brake has held back. */
  readonly verdictsBraked: number;
}

/** One member as this node watches it, for /status. */
export interface WatchedMember {
  readonly by: readonly string[];
  /** The rest: only when this node is among them. */
  readonly own?: {
    readonly longestSilenceMs: number;
    readonly deadlineMs: number;
    readonly lastProof: ProofOfLife;
    readonly lastProofMs: number;
    readonly isAccused: boolean;
  };
}
