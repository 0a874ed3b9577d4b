import { expect } from "chai";
import { CommonMemory } from "../../speaker/common-memory.ts";
import { Holding } from "../../speaker/holding.ts";
import type { KnownMember } from "../../speaker/member-views.ts";
import type { Decision } from "../../src/election/decision.ts";
import type { PastWord } from "../../src/gossip/past-words.ts";
import type { UserMessage } from "../../src/gossip/user-message.ts";
import type { Ip } from "../../src/net/ip.ts";
import { advertisement } from "../desired/facts.ts";
import { groupService, ip, word } from "../election/views.ts";

const STICKY = ip("192.0.2.1");
const PLAIN = ip("198.51.100.1");
const MANY = Array.from({ length: 1_000 }, (_, index) => ip(`192.0.${2 + (index >> 8)}.${index & 255}`));

/** Led by n1, in this term. */
function decisionOf(address: Ip, term = 1): Decision {
  const advertisements = [address === PLAIN ? advertisement("a") : advertisement("s", { isSticky: true as const })];
  const group = { key: address, addresses: [address], services: [groupService([address], { advertisements })] };
  return { group, leader: "n1", sticky: { holder: "n1", term } } as unknown as Decision;
}

/** The memory of one node, which reads messages of n9. */
class Node {
  readonly sent: { readonly to: readonly string[]; readonly messages: readonly UserMessage[] }[] = [];
  readonly remembered: PastWord[] = [];
  state = new Uint8Array(0);
  readonly holding: Holding;
  readonly memory: CommonMemory;

  constructor(name: string) {
    this.holding = new Holding(name, decisionOf, () => {});
    this.memory = new CommonMemory(name, {
      holding: this.holding,
      ours: () => ["n9"],
      send: (to, messages) => void this.sent.push({ to, messages }),
      setUserState: (bytes) => void (this.state = new Uint8Array(bytes)),
      remember: (past) => void this.remembered.push(past),
    });
  }

  /** Turns until nothing more is due at that time. */
  tickAt(nowMs: number): number {
    let turns = 0;
    for (; (this.memory.deadlineMs() ?? nowMs + 1) <= nowMs; turns++) this.memory.tick(nowMs);
    return turns;
  }
}

const said = (node: string, term: number, addresses: readonly Ip[] = [STICKY]): UserMessage => ({
  kind: "sticky",
  addresses,
  node,
  term,
});
const claimed = (node: string, term: number): UserMessage => ({
  kind: "claim",
  group: STICKY,
  addresses: [STICKY],
  node,
  basis: { incarnation: 1, rule: "arpeggio-1", term, freshness: 0, tier: 1, score: 0, endpointClass: "any", hash: "" },
});

describe("CommonMemory", () => {
  it("tells everybody what this node has written itself down for", () => {
    const node = new Node("n1");
    const held = node.holding.hold([decisionOf(STICKY, 3)], new Set(), 0);
    expect(held).to.deep.equal([STICKY]);
    node.memory.follow(held, [], 0);
    node.tickAt(0);
    expect(node.sent).to.deep.equal([{ to: ["n9"], messages: [said("n1", 3)] }]);
    expect(node.holding.hold([decisionOf(STICKY, 3)], new Set(), 0)).to.deep.equal([]);
  });

  it("tells what it took itself though another that took it in the same term comes first: that one takes a new term then", () => {
    const node = new Node("n1");
    node.memory.follow(node.holding.hold([decisionOf(STICKY)], new Set(), 0), [], 0);
    node.memory.hear("n0", [said("n0", 1)], 0);
    node.tickAt(0);
    expect(node.sent).to.deep.equal([{ to: ["n9"], messages: [said("n0", 1), said("n1", 1)] }]);
  });

  for (const { name, heard, answer } of [
    { name: "a lower term", heard: said("n3", 3), answer: [said("n2", 4)] },
    { name: "a claim in a lower term", heard: claimed("n3", 0), answer: [said("n2", 4)] },
    { name: "the same term", heard: said("n2", 4), answer: [] },
    { name: "a higher term", heard: said("n3", 5), answer: [] },
    { name: "a claim in a higher term", heard: claimed("n3", 5), answer: [] },
  ]) {
    it(`says what it knows to who says ${name}: ${answer.length === 0 ? "nothing" : "the record"}`, () => {
      const node = new Node("n1");
      expect(node.memory.hear("n9", [said("n2", 4)], 0)).to.equal(true);
      node.memory.hear("n3", [heard], 0);
      expect(node.sent.flatMap(({ messages }) => messages)).to.deep.equal(answer);
      for (const { to } of node.sent) expect(to).to.deep.equal(["n3"]);
    });
  }

  it("hands on what it heard in its user state, some of it in each turn, and not of addresses that are not sticky here", () => {
    const [one, other] = [new Node("n1"), new Node("n2")];
    one.memory.hear("n9", [said("n3", 7, MANY), said("n3", 1, [PLAIN])], 0);
    expect(one.tickAt(0)).to.be.at.least(3);
    other.memory.hearState(one.state, 0);
    let turns = 0;
    for (; other.memory.isReading; turns++) other.memory.goOn(0);
    expect(turns).to.be.at.least(3);
    expect(other.holding.byIp.size).to.equal(MANY.length);
    expect(other.holding.holderOf(MANY[999] ?? PLAIN)).to.deep.equal({ node: "n3", term: 7 });
  });

  it("writes its user state anew once a second when something changes, and every ten seconds else", () => {
    const node = new Node("n1");
    node.tickAt(0);
    expect(node.memory.deadlineMs()).to.equal(10_000);
    node.memory.hear("n9", [said("n2", 1)], 300);
    expect(node.memory.deadlineMs()).to.equal(1_000);
  });

  it("is told by a peer what it was before it crashed, and nothing of others", () => {
    const [one, other] = [new Node("n1"), new Node("n2")];
    const members = ["n2", "n3"].map((name) => ({ member: { name, state: "dead" }, word: undefined }));
    const alive = members.map(({ member }) => ({
      member: { ...member, state: "alive" },
      word: word(["ready"], { restarts: 2, troubleAgeSeconds: 60 }),
    }));
    one.memory.follow([], alive as unknown as KnownMember[], 0);
    one.memory.follow([], members as unknown as KnownMember[], 1_000);
    one.tickAt(10_000);
    other.memory.hearState(one.state, 10_000);
    expect(other.remembered).to.deep.equal([{ node: "n2", restarts: 2, refutes: 0, ageSeconds: 70, hasLeft: false }]);
  });

  it("takes no harm from another program's user state, or a broken one", () => {
    const node = new Node("n1");
    for (const bytes of [
      [1, 2, 3],
      [0xa7, 1, 1, 0, 0, 0, 2, 5, 0xc1],
      [0xa7, 1, 2, 0, 0, 0, 1, 0xc1],
      [0xa7, 1, 9],
    ]) {
      node.memory.hearState(Uint8Array.from(bytes), 0);
      for (let turns = 0; node.memory.isReading && turns < 10; turns++) node.memory.goOn(0);
    }
    expect(node.memory.isReading).to.equal(false);
    expect(node.holding.byIp.size).to.equal(0);
  });
});
