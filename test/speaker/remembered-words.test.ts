import { expect } from "chai";
import type { KnownMember } from "../../speaker/member-views.ts";
import { RememberedWords, WORD_KEPT_MS } from "../../speaker/remembered-words.ts";
import type { WordFlag } from "../../src/election/word.ts";
import { word } from "../election/views.ts";

function known(
  name: string,
  state: KnownMember["member"]["state"],
  flags: readonly WordFlag[] = ["ready"],
  facts: Parameters<typeof word>[1] = { restarts: 2, refutes: 1, troubleAgeSeconds: 60 },
): KnownMember {
  return { member: { name, state } as KnownMember["member"], word: word(flags, facts) };
}

const N1 = { node: "n1", restarts: 2, refutes: 1, ageSeconds: 60, hasLeft: false };

describe("RememberedWords", () => {
  it("keeps what a member said last for 15 min after it is gone", () => {
    const words = new RememberedWords();
    const [alive, dead] = [known("n1", "alive"), known("n1", "dead")];
    words.follow([alive], 0);
    words.follow([alive], 10_000);
    words.follow([dead], 20_000);
    words.follow([], 100_000);
    expect(words.entries(100_000)).to.deep.equal([{ ...N1, ageSeconds: 160 }]);
    words.follow([], 10_000 + WORD_KEPT_MS - 1);
    expect(words.entries(0)).to.have.length(1);
    words.follow([], 10_000 + WORD_KEPT_MS);
    expect(words.entries(0)).to.deep.equal([]);
  });

  it("knows that one has said goodbye", () => {
    const words = new RememberedWords();
    words.follow([known("n1", "alive")], 0);
    words.follow([known("n1", "left")], 1_000);
    expect(words.entries(0)).to.deep.equal([{ ...N1, hasLeft: true }]);
  });

  it("keeps what was said before a restart until the new process is ready", () => {
    const words = new RememberedWords();
    words.follow([known("n1", "alive")], 0);
    const again = { restarts: 0, refutes: 0, troubleAgeSeconds: 0 };
    words.follow([known("n1", "alive", [], again)], 1_000);
    expect(words.entries(0)).to.deep.equal([N1]);
    words.follow([known("n1", "alive", ["ready"], again)], 2_000);
    expect(words.entries(2_000)).to.deep.equal([{ ...N1, restarts: 0, refutes: 0, ageSeconds: 0 }]);
  });

  it("knows nothing of Go members, and of those that were never ready", () => {
    const words = new RememberedWords();
    words.follow([{ member: { name: "g", state: "alive" } as KnownMember["member"] }, known("n2", "alive", [])], 0);
    expect(words.entries(0)).to.deep.equal([]);
  });

  it("keeps 512 of those that are gone", () => {
    const words = new RememberedWords();
    for (let index = 0; index < 600; index++) words.follow([known(`n${index}`, "alive")], index);
    expect(words.entries(0)).to.have.length(512);
    expect(words.entries(0)[0]?.node).to.equal("n88");
  });
});
