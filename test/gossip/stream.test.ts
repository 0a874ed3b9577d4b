import { expect } from "chai";
import fc from "fast-check";
import { concatBytes } from "../../src/base/bytes.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { encodeCompressed } from "../../src/gossip/compression.ts";
import { sealPayload } from "../../src/gossip/encryption.ts";
import { Keyring } from "../../src/gossip/keyring.ts";
import type { NodeRecord, StreamMessage } from "../../src/gossip/message.ts";
import { errorTextOf, type OpenStreamOptions, StreamDecoder, sealStream } from "../../src/gossip/stream.ts";
import { parseIp } from "../../src/net/ip.ts";
import { hex, RECORDINGS } from "./recorded.ts";

const KEYRING = new Keyring(new Uint8Array(16).fill(7));
const ACCEPTOR: OpenStreamOptions = { label: "", verifyIncoming: true, maxDecompressedBytes: 2 ** 21, isDialer: false };
const ENCRYPTED = { ...ACCEPTOR, keyring: KEYRING };
const SEAL = { label: "", compress: false, random: new SeededRandom(1) };

const push = (bytes: Uint8Array, options: OpenStreamOptions = ACCEPTOR) => new StreamDecoder(options).push(bytes);
const drop = (reason: string) => ({ kind: "drop", reason });

