/** The blocks of docs/wire.md, written by hand, against the codecs. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "chai";
import { hexOf } from "../../src/base/bytes.ts";
import { HolderBook } from "../../src/election/holders.ts";
import type { LeaseMessage } from "../../src/election/strict/lease-messages.ts";
import type { NodeWord } from "../../src/election/word.ts";
import { decodeHeldAs, encodeHeldAs } from "../../src/gossip/ack-payload.ts";
import { HolderSectionReader, HolderSectionWriter } from "../../src/gossip/holder-section.ts";
import { decodeLeaseMessages, encodeLeaseMessage } from "../../src/gossip/lease-message.ts";
import { decodePastWords, encodePastWords, type PastWord } from "../../src/gossip/past-words.ts";
import type { HeldAs } from "../../src/gossip/swim-event.ts";
import {
  decodeUserMessages,
  encodeUserMessages,
  type StickyMessage,
  type UserMessage,
} from "../../src/gossip/user-message.ts";
import { decodeUserState, encodeUserState } from "../../src/gossip/user-state.ts";
import { decodeWord, encodeWord } from "../../src/gossip/word.ts";
import { atOffset, hex } from "./recorded.ts";

const PAGE = readFileSync(resolve(import.meta.dirname, "../../../docs/wire.md"), "utf8");

/** A block of hex, comments taken off, and the JSON that follows it. */
function block(name: string): { readonly bytes: Uint8Array; readonly meaning: unknown } {
  const match = new RegExp(`\`\`\`${name}\\n(.*?)\`\`\`\\s+\`\`\`json\\n(.*?)\`\`\``, "s").exec(PAGE);
  const lines = (match?.[1] ?? expect.fail(name)).trimEnd().split("\n");
  const digits = lines.map((line) => /^(?:[0-9A-F]{2}(?: |$))+/.exec(line)?.[0] ?? expect.fail(line));
  return { bytes: atOffset(hex(digits.join(""))), meaning: JSON.parse(match?.[2] ?? "") };
}

describe("docs/wire.md", () => {
  it("says what a word is", () => {
    const { bytes, meaning } = block("word");
    expect(decodeWord(bytes)).to.deep.equal({ ok: true, value: meaning });
    expect(hexOf(encodeWord(meaning as NodeWord))).to.equal(hexOf(bytes));
  });

  it("says what user messages are", () => {
    const { bytes, meaning } = block("user-message");
    expect(decodeUserMessages(bytes)).to.deep.equal({ messages: meaning, drops: [] });
    expect(encodeUserMessages(meaning as UserMessage[]).map(hexOf)).to.deep.equal([hexOf(bytes)]);
  });

  for (const name of ["lease-ask", "lease-grant"]) {
    it(`says what a ${name} is`, () => {
      const { bytes, meaning } = block(name);
      expect(decodeLeaseMessages(bytes)).to.deep.equal([meaning]);
      expect(encodeLeaseMessage(meaning as LeaseMessage).map(hexOf)).to.deep.equal([hexOf(bytes)]);
      expect(decodeUserMessages(bytes)).to.deep.equal({ messages: [], drops: ["unknown-kind"] });
    });
  }

  it("says what user state is", () => {
    const { bytes, meaning } = block("user-state");
    const sections = (meaning as { kind: number; bytes: string }[]).map((one) => ({ ...one, bytes: hex(one.bytes) }));
    expect(decodeUserState(bytes)).to.deep.equal({ ok: true, value: sections });
    expect(hexOf(encodeUserState(sections.toReversed()))).to.equal(hexOf(bytes));
  });

  it("says what its section about holders is", () => {
    const { bytes, meaning } = block("holder-section");
    const messages = meaning as StickyMessage[];
    expect(new HolderSectionReader(bytes).read(100)).to.deep.equal(messages);
    const book = new HolderBook();
    book.take(messages, () => true, 0);
    expect(hexOf(new HolderSectionWriter(book.byIp, () => true).go(100) ?? bytes.subarray(0, 0))).to.equal(
      hexOf(bytes),
    );
  });

  it("says what its section about past words is", () => {
    const { bytes, meaning } = block("past-words");
    expect(decodePastWords(bytes)).to.deep.equal(meaning);
    expect(hexOf(encodePastWords(meaning as PastWord[]))).to.equal(hexOf(bytes));
  });

  it("says what the payload of an ack is", () => {
    const { bytes, meaning } = block("ack-payload");
    expect(decodeHeldAs(bytes)).to.deep.equal(meaning);
    expect(hexOf(encodeHeldAs(meaning as HeldAs))).to.equal(hexOf(bytes));
  });
});
