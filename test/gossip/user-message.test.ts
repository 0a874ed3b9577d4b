import { expect } from "chai";
import fc from "fast-check";
import type { HandoverMessage } from "../../src/announcer/ports.ts";
import { USER_MESSAGE_MAX_BYTES } from "../../src/gossip/user-entries.ts";
import {
  decodeUserMessages,
  encodeUserMessages,
  type LeaderMessage,
  type UserMessage,
} from "../../src/gossip/user-message.ts";
import { decodeUserState, encodeUserState, USER_STATE_MAX_BYTES } from "../../src/gossip/user-state.ts";
import { parseIp } from "../../src/net/ip.ts";
import { atOffset, hex } from "./recorded.ts";

const ip = (text: string) => parseIp(text) ?? expect.fail(text);
const yielded = (last: number): LeaderMessage => ({
  kind: "yielded",
  group: `g${last}`,
  addresses: [ip(`192.0.2.${last}`)],
  node: "n1",
});

/** The announcer's contract has the same shape: both directions must compile. */
const sent = (message: HandoverMessage): LeaderMessage => message;
const heard = (message: LeaderMessage): HandoverMessage => message;

const ADDRESSES = fc.array(fc.oneof(fc.ipV4(), fc.ipV6()).map(ip), { minLength: 1, maxLength: 24 });
const NAME = fc.string({ minLength: 1, maxLength: 253 });
const BASES = fc.record({
  incarnation: fc.nat(0xffff_ffff),
  rule: fc.string(),
  term: fc.maxSafeNat(),
  freshness: fc.maxSafeNat(),
  tier: fc.nat(5),
  score: fc.integer(),
  endpointClass: fc.string(),
  hash: fc.string(),
});
const MESSAGES: fc.Arbitrary<UserMessage> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("yielded" as const, "lead-question" as const),
    group: NAME,
    addresses: ADDRESSES,
    node: NAME,
  }),
  fc.record({
    kind: fc.constant("claim" as const),
    group: NAME,
    addresses: ADDRESSES,
    node: NAME,
    basis: BASES,
  }),
  fc.record(
    {
      kind: fc.constant("lead" as const),
      group: NAME,
      addresses: ADDRESSES,
      node: NAME,
      leads: fc.boolean(),
      reason: fc.string({ maxLength: 40 }),
      leader: NAME,
      freshness: fc.maxSafeNat(),
    },
    { requiredKeys: ["kind", "group", "addresses", "node", "leads", "reason", "freshness"] },
  ),
  fc.record({
    kind: fc.constant("lead-question" as const),
    group: NAME,
    addresses: ADDRESSES,
    node: NAME,
    basis: BASES.map((basis) => ({ ...basis, rule: `${basis.rule}-1` })),
  }),
  fc.record({
    kind: fc.constant("sticky" as const),
    addresses: ADDRESSES,
    node: NAME,
    term: fc.integer({ min: 1, max: 0xffff_ffff }),
  }),
);

