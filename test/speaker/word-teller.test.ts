/** Which changes of a node's word are told at once, and which may wait for others. */
import { expect } from "chai";
import { WordTeller } from "../../speaker/word-teller.ts";
import type { NodeWord } from "../../src/election/word.ts";
import { parseMac } from "../../src/net/mac.ts";
import { parsePrefix } from "../../src/net/prefix.ts";

const MAC = parseMac("02:00:00:00:00:01") ?? expect.fail();
const PREFIX = parsePrefix("192.0.2.0/24") ?? expect.fail();
const WORD: NodeWord = {
  highestRule: "arpeggio-1",
  ruleInUse: "arpeggio-1",
  flags: ["ready"],
  readySeconds: 10,
  restarts: 0,
  refutes: 0,
  troubleAgeSeconds: 0,
  links: [{ index: 2, isUsable: true, isReturning: true, mac: MAC }],
  prefixes: [{ linkIndex: 2, prefix: PREFIX }],
  isTruncated: false,
};

describe("this node's word", () => {
  it("is told when it has changed", () => {
    const teller = new WordTeller();
    expect(teller.tell(WORD)).to.include({ kind: "set-meta", isUrgent: true });
    expect(teller.tell({ ...WORD })).to.equal(undefined);
  });
  for (const { name, change, isUrgent } of [
    { name: "a flag", change: { flags: ["ready", "cordoned"] }, isUrgent: true },
    { name: "the rule in use", change: { ruleInUse: "metallb-1" }, isUrgent: true },
    {
      name: "a link that carries no more",
      change: { links: [{ index: 2, isUsable: false, mac: MAC }] },
      isUrgent: true,
    },
    {
      name: "a link that counts whole again",
      change: { links: [{ index: 2, isUsable: true, mac: MAC }] },
      isUrgent: true,
    },
    { name: "a prefix", change: { prefixes: [] }, isUrgent: true },
    { name: "how long it has been ready", change: { readySeconds: 30 }, isUrgent: false },
    { name: "troubles and their age", change: { restarts: 1, refutes: 1, troubleAgeSeconds: 60 }, isUrgent: false },
  ] as const satisfies readonly { name: string; change: Partial<NodeWord>; isUrgent: boolean }[]) {
    it(`${isUrgent ? "tells at once" : "may wait with"} ${name}`, () => {
      const teller = new WordTeller();
      teller.tell(WORD);
      expect(teller.tell({ ...WORD, ...change })).to.include({ isUrgent });
    });
  }
});
