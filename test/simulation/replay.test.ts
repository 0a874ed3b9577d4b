import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { runJob } from "./batch.ts";
import { SCENARIOS } from "./scenario.ts";

const MAIN = new URL("main.js", import.meta.url).pathname;

/** The hash that `hack/simulate` prints, in a process that runs nothing else. */
async function hashInOwnProcess(scenario: string, seed: number): Promise<string | undefined> {
  const options = ["--scenario", scenario, "--seed", `${seed}`];
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...options]);
  return /^trace ([0-9a-f]+),/m.exec(stdout)?.[1];
}

describe("simulation: replay (invariant 25)", () => {
  for (const { name } of SCENARIOS) {
    // A world of 30 nodes takes ten seconds.
    const others = name === "large" ? [] : [9];
    const seed = name === "large" ? 1 : 4;

    it(`tells the same story for the same seed of scenario ${name}, whatever ran before it, and in another process`, async () => {
      // Meanwhile.
      const elsewhere = hashInOwnProcess(name, seed);
      const before = others.map((other) => runJob({ scenario: name, seed: other }).hash);
      const { hash } = runJob({ scenario: name, seed });
      const after = others.map((other) => runJob({ scenario: name, seed: other }).hash);
      expect(after).to.deep.equal(before);
      expect(before).not.to.include(hash);
      expect(await elsewhere).to.equal(hash);
    }).timeout(300_000);
  }
});
