/** The words of api/reasons.ts are the unions of the core: the compiler refuses this file when one has a word the other has not. */
import { expect } from "chai";
import * as api from "../../api/reasons.ts";
import type { NoGroupReason } from "../../src/desired/group.ts";
import type { DecisionReason, RefusalReason, TierReason } from "../../src/election/decision.ts";
import type { RuleReason } from "../../src/election/rule-in-force.ts";
import { RULES, WORD_FLAGS } from "../../src/election/word.ts";
import type { KeyPlace } from "../../src/gossip/key-rotation.ts";
import { RECORD_STATES } from "../../src/gossip/message.ts";

type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

describe("closed sets of the api", () => {
  it("have the reasons of the core, checked when this file compiles", () => {
    const refusals: Equal<api.RefusalReason, RefusalReason> = true;
    const tiers: Equal<api.TierReason, TierReason> = true;
    const decisions: Equal<api.DecisionReason, DecisionReason> = true;
    const noGroup: Equal<api.NoGroupReason, NoGroupReason> = true;
    const rules: Equal<api.RuleReason, RuleReason | "gossip-off"> = true;
    const keys: Equal<(typeof api.KEY_PLACES)[number], KeyPlace> = true;
    expect([refusals, tiers, decisions, noGroup, rules, keys]).to.not.include(false);
  });

  it("have the rules, flags and member states of the core, in order", () => {
    expect(api.RULES).to.deep.equal(RULES);
    expect(api.WORD_FLAGS).to.deep.equal(WORD_FLAGS);
    expect(api.MEMBER_STATES).to.deep.equal(RECORD_STATES);
  });

  for (const [name, words] of Object.entries(api)) {
    it(`${name} has no word twice, all in kebab-case`, () => {
      expect(words.filter((word) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(word))).to.deep.equal([]);
      expect(new Set(words).size).to.equal(words.length);
    });
  }
});
