/** One answer to "who leads this address, and why" (DESIGN §1): it drives the wire, /status, events and metrics alike. */
import type { AddressGroup } from "../desired/group.ts";
import type { NodeFacts, NodeName, SourceKind } from "../desired/snapshot.ts";
import type { NodeWord, Rule } from "./word.ts";

/** 1 is best; the rows of DESIGN D3. */
export type Tier = 1 | 2 | 3 | 4 | 5;

/** Why a member is no candidate at all (the never-tests of D3). */
export type RefusalReason =
  | "not-ready"
  | "excluded"
  | "out-of-service"
  | "no-node-object"
  | "not-selected"
  | "no-local-endpoint"
  | "no-serving-endpoint"
  | "network-unavailable"
  | "not-common-to-group";

/** Why a candidate's tier is not 1. */
export type TierReason =
  | "settling"
  | "damped"
  | "cordoned"
  | "stepping-down"
  | "no-usable-link"
  | "network-unavailable"
  | "leaving";

export interface Candidate {
  readonly node: NodeName;
  readonly tier: Tier;
  /** Absent in tier 1. */
  readonly tierReason?: TierReason;
  /** Sum of the matching `preferredNodeSelectors` weights; more is better. */
  readonly score: number;
  /** Under policy Local: "ready" before "terminating"; "any" under Cluster. */
  readonly endpointClass: "any" | "ready" | "terminating";
  /** SHA-256 of `node#key`, lower-case hex; ascending. */
  readonly hash: string;
}

export interface Refusal {
  readonly node: NodeName;
  readonly reason: RefusalReason;
}

/** Why the group is led by whom it is, or by nobody. */
export type DecisionReason =
  | "only-candidate"
  | "best-tier"
  | "preferred-node"
  | "ready-endpoint"
  | "lowest-hash"
  | "no-members"
  | RefusalReason;

export interface Decision {
  readonly group: AddressGroup;
  readonly rule: Rule;
  /** Best first: the leader, the second, and so on. */
  readonly candidates: readonly Candidate[];
  readonly refusals: readonly Refusal[];
  readonly leader?: NodeName;
  readonly second?: NodeName;
  readonly reason: DecisionReason;
}

/** A member as the election sees it: alive or suspect. */
export interface MemberView {
  readonly name: NodeName;
  /** Absent for a Go member, which has no metadata. */
  readonly word?: NodeWord;
}

export interface ElectionView {
  readonly rule: Rule;
  readonly source: SourceKind;
  readonly members: readonly MemberView[];
  readonly nodes: ReadonlyMap<string, NodeFacts>;
  readonly ignoresExcludeLabel: boolean;
}
