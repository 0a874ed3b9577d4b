/** What our members say to each other of sticky addresses, and in the user state, is nothing to a member of the Go library. */
import { expect } from "chai";
import { bytesOfHex, hexOf } from "../../src/base/bytes.ts";
import { HolderBook } from "../../src/election/holders.ts";
import { HOLDER_SECTION, HolderSectionReader, HolderSectionWriter } from "../../src/gossip/holder-section.ts";
import { encodePastWords, PAST_WORDS_SECTION } from "../../src/gossip/past-words.ts";
import { decodeUserMessages, encodeUserMessages, type StickyMessage } from "../../src/gossip/user-message.ts";
import { decodeUserState, encodeUserState } from "../../src/gossip/user-state.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";
import { GoPeer, isBuilt, LIBRARIES } from "./go-peer.ts";
import { OurNode } from "./our-node.ts";

const KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const META = bytesOfHex("a70102020001") ?? expect.fail();
const ip = (text: string) => parseIp(text) ?? expect.fail(text);

const ADDRESSES: readonly Ip[] = Array.from({ length: 300 }, (_, index) => ip(`192.0.${index >> 8}.${index & 255}`));
const RECORD: StickyMessage = { kind: "sticky", addresses: ADDRESSES, node: "a", term: 4 };

function stateOf(record: StickyMessage): Uint8Array {
  const book = new HolderBook();
  book.take([record], () => true, 0);
  const holders = new HolderSectionWriter(book.byIp, () => true).go(1_000) ?? expect.fail("not written");
  const past = [{ node: "b", restarts: 2, refutes: 0, ageSeconds: 30, hasLeft: false }];
  return encodeUserState([
    { kind: HOLDER_SECTION, bytes: holders },
    { kind: PAST_WORDS_SECTION, bytes: encodePastWords(past) },
  ]);
}

for (const { name: library, program } of LIBRARIES) {
  describe(`sticky records beside ${library}`, function () {
    this.timeout(60_000);
    const open: { a?: OurNode; b?: OurNode; g?: GoPeer } = {};

    before(function () {
      if (isBuilt(program)) return;
      process.stdout.write(`    skipped: ${program} is missing; hack/test builds it where Go is installed\n`);
      this.skip();
    });
    after(async () => {
      await open.g?.kill();
      await Promise.all([open.a?.close(), open.b?.close()]);
    });

    it("reach our member in a push/pull and by messages; Go takes both as bytes, and neither fails nor doubts anybody", async () => {
      const userState = stateOf(RECORD);
      const g = await GoPeer.start(program, { name: "g", ip: ip("127.0.73.3"), key: KEY });
      open.g = g;
      const a = await OurNode.start({ name: "a", ip: ip("127.0.73.1"), key: KEY, meta: META, userState });
      open.a = a;
      expect(await g.join(a.endpoint)).to.deep.include({ event: "done" });
      await g.events.until("state", ({ event, bytes }) => event === "state" && bytes === userState.length);
      const b = await OurNode.start({ name: "b", ip: ip("127.0.73.2"), key: KEY, meta: META, peers: [a.endpoint] });
      open.b = b;
      const news = await b.news.until("state", (one) => one.kind === "user-state" && one.bytes.length > 0);
      expect(recordsIn(news.kind === "user-state" ? news.bytes : new Uint8Array(0))).to.deep.equal(RECORD.addresses);
      await Promise.all([a.sees("b", "joined"), b.sees("g", "joined"), a.sees("g", "joined")]);

      const payloads = encodeUserMessages([RECORD]);
      for (const payload of payloads) a.driver.command({ kind: "send-user", to: ["g", "b"], payload });
      for (const payload of payloads) {
        await g.events.until("message", ({ event, hex: text }) => event === "message" && text === hexOf(payload));
        const heard = await b.news.until(
          "message",
          (one) => one.kind === "user-message" && hexOf(one.payload) === hexOf(payload),
        );
        expect(decodeUserMessages(heard.kind === "user-message" ? heard.payload : payload).drops).to.deep.equal([]);
      }

      // It answers us as before, and nobody was suspected because of what Go was told.
      expect(await g.command("send a 6f6b")).to.deep.include({ event: "done" });
      await a.news.until("answer", (one) => one.kind === "user-message" && hexOf(one.payload) === "6f6b");
      expect(g.errors()).to.deep.equal([]);
      for (const node of [a, b]) {
        expect(node.driver.members().map(({ state }) => state)).to.deep.equal(node.driver.members().map(() => "alive"));
      }
    });
  });
}

function recordsIn(state: Uint8Array): readonly Ip[] {
  const sections = decodeUserState(state);
  if (!sections.ok) return expect.fail(sections.reason);
  const section = sections.value.find(({ kind }) => kind === HOLDER_SECTION) ?? expect.fail("no section");
  return new HolderSectionReader(section.bytes).read(1_000).flatMap(({ addresses }) => addresses);
}
