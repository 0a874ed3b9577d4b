/** What the swim machine is told and what it asks for: plain values, so that it knows no socket, clock, log or metric. */
import type { WatchView } from "./fast/fast-event.ts";
import type { DatagramMessage, Endpoint, RecordState, StreamMessage, Versions } from "./message.ts";

/** A member as this node holds it. A value: a change makes a new one. */
export interface Member {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly state: RecordState;
  readonly incarnation: number;
  /** At most 512 bytes; empty for a Go member. */
  readonly meta: Uint8Array;
  readonly versions: Versions;
  /** Monotonic time of the last change of `state`. */
  readonly sinceMs: number;
}

/** In which state the sender of an ack holds the one who asked (DESIGN D6); "unknown": it holds no record of that name. */
export interface HeldAs {
  readonly state: RecordState | "unknown";
  readonly incarnation: number;
}

/** Why a stream that we dialled brought no answer. "refused" proves a host without a listener, "silent" proves nothing. */
export type DialFailure = "refused" | "unreachable" | "silent" | "closed" | "undecodable";

export type SwimEvent =
  /** Snapshot complete and packet sockets open (D4): before it every other message is dropped and nothing is sent. */
  | { readonly kind: "open" }
  /** One datagram, opened, authenticated and taken apart. */
  | { readonly kind: "datagram"; readonly from: Endpoint; readonly messages: readonly DatagramMessage[] }
  /** Sending failed for a reason that lies beyond this host. */
  | { readonly kind: "send-failed"; readonly to: Endpoint }
  /** A complete request on a stream that a peer dialled; answered by `answer` or `close` with the same connection. */
  | {
      readonly kind: "request";
      readonly connection: number;
      readonly from: Endpoint;
      readonly message: StreamMessage;
    }
  /** The answer on a stream that we dialled. */
  | { readonly kind: "response"; readonly dial: number; readonly message: StreamMessage }
  /** A connection that we dialled stands: the kernel of that host has accepted it. */
  | { readonly kind: "dial-opened"; readonly dial: number }
  | { readonly kind: "dial-failed"; readonly dial: number; readonly failure: DialFailure }
  /** Sockets were read until empty: the only event that judges deadlines (D16). */
  | { readonly kind: "tick" }
  /** Addresses that ought to be members: from `--peers`, pods or Nodes. The complete list; own endpoints are ignored. */
  | { readonly kind: "known-peers"; readonly endpoints: readonly Endpoint[] }
  /** Dials at once, whatever is known already. */
  | { readonly kind: "join"; readonly endpoints: readonly Endpoint[] }
  /** Urgent: directly to every member at once. Otherwise at most once a second, through the queue. */
  | { readonly kind: "set-meta"; readonly meta: Uint8Array; readonly isUrgent: boolean }
  /** Direct datagrams; unknown, dead and left names are skipped. */
  | { readonly kind: "send-user"; readonly to: readonly string[] | "all"; readonly payload: Uint8Array }
  /** What our side of a push/pull carries from now on. */
  | { readonly kind: "set-user-state"; readonly bytes: Uint8Array }
  /** The fence (D7): a direct ping each; every answer is an `ack-view`. */
  | { readonly kind: "ping-members"; readonly names: readonly string[] }
  /** Who leads and who may watch (D7): the whole of it, whenever something of it changes. */
  | { readonly kind: "watch"; readonly view: WatchView }
  /** A frame answered for an address that this member leads, or for its node address. */
  | { readonly kind: "neighbour-answered"; readonly name: string; readonly of: "led-address" | "node-address" }
  /** Says goodbye directly to every member, then through the queue; ends with `left`. */
  | { readonly kind: "leave" };

/**
 * joined: was unknown, dead or left. left: said goodbye. dead: held dead by suspicion. suspected and alive-again: the
 * member never stopped to count. updated: metadata, incarnation, address or versions changed. Ours, too, are told.
 */
export type MemberChange = "joined" | "left" | "dead" | "suspected" | "alive-again" | "updated";

/** done: states merged. refused: no listener, or an answer that cannot be merged. */
export type PushPullOutcome = "done" | "refused" | "unreachable" | "silent" | "undecodable" | "incompatible";

/** How the wait for a first push/pull ended (D4, ready): this happens once after `open`. */
export type FirstContact = "merged" | "all-refused" | "silent" | "no-peers";

export type SwimEffect =
  | {
      readonly kind: "send-datagram";
      readonly to: Endpoint;
      /** Encoded messages, never empty, that fit one datagram: one goes bare, several as a compound. */
      readonly parts: readonly Uint8Array[];
      readonly withCrc: boolean;
    }
  /** Ends with a `response` or `dial-failed` event of the same number; the driver closes the stream after either. */
  | {
      readonly kind: "dial";
      readonly dial: number;
      readonly to: Endpoint;
      readonly request: StreamMessage;
      readonly timeoutMs: number;
    }
  | { readonly kind: "answer"; readonly connection: number; readonly message: StreamMessage }
  | { readonly kind: "close"; readonly connection: number }
  | { readonly kind: "member-changed"; readonly change: MemberChange; readonly member: Member }
  /** `from` is the member that listens at the source; absent when none does, or over a stream. */
  | { readonly kind: "user-message"; readonly from?: string; readonly payload: Uint8Array }
  | { readonly kind: "user-state"; readonly from: Endpoint; readonly bytes: Uint8Array }
  | { readonly kind: "push-pull-done"; readonly endpoint: Endpoint; readonly outcome: PushPullOutcome }
  | { readonly kind: "first-contact"; readonly how: FirstContact }
  /** A member that was held dead was heard again (D6, heal): a leader that led during the split claims once more. */
  | { readonly kind: "heard-again"; readonly name: string }
  /** An answer to `ping-members`; without `held` it came from a Go member and means contact only. */
  | { readonly kind: "ack-view"; readonly from: string; readonly held?: HeldAs }
  /** The ladder (D7): ask this member's MAC for an address that it leads and for its node address. */
  | { readonly kind: "ask-neighbour"; readonly name: string }
  /** We lead, and none of our watchers is heard any more: the fence (D7). */
  | { readonly kind: "unwatched" }
  /** A member that was dead and came back has answered us: from now on it counts (D7). */
  | { readonly kind: "proved-alive"; readonly name: string }
  /** Two nodes use one name; the one that was there first stays. */
  | { readonly kind: "name-conflict"; readonly member: Member; readonly other: Endpoint }
  /** A death verdict or suspicion about ourselves was refuted; "left": our own goodbye of an earlier run. `incarnation` is the new one. */
  | {
      readonly kind: "refuted";
      readonly verdict: "suspect" | "dead" | "left" | "stale-alive";
      readonly from?: string;
      readonly incarnation: number;
    }
  /** The leave was sent as often as the queue sends (complete), or time ran out. */
  | { readonly kind: "left"; readonly isComplete: boolean };

/** What the composition root may tell a driver; the rest comes from sockets and timers. */
export type SwimCommand = Extract<
  SwimEvent,
  {
    kind:
      | "open"
      | "known-peers"
      | "join"
      | "set-meta"
      | "send-user"
      | "set-user-state"
      | "ping-members"
      | "watch"
      | "neighbour-answered"
      | "leave";
  }
>;

/** What a driver tells the composition root; the rest it does itself. */
export type SwimNews = Exclude<SwimEffect, { kind: "send-datagram" | "dial" | "answer" | "close" }>;
