/** Each invariant catches the speaker that breaks it, and passes over what else that one breaks. */
import { expect } from "chai";
import { MUTANTS, type Mutant } from "./mutants.ts";
import { scenarioOf } from "./scenario.ts";
import { simulate } from "./simulate.ts";

/** A seed in which it shows, and some after it, because worlds are drawn anew when their drawing changes. */
const TRIES = 25;

function isCaught(mutant: Mutant, seed: number): boolean {
  const scenario = scenarioOf(mutant.scenario) ?? expect.fail(mutant.scenario);
  const { violation, hash } = simulate(scenario, seed, { mutant });
  if (mutant.invariant === 25) return simulate(scenario, seed, { mutant }).hash !== hash;
  return violation?.invariant === mutant.invariant;
}

describe("simulation: mutants", () => {
  for (const mutant of MUTANTS) {
    it(`invariant ${mutant.invariant} catches a speaker that ${mutant.name}`, () => {
      const seeds = Array.from({ length: TRIES }, (_, index) => mutant.seed + index);
      expect(seeds.some((seed) => isCaught(mutant, seed))).to.equal(true);
    }).timeout(300_000);
  }
});
