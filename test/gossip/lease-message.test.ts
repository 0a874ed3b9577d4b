import { expect } from "chai";
import fc from "fast-check";
import { type LeaseAsk, type LeaseMessage, PAGE_ADDRESSES } from "../../src/election/strict/lease-messages.ts";
import { decodeLeaseMessages, encodeLeaseMessage } from "../../src/gossip/lease-message.ts";
import { USER_MESSAGE_MAX_BYTES } from "../../src/gossip/user-entries.ts";
import { encodeUserMessages } from "../../src/gossip/user-message.ts";
import { type Ip, parseIp } from "../../src/net/ip.ts";
import { atOffset } from "./recorded.ts";

const ip = (text: string): Ip => parseIp(text) ?? expect.fail(text);
const ADDRESSES = fc.array(fc.oneof(fc.ipV4(), fc.ipV6()).map(ip), { maxLength: PAGE_ADDRESSES });
const NUMBER = fc.nat(511);
const VERSION = fc.maxSafeNat();
const SHARED = { node: fc.string({ minLength: 1, maxLength: 253 }), session: fc.nat(), askedMs: fc.maxSafeNat() };
const MESSAGES: fc.Arbitrary<LeaseMessage> = fc.oneof(
  fc.record({
    kind: fc.constant("lease-ask" as const),
    ...SHARED,
    voterSets: fc.array(fc.maxSafeNat(), { minLength: 1, maxLength: 16 }),
    pages: fc.array(
      fc.record({ number: NUMBER, version: VERSION, addresses: ADDRESSES }, { requiredKeys: ["number", "version"] }),
      { maxLength: 20 },
    ),
  }),
  fc.record(
    {
      kind: fc.constant("lease-grant" as const),
      ...SHARED,
      voterSet: fc.maxSafeNat(),
      pages: fc.array(fc.record({ number: NUMBER, version: VERSION, denied: ADDRESSES }), { maxLength: 20 }),
      refusal: fc.constantFrom("starting" as const, "other-voters" as const),
    },
    { requiredKeys: ["kind", "node", "session", "askedMs", "voterSet", "pages"] },
  ),
);

const ASK: LeaseAsk = {
  kind: "lease-ask",
  node: "n1",
  session: 7,
  askedMs: 10,
  voterSets: [1],
  pages: [{ number: 0, version: 1, addresses: [ip("192.0.2.1")] }],
};

describe("lease messages", () => {
  it("come back as they were, in payloads that fit a datagram", () => {
    fc.assert(
      fc.property(MESSAGES, (message) => {
        const payloads = encodeLeaseMessage(message);
        for (const payload of payloads) expect(payload.length).to.be.at.most(USER_MESSAGE_MAX_BYTES);
        const decoded = payloads.flatMap((payload) => decodeLeaseMessages(atOffset(payload)));
        expect(decoded.map((each) => ({ ...each, pages: [] }))).to.deep.equal(
          payloads.map(() => ({ ...message, pages: [] })),
        );
        expect(decoded.flatMap<unknown>(({ pages }) => pages)).to.deep.equal(message.pages);
      }),
    );
  });

  it("never throw, whatever bytes come", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(7, 8), (bytes, kind) => {
        decodeLeaseMessages(Uint8Array.of(0xa7, 1, kind, ...bytes));
        decodeLeaseMessages(bytes);
      }),
    );
  });

  it("pass over entries of other kinds in the same payload", () => {
    const [other] = encodeUserMessages([{ kind: "yielded", group: "g", addresses: [ip("192.0.2.9")], node: "n2" }]);
    const [ask] = encodeLeaseMessage(ASK);
    const payload = Uint8Array.of(...(other ?? []), ...(ask ?? []).slice(2));
    expect(decodeLeaseMessages(payload)).to.deep.equal([ASK]);
  });

  it("lose a page that is too long whole: half of what was denied would be taken for granted", () => {
    const addresses = Array.from({ length: PAGE_ADDRESSES + 1 }, (_, index) => ip(`192.0.2.${index + 1}`));
    const [page] = ASK.pages;
    const long: LeaseAsk = {
      ...ASK,
      pages: [{ number: 3, version: 1, addresses }, ...(page === undefined ? [] : [page])],
    };
    const decoded = encodeLeaseMessage(long).flatMap((payload) => decodeLeaseMessages(payload));
    expect(decoded.flatMap<unknown>(({ pages }) => pages)).to.deep.equal([page]);
  });
});
