import { expect } from "chai";
import fc from "fast-check";
import { concatBytes, hexOf } from "../../src/base/bytes.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { encodeCompressed } from "../../src/gossip/compression.ts";
import { openDatagram, overheadBytes, type SealDatagramOptions, sealDatagram } from "../../src/gossip/datagram.ts";
import { sealPayload } from "../../src/gossip/encryption.ts";
import { Keyring } from "../../src/gossip/keyring.ts";
import { encodeMessage } from "../../src/gossip/message-codec.ts";
import { hex, RECORDINGS, recording } from "./recorded.ts";

const KEY = new Uint8Array(32).fill(7);
const NONCE = new Uint8Array(12).fill(1);
const NO_BYTES = new Uint8Array(0);
const PLAIN = { label: "", verifyIncoming: true, maxDecompressedBytes: 65_536 };
const SEALED = { ...PLAIN, keyring: new Keyring(KEY) };
const SEAL: SealDatagramOptions = { label: "", compressFromBytes: 0, withCrc: true, random: new SeededRandom(1) };
const NACK = encodeMessage({ kind: "nack", seqNo: 1 });
const OPENED_NACK = { kind: "nack", seqNo: 1 };

const opened = (bytes: Uint8Array, options: Parameters<typeof openDatagram>[1] = PLAIN) => {
  const { messages, drops } = openDatagram(bytes, options);
  return { messages, drops };
};
const dropOf = (reason: string) => ({ messages: [], drops: [reason] });

/** v0 with a last byte that is no padding: sealed as version 1, whose plaintext is taken as it is, then renamed. */
function wrongPadding(lastByte: number): Uint8Array {
  const block = new Uint8Array(32).fill(lastByte);
  const sealed = sealPayload(block, KEY, NONCE, NO_BYTES);
  sealed[0] = 0;
  return sealed;
}

