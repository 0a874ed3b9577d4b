/** One answer to "who leads this address, and why" (DESIGN §1): it drives the wire, /status, events and metrics alike. */
import type { AddressGroup } from "../desired/group.ts";
import type { NodeFacts, NodeName, SourceKind } from "../desired/snapshot.ts";
import type { HoldersByIp } from "./holders.ts";
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
  | "endpoint-without-node"
  | "no-serving-endpoint"
  | "network-unavailable"
  | "not-common-to-group";

/** What an observer's API view may say against a member of ours: only toward worse. */
export type Contradiction = "excluded" | "out-of-service" | "no-node-object";

/** Why a candidate's tier is not 1. */
export type TierReason =
  | "settling"
  | "damped"
  | "link-returning"
  | "cordoned"
  | "stepping-down"
  | "no-usable-link"
  | "network-unavailable"
  | "leaving";

/** Who may lead, and how well. Those that are alike in all of it go by the hash of `node#key` (`rankHash`), ascending. */
export interface Candidate {
  readonly node: NodeName;
  readonly tier: Tier;
  /** Absent in tier 1. */
  readonly tierReason?: TierReason;
  /** Sum of the matching `preferredNodeSelectors` weights; more is better. */
  readonly score: number;
  /** Under policy Local: "ready" before "terminating" before "fresh" (ready since a moment ago); "any" under Cluster. */
  readonly endpointClass: "any" | "ready" | "terminating" | "fresh";
}

export interface Refusal {
  readonly node: NodeName;
  readonly reason: RefusalReason;
}

/** Why the group is led by whom it is, or by nobody. */
export type DecisionReason =
  | "only-candidate"
  | "best-tier"
  | "sticky"
  | "preferred-node"
  | "ready-endpoint"
  | "lowest-hash"
  | "no-members"
  | RefusalReason;

/** Of a sticky group (DESIGN D4): what keeps it where it is. */
export interface StickyHold {
  /** Who leads; of a group without a candidate who held it last, absent if nobody ever did. */
  readonly holder?: NodeName;
  /** In which it leads: what its claims and its record say. 0: nobody ever held it. */
  readonly term: number;
  /** Who would lead if the group were not sticky; absent: the same. */
  readonly insteadOf?: NodeName;
}

/** A Decision names so many candidates: more than any rule looks at, and 10,000 groups of 100 nodes still fit in memory. */
export const CANDIDATES_KEPT = 16;

export interface Decision {
  /**
   * Under `metallb-1` each Service is elected on its own first address: the group is then the part of the component that one
   * election decides, and every address is in exactly one.
   */
  readonly group: AddressGroup;
  readonly rule: Rule;
  /** Best first: the leader, the second, and so on; the first `CANDIDATES_KEPT` of them. */
  readonly candidates: readonly Candidate[];
  /** By name. */
  readonly refusals: readonly Refusal[];
  readonly leader?: NodeName;
  readonly second?: NodeName;
  readonly reason: DecisionReason;
  /** Absent: the group is not sticky, or the rule in force knows none that is. */
  readonly sticky?: StickyHold;
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
  /** `--ignore-exclude-lb`. A word that says excluded is believed all the same: its node did not ignore the label. */
  readonly ignoresExcludeLabel: boolean;
  /** What the API says against a member's own word for less than 10 s (DESIGN D4); see `observed-nodes.ts`. Absent: everything counts. */
  readonly notYetCounted?: ReadonlyMap<NodeName, ReadonlySet<Contradiction>>;
  /** Who holds sticky addresses. Of what changes within one map `Election` is told. Absent: nobody does. */
  readonly holders?: HoldersByIp;
}
