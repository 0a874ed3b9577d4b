import { expect } from "chai";
import { type Opinion, weighOpinions } from "../../cli/weigh-opinions.ts";

/** `n1>n2`: n1 names n2; `n1>`: nobody; `n1?`: does not know; `!`: leads; `~`: is not ready. */
function opinion(text: string): Opinion {
  const [, node = "", mark, leader = "", marks = ""] = /^(n\d)([>?])(n\d)?([!~]*)$/.exec(text) ?? [];
  return {
    node,
    isReady: !marks.includes("~"),
    isLeading: marks.includes("!"),
    knows: mark === ">",
    ...(leader === "" ? {} : { leader }),
  };
}

describe("weighOpinions", () => {
  for (const { name, opinions, told, dissents } of [
    { name: "the leader tells", opinions: ["n1>n2", "n2>n2!", "n3>n2"], told: "n2", dissents: [] },
    {
      name: "of two leaders the one with more followers",
      opinions: ["n1>n1!", "n2>n2!", "n3>n2"],
      told: "n2",
      dissents: ["n1"],
    },
    { name: "of two with equally many the lower name", opinions: ["n2>n2!", "n1>n1!"], told: "n1", dissents: ["n2"] },
    {
      name: "one that leads before many who only name",
      opinions: ["n1>n1!", "n2>n3", "n3>n3"],
      told: "n1",
      dissents: ["n2", "n3"],
    },
    { name: "the first that names a silent leader", opinions: ["n3>n1", "n2>n1"], told: "n2", dissents: [] },
    { name: "nobody leads, and all say so", opinions: ["n2>", "n1>"], told: "n1", dissents: [] },
    { name: "nobody leads, say most", opinions: ["n2>", "n1>", "n3>n2"], told: "n1", dissents: ["n3"] },
    { name: "who does not know it disagrees", opinions: ["n1>n1!", "n2?"], told: "n1", dissents: ["n2"] },
    { name: "who is not ready does not count", opinions: ["n1>n1!", "n2>~", "n3?~"], told: "n1", dissents: [] },
    { name: "unless nobody is ready", opinions: ["n1>n2~", "n2>~"], told: "n2", dissents: ["n1"] },
    { name: "nobody knows it", opinions: ["n1?", "n2?"], told: undefined, dissents: [] },
    { name: "nobody was asked", opinions: [], told: undefined, dissents: [] },
  ] satisfies { name: string; opinions: string[]; told: string | undefined; dissents: string[] }[]) {
    it(name, () => {
      const judgement = weighOpinions(opinions.map(opinion));
      expect(judgement.told?.node).to.equal(told);
      expect(judgement.dissents.map(({ node }) => node)).to.deep.equal(dissents);
    });
  }
});