describe("openDatagram", () => {
  for (const { name, bytes, options = PLAIN, reason } of [
    { name: "nothing", bytes: "", reason: "empty" },
    { name: "a stream's message", bytes: "0683", reason: "unknown-type" },
    { name: "a type of the future", bytes: "0e80", reason: "unknown-type" },
    { name: "a checksum of too few bytes", bytes: "0c0000", reason: "unknown-type" },
    { name: "a wrong checksum", bytes: "0c0000000080", reason: "checksum-mismatch" },
    { name: "a message cut short", bytes: "0b81a55365714e6f", reason: "truncated" },
    { name: "a message that is no map", bytes: "0b05", reason: "malformed" },
    { name: "an alive of a 5-byte address", bytes: "0481a441646472a50102030405", reason: "bad-address" },
    { name: "an indirect ping without a target", bytes: "0180", reason: "bad-address" },
    { name: "a compound without its count", bytes: "07", reason: "truncated" },
    { name: "a compound of no parts", bytes: "0700", reason: "empty" },
    { name: "a compound without its lengths", bytes: "070200", reason: "truncated" },
    { name: "a label that nobody asked for", bytes: "f40161", reason: "label-mismatch" },
    { name: "a label of no bytes", bytes: "f400", reason: "label-malformed" },
    { name: "a label cut short", bytes: "f40461", options: { ...PLAIN, label: "abcd" }, reason: "label-malformed" },
    { name: "another label", bytes: "f40162", options: { ...PLAIN, label: "a" }, reason: "label-mismatch" },
    { name: "no label", bytes: "0b80", options: { ...PLAIN, label: "a" }, reason: "label-mismatch" },
    { name: "an unknown compression", bytes: "0982a4416c676f01a3427566a3000302", reason: "bad-compression" },
    { name: "broken compression", bytes: "0982a4416c676f00a3427566a100", reason: "bad-compression" },
    { name: "compressed nothing", bytes: "0982a4416c676f00a3427566a3000302", reason: "empty" },
    { name: "a checksum inside a compound", bytes: "07010006".concat("0c0000000080"), reason: "unknown-type" },
    {
      name: "plain text in an encrypted cluster",
      bytes: "0b81a55365714e6f01",
      options: SEALED,
      reason: "not-authentic",
    },
    {
      name: "an encryption version of the future",
      bytes: `02${"00".repeat(40)}`,
      options: SEALED,
      reason: "not-authentic",
    },
  ] as const) {
    it(`drops ${name} as ${reason}`, () => expect(opened(hex(bytes), options)).to.deep.equal(dropOf(reason)));
  }

  it("takes each part of a compound for itself; an empty one crashes memberlist 0.2.2", () => {
    const bytes = concatBytes([hex("0703"), hex("0000"), hex("0001"), Uint8Array.of(0, NACK.length), hex("0e"), NACK]);
    expect(opened(bytes)).to.deep.equal({ messages: [OPENED_NACK], drops: ["empty", "unknown-type"] });
  });

  it("keeps the parts before the one that is cut short", () => {
    const bytes = concatBytes([hex("0702"), Uint8Array.of(0, NACK.length, 0, 9), NACK, hex("0b")]);
    expect(opened(bytes)).to.deep.equal({ messages: [OPENED_NACK], drops: ["truncated"] });
  });

  for (const lastByte of [0, 17, 33, 255]) {
    it(`drops a version 0 payload whose padding says ${lastByte}, which crashes Go peers`, () =>
      expect(opened(wrongPadding(lastByte), SEALED)).to.deep.equal(dropOf("not-authentic")));
  }

  it("drops an encrypted nothing of either version", () => {
    for (const version of [0, 1] as const) {
      const sealed = sealPayload(NO_BYTES, KEY, NONCE, NO_BYTES, version);
      expect(opened(sealed, SEALED)).to.deep.equal(dropOf("empty"));
    }
  });

  it("refuses every change of a sealed byte but one of the version's", () => {
    const sealed = sealDatagram([NACK], { ...SEAL, keyring: new Keyring(KEY) });
    for (let index = 1; index < sealed.length; index++) {
      const changed = sealed.slice();
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(opened(changed, SEALED)).to.deep.equal(dropOf("not-authentic"));
    }
  });

  it("opens with any key of the ring", () => {
    const sealed = sealDatagram([NACK], { ...SEAL, keyring: new Keyring(KEY) });
    const ring = new Keyring(new Uint8Array(16), [new Uint8Array(24), KEY]);
    expect(opened(sealed, { ...PLAIN, keyring: ring }).messages).to.deep.equal([OPENED_NACK]);
  });

  it("takes plain text beside encrypted when incoming is not verified", () => {
    const lenient = { ...SEALED, verifyIncoming: false };
    expect(opened(NACK, lenient).messages).to.deep.equal([OPENED_NACK]);
    const sealed = sealDatagram([NACK], { ...SEAL, keyring: new Keyring(KEY) });
    expect(opened(sealed, lenient).messages).to.deep.equal([OPENED_NACK]);
  });

  it("drops wrappers within wrappers", () => {
    let bytes = NACK;
    for (let depth = 0; depth < 4; depth++) bytes = encodeCompressed(bytes);
    expect(opened(bytes)).to.deep.equal(dropOf("too-deep"));
  });

  it("spends one budget of decompressed bytes on all parts", () => {
    const part = encodeCompressed(concatBytes([hex("08"), new Uint8Array(39_999)]));
    const bytes = sealDatagram([part, part], { ...SEAL, compressFromBytes: Number.POSITIVE_INFINITY });
    const { messages, drops } = opened(bytes);
    expect(messages.map(({ kind }) => kind)).to.deep.equal(["user"]);
    expect(drops).to.deep.equal(["too-large"]);
  });

  it("reads an alive of fewer than six version bytes as one without versions", () => {
    const [message] = opened(hex("0482a441646472a47f000001a356736ea5".concat("0105020000"))).messages;
    expect(message).to.deep.include({ kind: "alive" });
    expect(message).not.to.have.property("versions");
  });

  it("reads a ping whose source has no port, or a broken address, as one without a source", () => {
    for (const source of ["aa536f7572636541646472a4c0000201", "aa536f7572636541646472a3c00002"]) {
      const port = source.includes("a4") ? "" : "aa536f75726365506f72740a";
      const bytes = hex(`008${port === "" ? 2 : 3}a55365714e6f01${source}${port}`);
      expect(opened(bytes)).to.deep.equal({ messages: [{ kind: "ping", seqNo: 1, node: "" }], drops: [] });
    }
  });

  it("reads the mapped form of an IPv4 address as IPv4, and never sends it", () => {
    const mapped = "0481a441646472b000000000000000000000ffffc0000201";
    const [message] = opened(hex(mapped)).messages;
    expect(message).to.deep.include({ kind: "alive", endpoint: { ip: "192.0.2.1", port: 0 } });
    expect(hexOf(encodeMessage(message ?? expect.fail("alive")))).to.contain("a441646472a4c0000201");
  });

  it("gives values that share no memory with the datagram", () => {
    for (const one of RECORDINGS.filter(
      ({ transport, layers }) => transport === "udp" && layers[0]?.layer === "message",
    )) {
      const buffer = Buffer.from(one.hex, "hex");
      const { messages } = openDatagram(buffer, PLAIN);
      const before = JSON.stringify(messages);
      buffer.fill(0);
      expect(JSON.stringify(messages)).to.equal(before);
    }
  });

  it("never throws, whatever the bytes and the options", () => {
    const starts = RECORDINGS.filter(({ transport }) => transport === "udp").map((one) => hex(one.hex));
    const mutated = fc
      .tuple(fc.constantFrom(...starts), fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 5 }), fc.nat(400))
      .map(([bytes, changes, cut]) => {
        const copy = bytes.slice(0, Math.max(1, bytes.length - (cut % bytes.length)));
        for (const [index, value] of changes) copy[index % copy.length] = value;
        return copy;
      });
    const choices = fc.constantFrom(PLAIN, SEALED, { ...SEALED, verifyIncoming: false }, { ...PLAIN, label: "blue" });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), mutated), choices, (bytes, choice) => {
        const { messages, drops } = openDatagram(bytes, choice);
        expect(messages.length + drops.length).to.be.greaterThan(0);
      }),
      { numRuns: 500 },
    );
  });
});

