/**
 * Speakers of different versions in one cluster, with a Go member between them: what each says of itself and to the others is relayed whole,
 * and of what a later version says the part that this one knows is read.
 */
import { expect } from "chai";
import { bytesOfHex, hexOf } from "../../src/base/bytes.ts";
import type { MemberView } from "../../src/election/decision.ts";
import { ruleInForce } from "../../src/election/rule-in-force.ts";
import type { NodeWord } from "../../src/election/word.ts";
import { decodeHeldAs } from "../../src/gossip/ack-payload.ts";
import { decodeUserMessages } from "../../src/gossip/user-message.ts";
import { decodeUserState } from "../../src/gossip/user-state.ts";
import { decodeWord } from "../../src/gossip/word.ts";
import { parseIp } from "../../src/net/ip.ts";
import { GoPeer, isBuilt, LIBRARIES } from "./go-peer.ts";
import { OurNode } from "./our-node.ts";

const KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/**
 * Recorded: what the encoders of an earlier version (commit 150b6d9) made, before links could be returning, before claims carried the
 * freshness of a view, and before anybody said who leads.
 */
const EARLIER = {
  word: "a70101020202020200090304000002580406010000000078050b000000030002000000000c050f000000020102000000000b657468300609000000020418c00002060e00000002064020010db800000000",
  messages:
    "a701018b01ab3139322e302e322e3130300292a4c0000264b020010db800000000000000000000010003a36f6c64040405aa617270656767696f2d3106000700080109000aa3616e790bda004030633631636532303833356264383331636462313534646433356634373766633439353333336638646130633339306236313765303337626631336134306333028301ab3139322e302e322e3130310291a4c000026503a36f6c64038301ab3139322e302e322e3130320291a4c000026603a36f6c64",
  state: "a7010100000003010203",
  ack: "010100000009",
};

/** Written by hand: what a later version may add without asking. */
const LATER = {
  word: [
    "a701", //                 the format that this version knows
    "0103030201", //           rules 3 and 2, and a byte more
    "02030009ff", //           ready, cordoned, and eight flags more
    "030600000258abcd", //     ready for 600 s, and two bytes more
    "040700000000000001", //   no trouble, and a byte more
    "0802beef", //             an unknown field
    "2a00", //                 another, without a value
    "fe03010203", //           and another
  ].join(""),
  messages: [
    "a701",
    // yielded, 5 pairs: group g, 192.0.2.8, node n, and the unknown keys 90 (a map) and 91 (nil)
    "028501a1670291a4c000020803a16e5a8101025bc0",
    // the unknown kind 99: a map of a text
    "638101a178",
    // lead?, 3 pairs: group h, 192.0.2.9, node n
    "038301a1680291a4c000020903a16e",
  ].join(""),
  // section 1 of 2 bytes, the unknown section 200 of 1 byte
  state: "a70101000000026162c800000001ff",
  // dead at incarnation 7, and two bytes more
  ack: "01020000000701ff",
  /** Another format: whatever it says cannot be read. */
  wordOfOtherFormat: "a702010203",
};

const hex = (text: string): Uint8Array => bytesOfHex(text) ?? expect.fail(text);
const ip = (text: string) => parseIp(text) ?? expect.fail(text);
const wordOf = (bytes: Uint8Array): NodeWord => {
  const decoded = decodeWord(bytes);
  return decoded.ok ? decoded.value : expect.fail(decoded.reason);
};

const metaAt = (node: OurNode, name: string): string =>
  hexOf(node.driver.members().find((member) => member.name === name)?.meta ?? new Uint8Array(0));

const viewOf = (name: string, word: string): MemberView => {
  const decoded = decodeWord(hex(word));
  return { name, ...(decoded.ok ? { word: decoded.value } : {}) };
};

