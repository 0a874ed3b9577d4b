/** Which news of gossip may change a decision: the rest must not cost one for every datagram. */
import type { SwimNews } from "../src/gossip/swim-event.ts";

const WITHOUT_DECISION: ReadonlySet<SwimNews["kind"]> = new Set([
  "ack-view",
  "user-message",
  "push-pull-done",
  "user-state",
  "ask-neighbour",
  "unwatched",
]);

export function mayChangeDecision({ kind }: SwimNews): boolean {
  return !WITHOUT_DECISION.has(kind);
}
