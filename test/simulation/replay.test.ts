import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { runJob } from "./batch.ts";
import { SCENARIOS } from "./scenario.ts";

const MAIN = new URL("main.js", import.meta.url).pathname;

/** The hash that `hack/simulate` prints, in a process that runs nothing else. */
function hashInOwnProcess(scenario: string, seed: number): string | undefined {
  const options = ["--scenario", scenario, "--seed", `${seed}`];
  const output = execFileSync(process.execPath, [MAIN, ...options], { encoding: "utf8" });
  return /^trace ([0-9a-f]+),/m.exec(output)?.[1];
}

describe("simulation: replay (invariant 25)", () => {
  for (const { name } of SCENARIOS) {
    // A world of 30 nodes takes ten seconds.
    const others = name === "large" ? [] : [9];
    const seed = name === "large" ? 1 : 4;

    it(`tells the same story for the same seed of scenario ${name}, whatever ran before it, and in another process`, () => {
      const before = others.map((other) => runJob({ scenario: name, seed: other }).hash);
      const { hash } = runJob({ scenario: name, seed });
      const after = others.map((other) => runJob({ scenario: name, seed: other }).hash);
      expect(after).to.deep.equal(before);
      expect(before).not.to.include(hash);
      expect(hashInOwnProcess(name, seed)).to.equal(hash);
    }).timeout(300_000);
  }
});
