import { expect } from "chai";
import { loadInTurns } from "../../speaker/load-in-turns.ts";

describe("loadInTurns", () => {
  it("lets the event loop turn before each part, and keeps their order", async () => {
    const seen: string[] = [];
    const turn = (): void => {
      seen.push("turn");
      if (seen.length < 4) setImmediate(turn);
    };
    setImmediate(turn);
    await loadInTurns(["first", "second"].map((name) => async () => void seen.push(name)));
    expect(seen).to.deep.equal(["turn", "first", "turn", "second"]);
  });
});
