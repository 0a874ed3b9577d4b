/** Which silence counts, and what is remembered of it. */
import { expect } from "chai";
import { Brake } from "../../../src/gossip/fast/brake.ts";
import { LongestSilence, Silence } from "../../../src/gossip/fast/silence.ts";

describe("Silence", () => {
  it("counts from the last sign of life", () => {
    const silence = new Silence(1_000);
    expect(silence.countedMs(1_300)).to.equal(300);
    expect(silence.end(1_400)).to.equal(400);
    expect(silence.countedMs(1_450)).to.equal(50);
  });

  it("leaves out what could not be heard, and forgets that with the silence", () => {
    const silence = new Silence(0);
    silence.discount(300);
    expect(silence.countedMs(500)).to.equal(200);
    expect(silence.countedMs(100)).to.equal(0);
    silence.end(500);
    expect(silence.countedMs(900)).to.equal(400);
  });
});

describe("LongestSilence", () => {
  it("remembers the longest of ten minutes", () => {
    const longest = new LongestSilence();
    longest.add(300, 5_000);
    longest.add(100, 6_000);
    expect(longest.ms(7_000)).to.equal(300);
    expect(longest.ms(5_000 + 540_000)).to.equal(300);
    expect(longest.ms(5_000 + 660_000)).to.equal(0);
  });

  it("keeps a later, shorter one when the longest is forgotten", () => {
    const longest = new LongestSilence();
    longest.add(300, 0);
    longest.add(200, 120_000);
    expect(longest.ms(590_000)).to.equal(300);
    expect(longest.ms(620_000)).to.equal(200);
  });
});

describe("Brake", () => {
  for (const { members, verdicts } of [
    { members: 2, verdicts: 1 },
    { members: 3, verdicts: 1 },
    { members: 6, verdicts: 1 },
    { members: 7, verdicts: 2 },
    { members: 100, verdicts: 33 },
  ]) {
    it(`allows ${verdicts} in 2 s of ${members} members`, () => {
      const brake = new Brake();
      let given = 0;
      for (; brake.allows(members, 1_000) && given < 200; given++) brake.given(1_000);
      expect(given).to.equal(verdicts);
      expect(brake.nextMs()).to.equal(3_000);
      expect(brake.allows(members, 2_999)).to.equal(false);
      expect(brake.allows(members, 3_000)).to.equal(true);
    });
  }
});
