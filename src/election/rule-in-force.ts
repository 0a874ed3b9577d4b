/** Which rule this node follows (DESIGN D5). Pure: `(state, members, now) → state`. */
import type { NodeName } from "../desired/snapshot.ts";
import type { MemberView } from "./decision.ts";
import { RULES, type Rule } from "./word.ts";

/** After the last member that could less: long enough for everybody to hear that it is gone (DESIGN D5). */
export const RULE_HOLD_MS = 30_000;

/** Why the rule is what it is. */
export type RuleReason =
  | "all-members-can"
  /** `--election` forbids more. */
  | "capped"
  /** A member follows an older rule at most; one without a word is MetalLB's own speaker. */
  | "member-can-less"
  /** All can more, but the last that could not is gone for less than 30 s, and members still use less. */
  | "member-uses-less";

export interface RuleState {
  readonly rule: Rule;
  readonly reason: RuleReason;
  /** The member that holds the rule down; the first by name. */
  readonly member?: NodeName;
  readonly sinceMs: number;
  /** Until then what the others use counts too. */
  readonly holdUntilMs: number;
}

/** `others`: members alive or suspect, without this node. `cap`: the highest rule that this node may follow. */
export function ruleInForce(
  state: RuleState | undefined,
  others: readonly MemberView[],
  nowMs: number,
  cap: Rule,
): RuleState {
  const lowest = lowestBy(others, ({ word }) => word?.highestRule ?? "metallb-1");
  const can = lowest === undefined ? cap : lower(cap, lowest.rule);
  // A node that knows nobody yet takes the rule of those it meets first, so that time alone counts as well.
  const holdsOn = can !== lastRule() || lowest === undefined;
  const holdUntilMs = holdsOn ? nowMs + RULE_HOLD_MS : (state?.holdUntilMs ?? nowMs + RULE_HOLD_MS);
  const used = nowMs < holdUntilMs ? lowestBy(others, ({ word }) => word?.ruleInUse ?? "metallb-1") : undefined;
  const rule = used === undefined ? can : lower(can, used.rule);
  const why = reasonFor(rule, can, cap, lowest, used);
  return { rule, ...why, sinceMs: state?.rule === rule ? state.sinceMs : nowMs, holdUntilMs };
}

/** When the answer may change without an event. */
export function ruleDeadlineMs(state: RuleState): number | undefined {
  return state.reason === "member-uses-less" ? state.holdUntilMs : undefined;
}

interface Lowest {
  readonly rule: Rule;
  readonly member: MemberView;
}

function reasonFor(
  rule: Rule,
  can: Rule,
  cap: Rule,
  lowest: Lowest | undefined,
  used: Lowest | undefined,
): Pick<RuleState, "reason" | "member"> {
  if (rule !== can && used !== undefined) return { reason: "member-uses-less", member: used.member.name };
  if (rule === lastRule()) return { reason: "all-members-can" };
  if (rule === cap) return { reason: "capped" };
  if (lowest === undefined) return { reason: "all-members-can" };
  return { reason: "member-can-less", member: lowest.member.name };
}

function lowestBy(members: readonly MemberView[], ruleOf: (member: MemberView) => Rule): Lowest | undefined {
  let lowest: Lowest | undefined;
  for (const member of members) {
    const rule = ruleOf(member);
    const order = lowest === undefined ? -1 : RULES.indexOf(rule) - RULES.indexOf(lowest.rule);
    if (order < 0 || (order === 0 && lowest !== undefined && member.name < lowest.member.name))
      lowest = { rule, member };
  }
  return lowest;
}

function lower(a: Rule, b: Rule): Rule {
  return RULES.indexOf(a) < RULES.indexOf(b) ? a : b;
}

function lastRule(): Rule {
  return RULES.at(-1) ?? "arpeggio-1";
}