describe("sealDatagram", () => {
  it("brings every combination of layers back", () => {
    const part = fc.uint8Array({ minLength: 1, maxLength: 400 }).map((bytes) => concatBytes([hex("08"), bytes]));
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 20 }),
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
        fc.constantFrom("", "blue"),
        (parts, compresses, withCrc, encrypts, label) => {
          const compressFromBytes = compresses ? 0 : Number.POSITIVE_INFINITY;
          const keys = encrypts ? { keyring: new Keyring(KEY) } : {};
          const bytes = sealDatagram(parts, { ...SEAL, compressFromBytes, withCrc, label, ...keys });
          const { messages, drops } = openDatagram(bytes, { ...PLAIN, ...keys, label });
          expect(drops).to.deep.equal([]);
          expect(messages.map((message) => encodeMessage(message))).to.deep.equal(parts);
        },
      ),
    );
  });

  it("takes exactly its overhead", () => {
    const keyring = new Keyring(KEY);
    const sealed = sealDatagram([NACK], { ...SEAL, withCrc: false, keyring, label: "blue" });
    expect(sealed).to.have.length(NACK.length + overheadBytes({ keyring, label: "blue" }));
    expect(overheadBytes({ label: "" })).to.equal(0);
    expect(overheadBytes({ keyring, label: "blue" })).to.equal(29 + 6);
  });

  it("does not send what is longer compressed", () => {
    const ack = recording("udp-ack-nil");
    expect(sealDatagram([hex(ack.hex)], { ...SEAL, withCrc: false })).to.deep.equal(hex(ack.hex));
  });

  for (const { name, length, isShorter } of [
    { name: "sends a short message as it is", length: 255, isShorter: false },
    { name: "compresses a longer one", length: 256, isShorter: true },
  ]) {
    it(name, () => {
      const message = concatBytes([hex("08"), new Uint8Array(length - 1)]);
      const sealed = sealDatagram([message], { ...SEAL, compressFromBytes: 256, withCrc: false });
      expect(sealed.length < length).to.equal(isShorter);
      expect(opened(sealed).messages).to.deep.equal([{ kind: "user", payload: new Uint8Array(length - 1) }]);
    });
  }

  it("refuses a label of 256 bytes", () =>
    expect(() => sealDatagram([NACK], { ...SEAL, label: "a".repeat(256) }))
      .to.throw()
      .with.property("code", "ERR_INTERNAL_ARGUMENT"));

  for (const { name, parts } of [
    { name: "no part", parts: [] },
    { name: "an empty part", parts: [NO_BYTES] },
    { name: "an empty part beside others", parts: [NACK, NO_BYTES] },
    { name: "256 parts", parts: Array.from({ length: 256 }, () => NACK) },
  ]) {
    it(`refuses ${name}`, () =>
      expect(() => sealDatagram(parts, SEAL))
        .to.throw()
        .with.property("code", "ERR_INTERNAL_ARGUMENT"));
  }
});
