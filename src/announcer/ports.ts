/** What the announcer is told and what it asks for: plain values, so that it knows no socket, clock, gossip or election. */
import type { AddressSet } from "../net/address-set.ts";
import type { Family, Ip } from "../net/ip.ts";
import type { Mac } from "../net/mac.ts";
import type { Prefix } from "../net/prefix.ts";
import type { ArpDrop } from "../packet/arp.ts";
import type { NdpDrop } from "../packet/ndp.ts";
import type { Claimant } from "./contest.ts";

/** A link that may be answered on. */
export interface AnnounceLink {
  readonly index: number;
  readonly name: string;
  readonly mac: Mac;
  /** All of DESIGN D3's "usable link": kernel facts, hold-up of 2 s, not excluded. */
  readonly isUsable: boolean;
  /** What the kernel itself holds on it: whoever asks for an IPv6 address asks from one of them. */
  readonly addresses: readonly Ip[];
  readonly prefixes: readonly Prefix[];
}

/** The comparison basis of a claim (DESIGN D8, D9), as sent, never recomputed by the receiver. */
export interface ClaimBasis {
  readonly incarnation: number;
  readonly rule: string;
  readonly term: number;
  /** Revision of the API up to which everything that counts was read; 0: not comparable. */
  readonly freshness: number;
  readonly tier: number;
  readonly score: number;
  readonly endpointClass: string;
  readonly hash: string;
}

/** What of it follows from a decision; how fresh the view is, is the same for all and changes all the time. */
export type DutyBasis = Omit<ClaimBasis, "freshness">;

/** What this node has to do for one address. Addresses without a duty are answered for by nobody here. */
export interface Duty {
  readonly ip: Ip;
  /** The group's key: a hand-over moves whole groups. */
  readonly group: string;
  /** Link names that the advertisements allow; empty means every link. */
  readonly interfaces: readonly string[];
  /**
   * lead: answer. second: watch (the filter lets its packets pass), do not answer.
   * moved: lost a planned election; go on answering until the new leader is known to answer (its claim, or its frame).
   * A node that became ineligible has no duty, and stops at once.
   */
  readonly role: "lead" | "second" | "moved";
  readonly basis: DutyBasis;
  /** The member that led before, when it is alive and one of ours: the claim goes to it until it says yielded. */
  readonly previousLeader?: string;
  readonly second?: string;
  /** Whoever else is to hear the claim: all members, when an orphan is taken (DESIGN D9). */
  readonly others?: readonly string[];
  /** Answered only while this node holds a lease for it (a strict address): nobody answers rather than two. */
  readonly needsLease?: true;
  /** For "moved": who leads now, and whether it sends claims (a Go member does not). */
  readonly nextLeader?: { readonly node: string; readonly sendsClaims: boolean };
}

export interface Claim {
  readonly kind: "claim";
  readonly group: string;
  readonly addresses: readonly Ip[];
  readonly node: string;
  readonly basis: ClaimBasis;
}

export interface Yielded {
  readonly kind: "yielded";
  readonly group: string;
  readonly addresses: readonly Ip[];
  readonly node: string;
}

/**
 * "Do you lead these?" (`lead?` of DESIGN D4, D9). Asked once a second by a leader that a better claim has silenced, so that
 * nobody stays silent for a winner that has gone, and by one that hands over and hears no claim. A leader answers with its
 * claim, everybody else with "yielded".
 */
export interface LeadQuestion {
  readonly kind: "lead-question";
  readonly group: string;
  readonly addresses: readonly Ip[];
  readonly node: string;
  /** Of one that would lead them, and is silent because of a better claim: what it claimed with. */
  readonly basis?: ClaimBasis;
}

/**
 * Whether the sender leads these (`lead` of DESIGN D4): said unasked by who begins to or ceases, and as an answer. One message may be
 * about the first addresses of several groups.
 */
export interface LeadAnswer {
  readonly kind: "lead";
  readonly group: string;
  readonly addresses: readonly Ip[];
  readonly node: string;
  readonly leads: boolean;
  /** Why not; empty when it leads. A word of `LEAD_REASONS`, or of a later version. */
  readonly reason: string;
  /** Who leads in the sender's eyes, or keeps it silent. */
  readonly leader?: string;
  /** As in a claim. */
  readonly freshness: number;
}

export type HandoverMessage = Claim | Yielded | LeadQuestion | LeadAnswer;

/** A member's links, so that a frame of a member is never taken for a stranger's. Gone members may be listed for a while. */
export interface MemberMacs {
  readonly node: string;
  readonly macs: readonly Mac[];
}

