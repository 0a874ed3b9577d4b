import { expect } from "chai";
import { loadInTurns } from "../../speaker/load-in-turns.ts";

describe("loadInTurns", () => {
  it("keeps their order, and lets the event loop turn before each part, also after what came before, and after the last", async () => {
    const seen: string[] = [];
    const turn = (): void => {
      seen.push("turn");
      if (seen.length < 7) setImmediate(turn);
    };
    setImmediate(turn);
    await loadInTurns(["first", "second"].map((name) => async () => void seen.push(name)));
    seen.push("begun");
    expect(seen).to.deep.equal(["turn", "turn", "first", "turn", "second", "turn", "begun"]);
  });
});