function nodes(count: number): NodeRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${index}.example.org`,
    endpoint: { ip: parseIp(`2001:db8::${index.toString(16)}`) ?? expect.fail(), port: 7946 },
    meta: new Uint8Array(index % 512).fill(index),
    incarnation: index,
    state: "alive",
    versions: {
      protocolMin: 1,
      protocolMax: 5,
      protocolCurrent: 2,
      delegateMin: 0,
      delegateMax: 0,
      delegateCurrent: 0,
    },
  }));
}

const LARGE: StreamMessage = {
  kind: "push-pull",
  isJoin: false,
  nodes: nodes(700),
  userState: new Uint8Array(200_000).fill(5),
};

describe("StreamDecoder", () => {
  for (const { name, bytes, options = ACCEPTOR, reason } of [
    { name: "a datagram's message", bytes: "0480", reason: "unknown-type" },
    { name: "plain text though encryption is required", bytes: "0680", options: ENCRYPTED, reason: "not-encrypted" },
    { name: "a frame though we have no key", bytes: "0a00000000", reason: "unexpected-encryption" },
    { name: "a frame over 20 MiB", bytes: "0a01400001", options: ENCRYPTED, reason: "too-large" },
    { name: "a frame of nothing", bytes: "0a00000000", options: ENCRYPTED, reason: "not-authentic" },
    {
      name: "a frame of another key",
      bytes: `0a0000001d01${"00".repeat(28)}`,
      options: ENCRYPTED,
      reason: "not-authentic",
    },
    { name: "a negative count of nodes", bytes: "0681a54e6f646573ff", reason: "malformed" },
    { name: "more than 2^20 nodes", bytes: "0681a54e6f646573d200100001", reason: "too-large" },
    { name: "more than 20 MiB of user state", bytes: "0681ac5573657253746174654c656ed201400001", reason: "too-large" },
    { name: "a user message over 20 MiB", bytes: "0881aa557365724d73674c656ed201400001", reason: "too-large" },
    { name: "a record that is no map", bytes: "0681a54e6f6465730105", reason: "malformed" },
    {
      name: "a record over 64 KiB",
      bytes: `0681a54e6f6465730181a158db00100000${"00".repeat(66_000)}`,
      reason: "too-large",
    },
    {
      name: "compressed nothing, which crashes memberlist 0.5.1",
      bytes: "0982a4416c676f00a3427566a3000302",
      reason: "empty",
    },
    { name: "another label", bytes: "f40162", options: { ...ACCEPTOR, label: "a" }, reason: "label-mismatch" },
    { name: "no label", bytes: "0680", options: { ...ACCEPTOR, label: "a" }, reason: "label-mismatch" },
    {
      name: "a label in an answer",
      bytes: "f4016106",
      options: { ...ACCEPTOR, label: "a", isDialer: true },
      reason: "unknown-type",
    },
  ] as const) {
    it(`drops ${name} as ${reason}`, () => expect(push(hex(bytes), options)).to.deep.equal(drop(reason)));
  }

  it("drops an encrypted nothing, which crashes Go peers", () => {
    const header = hex("0a0000001d");
    const sealed = sealPayload(new Uint8Array(0), KEYRING.primary, new Uint8Array(12), header);
    expect(push(concatBytes([header, sealed]), ENCRYPTED)).to.deep.equal(drop("empty"));
  });

  it("drops a compressed message within a compressed one", () => {
    const [ack] = sealStream({ kind: "ack", seqNo: 1, payload: new Uint8Array(0) }, SEAL, { isDialer: true });
    expect(push(encodeCompressed(encodeCompressed(ack ?? expect.fail())))).to.deep.equal(drop("unknown-type"));
  });

  it("drops what is cut short inside a compressed buffer, instead of waiting", () =>
    expect(push(encodeCompressed(hex("0681a54e6f646573")))).to.deep.equal(drop("malformed")));

  it("passes over records without a usable address or with a state that nobody knows", () => {
    const records = "83a44e616d65a161a441646472a101a5537461746500".concat(
      "83a44e616d65a162a441646472a4c0000201a5537461746504",
    );
    const step = push(hex(`0681a54e6f64657303${records}83a44e616d65a163a441646472a4c0000201a5537461746503`));
    if (step.kind !== "message" || step.message.kind !== "push-pull") expect.fail(step.kind);
    expect(step.message.nodes.map(({ name, state }) => ({ name, state }))).to.deep.equal([
      { name: "c", state: "left" },
    ]);
  });

  for (const { name, keys, compress, label } of [
    { name: "plain", keys: {}, compress: false, label: "" },
    { name: "compressed", keys: {}, compress: true, label: "blue" },
    { name: "encrypted", keys: { keyring: KEYRING }, compress: false, label: "" },
    { name: "encrypted, compressed and labelled", keys: { keyring: KEYRING }, compress: true, label: "blue" },
  ]) {
    it(`brings a large push/pull back in segments: ${name}`, () => {
      for (const isDialer of [true, false]) {
        const bytes = concatBytes(sealStream(LARGE, { ...SEAL, ...keys, compress, label }, { isDialer }));
        const decoder = new StreamDecoder({ ...ACCEPTOR, ...keys, label, isDialer: !isDialer });
        const steps = [];
        for (let start = 0; start < bytes.length; start += 1448)
          steps.push(decoder.push(bytes.subarray(start, start + 1448)));
        expect(steps.slice(0, -1).every(({ kind }) => kind === "need-more")).to.equal(true);
        expect(steps.at(-1)).to.deep.equal({ kind: "message", message: LARGE });
      }
    });
  }

  it("wants no more after its message", () => {
    const [ack] = sealStream({ kind: "ack", seqNo: 1, payload: new Uint8Array(0) }, SEAL, { isDialer: true });
    const decoder = new StreamDecoder(ACCEPTOR);
    expect(decoder.push(ack ?? expect.fail()).kind).to.equal("message");
    expect(decoder.push(ack ?? expect.fail())).to.deep.equal({ kind: "need-more" });
  });

  it("says to Go what Go would say", () => {
    expect(errorTextOf("not-encrypted")).to.equal("encryption is configured but remote state is not encrypted");
    expect(errorTextOf("unexpected-encryption")).to.equal("remote state is encrypted and encryption is not configured");
    expect(errorTextOf("truncated")).to.equal("failed to read the request: truncated");
  });

  it("never throws, however the bytes are cut", () => {
    const starts = RECORDINGS.flatMap(({ dialerSends }) => (dialerSends === undefined ? [] : [hex(dialerSends.hex)]));
    const mutated = fc
      .tuple(fc.constantFrom(...starts), fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 4 }))
      .map(([bytes, changes]) => {
        const copy = bytes.slice();
        for (const [index, value] of changes) copy[index % copy.length] = value;
        return copy;
      });
    const choices = fc.constantFrom(ACCEPTOR, ENCRYPTED, { ...ENCRYPTED, verifyIncoming: false });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), mutated), choices, fc.nat(200), (bytes, choice, cut) => {
        const decoder = new StreamDecoder(choice);
        decoder.push(bytes.subarray(0, cut));
        decoder.push(bytes.subarray(cut));
      }),
      { numRuns: 400 },
    );
  });
});