export type AnnouncerEvent =
  | { readonly kind: "links"; readonly links: readonly AnnounceLink[] }
  /** What is different from before: duties that are gone, and those that are new or stand in another's place. */
  | { readonly kind: "duty-changes"; readonly gone: readonly Duty[]; readonly come: readonly Duty[] }
  /** How new this node's view is, from now on; before it is told, 0. */
  | { readonly kind: "freshness"; readonly freshness: number }
  | { readonly kind: "members"; readonly members: readonly MemberMacs[] }
  /** All that one datagram brought. */
  | { readonly kind: "messages"; readonly from: string; readonly messages: readonly HandoverMessage[] }
  /** A member came back (healed partition, thawed): led addresses are claimed and announced once more, though they never stopped (D6). */
  | { readonly kind: "rival"; readonly node: string }
  /** Leases that were won, and those that are over. */
  | { readonly kind: "leases"; readonly gained: readonly Ip[]; readonly lost: readonly Ip[] }
  /** The fence (D7): while muted no frame leaves and none is answered. */
  | { readonly kind: "mute" }
  | { readonly kind: "unmute" }
  | { readonly kind: "tick" };

export type AnnouncerEffect =
  | { readonly kind: "frame"; readonly linkIndex: number; readonly family: Family; readonly bytes: Uint8Array }
  | { readonly kind: "join-group"; readonly linkIndex: number; readonly group: Ip }
  | { readonly kind: "leave-group"; readonly linkIndex: number; readonly group: Ip }
  /**
   * Addresses whose packets must wake us on this link: led, handing over, second for. Sent at once when one has come, and a little
   * later when some have only gone; before the first one the set is empty. A socket that is opened anew gets the last one from its owner.
   */
  | {
      readonly kind: "filter";
      readonly linkIndex: number;
      /** As it is until the link's next effect of this kind. */
      readonly addresses: AddressSet;
      /** Those that were not among them before. */
      readonly come: readonly Ip[];
    }
  | { readonly kind: "message"; readonly to: readonly string[]; readonly message: HandoverMessage }
  | { readonly kind: "noted"; readonly note: AnnouncerNote };

/** What became of a received frame: answered, or why not. A closed set, fit for a metric's label. */
export type ReceiveVerdict = "answered" | ReceiveDrop;

export type ReceiveDrop =
  | ArpDrop
  | NdpDrop
  | "muted"
  /** The frame's link is unknown or not usable. */
  | "unusable-link"
  /** Of a VLAN: another segment than the link's. */
  | "vlan-tag"
  /** Neither ARP nor IPv6, as the socket's family wants it. */
  | "other-protocol"
  /** Sent by this node itself, from this link or another. */
  | "own-frame"
  /** To another MAC than ours, broadcast, or the address's solicited-node group. */
  | "foreign-destination"
  /** A group address where a reply would have to go. */
  | "group-sender"
  | "not-a-request"
  /** No address that is answered for on this link. */
  | "not-answered-here"
  /** This node leads the address and has no lease for it. */
  | "no-lease"
  /** Another node speaks as the holder of an address; it ends the answering for one that moved. */
  | "holder-heard";

/** What this node does for an address now. */
export type AddressPhase =
  | "leading"
  /** Lost a planned election, still answering. */
  | "handing-over"
  | "watching"
  /** Silent although there is a duty: the new leader answers, or a better claim was heard. */
  | "stopped";

/** Claims for one address, as they were sent (DESIGN D9). Only the winner answers. */
export interface Contest {
  readonly winner: Claimant;
  readonly losers: readonly Claimant[];
}

export interface AddressState {
  readonly ip: Ip;
  readonly role: Duty["role"];
  readonly phase: AddressPhase;
  /** Links on which requests for the address are answered; empty unless leading or handing over. */
  readonly answeredOn: readonly number[];
  readonly requestsAnswered: number;
  /** Unsolicited frames handed out. */
  readonly announcementsSent: number;
  /** Time of the last unsolicited frame set, by the clock of the events. */
  readonly lastAnnouncementMs?: number;
  /** Of an address that is answered only with one; absent otherwise. */
  readonly lease?: "held" | "missing";
  /** Views differ: two or more members would lead the address. Absent: none is known. */
  readonly contest?: Contest;
}

export interface AnnouncerCounters {
  readonly answered: { readonly arp: number; readonly ndp: number };
  /** Unsolicited frames handed out. */
  readonly announcedFrames: number;
  /** Received frames that got no answer. */
  readonly drops: ReadonlyMap<ReceiveDrop, number>;
}

/** What the shell turns into status, logs and metrics. */
export type AnnouncerNote =
  | { readonly kind: "armed"; readonly ip: Ip }
  | { readonly kind: "first-frame"; readonly ip: Ip; readonly linkIndex: number }
  | { readonly kind: "announced"; readonly ip: Ip; readonly linkIndex: number }
  | {
      readonly kind: "stopped";
      readonly ip: Ip;
      readonly cause: "withdrawn" | "claimed" | "frame-heard" | "timeout" | "lease-lost";
    }
  /** A lease is needed for what would be answered here; and no longer. */
  | { readonly kind: "lease-wanted"; readonly ip: Ip }
  | { readonly kind: "lease-released"; readonly ip: Ip }
  | { readonly kind: "yielded-by"; readonly ip: Ip; readonly node: string }
  | { readonly kind: "links-share-segment"; readonly linkIndex: number; readonly silentLinkIndex: number };
