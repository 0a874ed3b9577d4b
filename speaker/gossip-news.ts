/** What news of gossip mean for decisions. */
import type { SwimEvent, SwimNews } from "../src/gossip/swim-event.ts";

const WITHOUT_DECISION: ReadonlySet<SwimNews["kind"]> = new Set([
  "ack-view",
  "user-message",
  "push-pull-done",
  "user-state",
  "ask-neighbour",
  "unwatched",
]);

/** The rest must not cost a decision for every datagram. */
export function mayChangeDecision({ kind }: SwimNews): boolean {
  return !WITHOUT_DECISION.has(kind);
}

/** A push/pull: all that a peer knows was merged. What must not wait for a turn, such as a verdict, comes by datagram or with time. */
export function fillsTurn(event: SwimEvent["kind"]): boolean {
  return event === "request" || event === "response";
}