describe("user messages", () => {
  it("have the shape of the announcer's", () => expect(heard(sent(yielded(1)))).to.deep.equal(yielded(1)));

  it("come back in their order, in payloads of at most 1,200 bytes", () => {
    fc.assert(
      fc.property(fc.array(MESSAGES, { maxLength: 12 }), (messages) => {
        const payloads = encodeUserMessages(messages);
        expect(payloads.every(({ length }) => length <= USER_MESSAGE_MAX_BYTES)).to.equal(true);
        const again = payloads.flatMap((payload) => decodeUserMessages(atOffset(payload)).messages);
        expect(again).to.deep.equal(messages);
      }),
    );
  });

  it("share a payload as far as they fit", () => {
    const payloads = encodeUserMessages(Array.from({ length: 100 }, (_, last) => yielded(last)));
    expect(payloads).to.have.length(2);
    expect(payloads[0]?.length).to.be.greaterThan(USER_MESSAGE_MAX_BYTES - 20);
  });

  it("of more than 24 addresses become several of one group", () => {
    const addresses = Array.from({ length: 60 }, (_, last) => ip(`192.0.2.${last}`));
    const again = encodeUserMessages([{ ...yielded(1), addresses }]).flatMap((one) => decodeUserMessages(one).messages);
    expect(again.map((message) => message.addresses.length)).to.deep.equal([24, 24, 12]);
    expect(again.flatMap((message) => message.addresses)).to.deep.equal(addresses);
  });

  it("of none take no payload", () => expect(encodeUserMessages([])).to.deep.equal([]));

  const GOOD = "02830 1a16702 91a4c0000201 03a16e".replaceAll(" ", "");
  const READ = { kind: "yielded", group: "g", addresses: ["192.0.2.1"], node: "n" };
  for (const { name, bytes, messages = [], drops = [] } of [
    { name: "unknown keys", bytes: `a701${GOOD.replace("0283", "0285")}619201026dc0`, messages: [READ] },
    {
      name: "an unknown kind between known ones",
      bytes: `a701${GOOD}c881019101${GOOD}`,
      messages: [READ, READ],
      drops: ["unknown-kind"],
    },
    { name: "an entry cut short after a whole one", bytes: `a701${GOOD}0283`, messages: [READ], drops: ["truncated"] },
    { name: "an entry without addresses", bytes: "a7010282 01a167 03a16e", drops: ["malformed"] },
    { name: "an address of five bytes", bytes: "a701028301a1670291a5c00002010003a16e", drops: ["malformed"] },
    { name: "a sticky of term 0", bytes: "a7010583 0291a4c0000201 03a16e 0600", drops: ["malformed"] },
    { name: "a sticky without addresses", bytes: "a7010582 03a16e 0601", drops: ["malformed"] },
    {
      name: "a sticky of a term beyond u32",
      bytes: "a7010583 0291a4c0000201 03a16e 06cf0000000100000000",
      drops: ["malformed"],
    },
    { name: "a float for a number", bytes: "a701018106ca00000000", drops: ["malformed"] },
    { name: "another program's message", bytes: "68656c6c6f", drops: ["not-ours"] },
    { name: "nothing", bytes: "", drops: ["not-ours"] },
  ] as const) {
    it(`reads ${name}`, () => expect(decodeUserMessages(hex(bytes))).to.deep.equal({ messages, drops }));
  }

  it("never throw", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const { messages, drops } = decodeUserMessages(Uint8Array.of(0xa7, 1, ...bytes));
        expect(messages.length + drops.length).to.be.at.most(bytes.length);
      }),
    );
  });
});

describe("user state", () => {
  it("leaves out what does not fit beside sections of lower kind", () => {
    const large = new Uint8Array(USER_STATE_MAX_BYTES - 20);
    const state = encodeUserState([
      { kind: 3, bytes: hex("aa") },
      { kind: 2, bytes: large },
      { kind: 1, bytes: large },
    ]);
    const sections = decodeUserState(atOffset(state));
    expect(sections.ok && sections.value.map(({ kind }) => kind)).to.deep.equal([1, 3]);
  });

  for (const { name, bytes, reason } of [
    { name: "nothing, as Go members send", bytes: "", reason: "not-ours" },
    { name: "another program's", bytes: "7b7d", reason: "not-ours" },
    { name: "a section without its length", bytes: "a70101000000", reason: "truncated" },
    { name: "a section cut short", bytes: "a7010100000002aa", reason: "truncated" },
    { name: "a length near 2^32", bytes: "a70101fffffffaaa", reason: "truncated" },
    { name: "more than 256 KiB", bytes: `a701${"00".repeat(USER_STATE_MAX_BYTES)}`, reason: "too-large" },
  ]) {
    it(`refuses ${name} as ${reason}`, () => expect(decodeUserState(hex(bytes))).to.deep.equal({ ok: false, reason }));
  }

  it("comes back", () => {
    const section = fc.record({ kind: fc.nat(255), bytes: fc.uint8Array({ maxLength: 50 }) });
    fc.assert(
      fc.property(fc.array(section, { maxLength: 9 }), (sections) => {
        const again = decodeUserState(encodeUserState(sections));
        expect(again).to.deep.equal({ ok: true, value: sections.toSorted((a, b) => a.kind - b.kind) });
      }),
    );
  });
});
