/** Closed sets of words that /status speaks. The core has its own unions; test/http/reasons.test.ts holds the two equal. */

export const RULES = ["metallb-1", "arpeggio-1"] as const;

/** What a node says of itself in its word. */
export const WORD_FLAGS = [
  "ready",
  "settling",
  "stepping-down",
  "cordoned",
  "network-unavailable",
  "excluded",
  "out-of-service",
  "damped",
  "leaving",
  "no-node-object",
] as const;

/** Why a member may not lead an address at all. */
export const REFUSAL_REASONS = [
  "not-ready",
  "excluded",
  "out-of-service",
  "no-node-object",
  "not-selected",
  "no-local-endpoint",
  "endpoint-without-node",
  "no-serving-endpoint",
  "network-unavailable",
  "not-common-to-group",
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** Why a candidate stands behind those of tier 1. */
export const TIER_REASONS = [
  "settling",
  "damped",
  "link-returning",
  "cordoned",
  "stepping-down",
  "no-usable-link",
  "network-unavailable",
  "leaving",
] as const;
export type TierReason = (typeof TIER_REASONS)[number];

/** Why an address of a Service is up for no election. */
export const NO_GROUP_REASONS = [
  "not-load-balancer",
  "other-load-balancer-class",
  "being-deleted",
  "no-address",
  "invalid-address",
  "no-pool",
  "not-admitted-by-pool",
  "no-advertisement",
  "shared-address-with-service-selector",
] as const;
export type NoGroupReason = (typeof NO_GROUP_REASONS)[number];

/** Why an address is led by whom it is, or by nobody. sticky: it was there, and stays, though another would come first. */
export const DECISION_REASONS = [
  "only-candidate",
  "best-tier",
  "sticky",
  "preferred-node",
  "ready-endpoint",
  "lowest-hash",
  "no-members",
  ...REFUSAL_REASONS,
] as const;
export type DecisionReason = (typeof DECISION_REASONS)[number];

/** orphan: another node is elected, does not lead it in its own eyes, and this node, the next in rank, has taken it. */
export const ADDRESS_REASONS = [...DECISION_REASONS, ...NO_GROUP_REASONS, "orphan"] as const;
export type AddressReason = (typeof ADDRESS_REASONS)[number];

/**
 * Why a node does not lead an address that others take it for the leader of, as it says itself. no-link: it is the leader, and has no
 * link to answer on. no-lease: it is the leader of a strict address, and most of the expected speakers do not grant it. silent: it says
 * nothing, and nor does the address.
 */
export const LEAD_REASONS = [
  ...DECISION_REASONS,
  "other-leader",
  "unknown-address",
  "views-differ",
  "no-link",
  "no-lease",
  "silent",
] as const;
export type LeadReason = (typeof LEAD_REASONS)[number];

/**
 * What this node does for an address. leading: answers, and is the leader. handing-over: lost a planned election and
 * answers until the new leader is known to. watching: second in rank. follower: another node leads. nobody: no node does.
 * no-link: is the leader, and has no link to answer on. views-differ: is the leader in its own eyes, and silent, because another node
 * is so in its eyes with a better claim. no-lease: is the leader of a strict address, and silent, because most of the expected speakers
 * do not grant it.
 */
export const ADDRESS_STATES = [
  "leading",
  "no-link",
  "no-lease",
  "handing-over",
  "watching",
  "follower",
  "views-differ",
  "nobody",
] as const;

/** What decided between two nodes that both hold themselves elected, in the order in which it is asked. */
export const CONTEST_GROUNDS = [
  "rule",
  "term",
  "freshness",
  "tier",
  "score",
  "endpoint-class",
  "hash",
  "name",
] as const;
export type ContestGround = (typeof CONTEST_GROUNDS)[number];

export const MEMBER_STATES = ["alive", "suspect", "dead", "left"] as const;

/** What this node still waits for; "ready" when nothing. */
export const READY_REASONS = ["ready", "reading-sources", "opening-sockets", "joining-peers"] as const;

/**
 * Why the rule in force is what it is. capped: by --election. member-can-less: a member cannot more, such as a MetalLB speaker.
 * member-uses-less: all can more, but the last that could not is gone for less than 30 s. gossip-off: there are no members.
 */
export const RULE_REASONS = ["all-members-can", "capped", "member-can-less", "member-uses-less", "gossip-off"] as const;
export type RuleReason = (typeof RULE_REASONS)[number];

/** Who notices that a node died. none: neither gossip nor an API server does. */
export const DETECTIONS = ["gossip", "api-server", "none"] as const;

/** Why a link is not answered on. */
export const LINK_REASONS = [
  "loopback",
  "not-ethernet",
  "no-broadcast",
  "no-arp",
  "admin-down",
  "no-carrier",
  "has-master",
  "excluded",
  "not-selected",
  "just-came-up",
  "socket-failed",
] as const;

/** What showed last that a watched leader's process lives. */
export const PROOFS_OF_LIFE = ["datagram", "ack", "relayed", "tcp", "neighbour"] as const;

/** Where a gossip key stands: in the file secretkey, in secretkey.previous, or in no file any more. */
export const KEY_PLACES = ["current", "previous", "former"] as const;

/** What a reflector of one kind does: it lists, it watches, or it waits before it tries again. */
export const WATCH_STATES = ["listing", "watching", "waiting"] as const;

/** reading: nothing complete was read yet. stale: the last good reading stands, the source is away. */
export const SOURCE_STATES = ["reading", "current", "stale", "not-available"] as const;