describe("speakers of other versions", function () {
  this.timeout(60_000);
  const [{ program }] = LIBRARIES;
  const nodes: OurNode[] = [];
  const cluster = {} as { g: GoPeer; now: OurNode; earlier: OurNode; later: OurNode };

  before(async function () {
    if (!isBuilt(program)) {
      process.stdout.write(`    skipped: ${program} is missing; hack/test builds it where Go is installed\n`);
      this.skip();
    }
    cluster.g = await GoPeer.start(program, { name: "g", ip: ip("127.0.77.9"), key: KEY });
    const start = async (name: string, address: string, more: Partial<{ meta: Uint8Array; userState: Uint8Array }>) => {
      const node = await OurNode.start({ name, ip: ip(address), key: KEY, peers: [cluster.g.endpoint], ...more });
      nodes.push(node);
      return node;
    };
    cluster.earlier = await start("earlier", "127.0.77.1", { meta: hex(EARLIER.word), userState: hex(EARLIER.state) });
    cluster.later = await start("later", "127.0.77.2", { meta: hex(LATER.word), userState: hex(LATER.state) });
    cluster.now = await start("now", "127.0.77.3", {});
    for (const node of nodes)
      for (const name of ["g", "earlier", "later", "now"])
        if (name !== node.name)
          await node.news.until(name, () => node.driver.members().some((one) => one.name === name));
  });
  after(async () => {
    await cluster.g?.kill();
    await Promise.all(nodes.map((node) => node.close()));
  });

  it("words pass whole, whatever is in them", () => {
    const { now, earlier, later } = cluster;
    expect(metaAt(now, "earlier")).to.equal(EARLIER.word);
    expect(metaAt(now, "later")).to.equal(LATER.word);
    expect(metaAt(earlier, "later")).to.equal(LATER.word);
    expect(metaAt(later, "earlier")).to.equal(EARLIER.word);
  });

  it("an earlier word is read as it was meant", () => {
    expect(wordOf(hex(EARLIER.word))).to.deep.equal({
      highestRule: "arpeggio-1",
      ruleInUse: "arpeggio-1",
      flags: ["ready", "cordoned"],
      readySeconds: 600,
      restarts: 1,
      refutes: 0,
      troubleAgeSeconds: 120,
      links: [
        { index: 3, isUsable: false, mac: "02:00:00:00:00:0c" },
        { index: 2, isUsable: true, mac: "02:00:00:00:00:0b", name: "eth0" },
      ],
      prefixes: [
        { linkIndex: 2, prefix: { network: "192.0.2.0", length: 24 } },
        { linkIndex: 2, prefix: { network: "2001:db8::", length: 64 } },
      ],
      isTruncated: false,
    });
  });

  it("of a later word the part that is known is read", () => {
    const { highestRule, ruleInUse, flags, readySeconds, links } = wordOf(hex(LATER.word));
    expect({ highestRule, ruleInUse, flags, readySeconds, links }).to.deep.equal({
      highestRule: "arpeggio-1",
      ruleInUse: "arpeggio-1",
      flags: ["ready", "cordoned"],
      readySeconds: 600,
      links: [],
    });
  });

  it("the rule in force is the highest that all can, and the lowest beside a format that cannot be read", () => {
    const both = [viewOf("earlier", EARLIER.word), viewOf("later", LATER.word)];
    expect(ruleInForce(undefined, both, 0, "arpeggio-1").rule).to.equal("arpeggio-1");
    const three = [...both, viewOf("other", LATER.wordOfOtherFormat)];
    expect(ruleInForce(undefined, three, 0, "arpeggio-1")).to.deep.include({ rule: "metallb-1", member: "other" });
  });

  it("an earlier claim is read as it was meant, with a view that is not comparable", async () => {
    const { now, earlier } = cluster;
    earlier.driver.command({ kind: "send-user", to: ["now"], payload: hex(EARLIER.messages) });
    const news = await now.news.until("messages", (one) => one.kind === "user-message" && one.from === "earlier");
    const payload = news.kind === "user-message" ? news.payload : new Uint8Array(0);
    expect(decodeUserMessages(payload)).to.deep.equal({
      messages: [
        {
          kind: "claim",
          group: "192.0.2.100",
          addresses: ["192.0.2.100", "2001:db8::100"],
          node: "old",
          basis: {
            incarnation: 4,
            rule: "arpeggio-1",
            term: 0,
            freshness: 0,
            tier: 1,
            score: 0,
            endpointClass: "any",
            hash: "0c61ce20835bd831cdb154dd35f477fc495333f8da0c390b617e037bf13a40c3",
          },
        },
        { kind: "yielded", group: "192.0.2.101", addresses: ["192.0.2.101"], node: "old" },
        { kind: "lead-question", group: "192.0.2.102", addresses: ["192.0.2.102"], node: "old" },
      ],
      drops: [],
    });
  });

  it("of later messages unknown keys are ignored, and an unknown kind is passed over and counted", async () => {
    const { now, later } = cluster;
    later.driver.command({ kind: "send-user", to: ["now"], payload: hex(LATER.messages) });
    const news = await now.news.until("messages", (one) => one.kind === "user-message" && one.from === "later");
    const payload = news.kind === "user-message" ? news.payload : new Uint8Array(0);
    expect(decodeUserMessages(payload)).to.deep.equal({
      messages: [
        { kind: "yielded", group: "g", addresses: ["192.0.2.8"], node: "n" },
        { kind: "lead-question", group: "h", addresses: ["192.0.2.9"], node: "n" },
      ],
      drops: ["unknown-kind"],
    });
  });

  it("user state of both passes, unknown sections included", async () => {
    const { earlier, later, now } = cluster;
    now.driver.command({ kind: "join", endpoints: [earlier.endpoint, later.endpoint] });
    for (const [node, state, kinds] of [
      [earlier, EARLIER.state, [1]],
      [later, LATER.state, [1, 200]],
    ] as const) {
      const { port } = node.endpoint;
      const news = await now.news.until(
        `state of ${node.name}`,
        (one) => one.kind === "user-state" && one.from.port === port && hexOf(one.bytes) === state,
      );
      const decoded = decodeUserState(news.kind === "user-state" ? news.bytes : new Uint8Array(0));
      expect(decoded.ok && decoded.value.map(({ kind }) => kind)).to.deep.equal(kinds);
    }
  });

  it("payloads of acks of both are read", () => {
    expect(decodeHeldAs(hex(EARLIER.ack))).to.deep.equal({ state: "suspect", incarnation: 9 });
    expect(decodeHeldAs(hex(LATER.ack))).to.deep.equal({ state: "dead", incarnation: 7 });
  });

  it("the Go member between them logged no error", () => {
    expect(cluster.g.errors()).to.deep.equal([]);
    for (const node of nodes) expect([...node.driver.counters().drops]).to.deep.equal([]);
  });
});
