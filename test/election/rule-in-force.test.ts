import { expect } from "chai";
import type { MemberView } from "../../src/election/decision.ts";
import { RULE_HOLD_MS, type RuleState, ruleDeadlineMs, ruleInForce } from "../../src/election/rule-in-force.ts";
import type { Rule } from "../../src/election/word.ts";
import { goMember, member } from "./views.ts";

function using(name: string, ruleInUse: Rule): MemberView {
  return member(name, ["ready"], { ruleInUse });
}

/** Runs the members of each time through the machine. */
function after(steps: readonly (readonly [number, readonly MemberView[]])[], cap: Rule = "arpeggio-1"): RuleState {
  let state: RuleState | undefined;
  for (const [atMs, others] of steps) state = ruleInForce(state, others, atMs, cap);
  if (state === undefined) throw new Error("no step");
  return state;
}

const OURS = [using("n2", "arpeggio-1"), using("n3", "arpeggio-1")];
const OURS_LOW = [using("n2", "metallb-1"), using("n3", "metallb-1")];

describe("ruleInForce", () => {
  it("is the highest when alone", () => {
    expect(after([[0, []]])).to.deep.include({ rule: "arpeggio-1", reason: "all-members-can" });
  });

  it("is the lowest that every member can, and lowers at once", () => {
    expect(
      after([
        [0, OURS],
        [50_000, [...OURS, goMember("go")]],
      ]),
    ).to.deep.equal({
      rule: "metallb-1",
      reason: "member-can-less",
      member: "go",
      sinceMs: 50_000,
      holdUntilMs: 50_000 + RULE_HOLD_MS,
    });
  });

  it("lowers for a member of ours that is capped", () => {
    const capped = member("n2", ["ready"], { highestRule: "metallb-1", ruleInUse: "metallb-1" });
    expect(after([[0, [capped]]])).to.deep.include({ rule: "metallb-1", reason: "member-can-less", member: "n2" });
  });

  it("waits 30 s after the last Go member while others use its rule", () => {
    const steps = [
      [0, [...OURS_LOW, goMember("go")]],
      [1_000, OURS_LOW],
    ] as const;
    const waiting = after(steps);
    expect(waiting).to.deep.include({ rule: "metallb-1", reason: "member-uses-less", member: "n2" });
    expect(ruleDeadlineMs(waiting)).to.equal(RULE_HOLD_MS);
    expect(after([...steps, [RULE_HOLD_MS - 1, OURS_LOW]]).rule).to.equal("metallb-1");
    expect(after([...steps, [RULE_HOLD_MS, OURS_LOW]])).to.deep.include({ rule: "arpeggio-1", sinceMs: RULE_HOLD_MS });
  });

  it("does not wait when the others already use the higher", () => {
    expect(
      after([
        [0, [...OURS, goMember("go")]],
        [1_000, OURS],
      ]).rule,
    ).to.equal("arpeggio-1");
  });

  it("is taken from the others by a node that starts", () => {
    expect(
      after([
        [0, []],
        [300, OURS_LOW],
      ]).rule,
    ).to.equal("metallb-1");
    expect(after([[0, OURS_LOW]]).rule).to.equal("metallb-1");
    expect(
      after([
        [0, []],
        [300, OURS_LOW],
        [5_000, OURS],
      ]).rule,
    ).to.equal("arpeggio-1");
  });

  it("is taken from the others by a node that was alone for long", () => {
    const steps = [
      [0, []],
      [90_000, []],
      [90_300, OURS_LOW],
    ] as const;
    expect(after(steps).rule).to.equal("metallb-1");
  });

  it("does not follow a member that uses less without need, once 30 s have passed", () => {
    expect(
      after([
        [0, OURS],
        [RULE_HOLD_MS, OURS],
        [RULE_HOLD_MS + 1, OURS_LOW],
      ]).rule,
    ).to.equal("arpeggio-1");
  });

  it("is capped by --election", () => {
    expect(after([[0, OURS]], "metallb-1")).to.deep.include({ rule: "metallb-1", reason: "capped" });
  });

  it("keeps since while the rule stays", () => {
    expect(
      after([
        [0, OURS],
        [99_000, OURS],
      ]).sinceMs,
    ).to.equal(0);
  });
});
