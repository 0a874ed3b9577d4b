import { expect } from "chai";
import { type Decoded, decoded } from "../../src/base/decoded.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { decodeArp } from "../../src/packet/arp.ts";
import { decodeEthernet } from "../../src/packet/ethernet.ts";
import { decodeIpv6 } from "../../src/packet/ipv6.ts";
import { decodeNdp, writeIcmpv6Checksum } from "../../src/packet/ndp.ts";
import { GOLDEN_FRAMES } from "./golden.ts";

const INPUTS = 1_000_000;
const MARGIN_BYTES = 64;
const MAX_BYTES = 160;

/** The same input twice, with different bytes around it: whoever reads across the border sees two different things. */
const zeros = new Uint8Array(MARGIN_BYTES + MAX_BYTES + MARGIN_BYTES);
const ones = new Uint8Array(MARGIN_BYTES + MAX_BYTES + MARGIN_BYTES).fill(0xff);

/** Every field of a decoded value in one line. */
const LINES = {
  ethernet: lineOf(decodeEthernet, (frame) => {
    const { vlan } = frame;
    const tag = vlan === undefined ? "" : `${vlan.id} ${vlan.priority} ${vlan.isDropEligible}`;
    return `${frame.destination} ${frame.source} ${frame.etherType} ${tag} ${frame.payload.length}`;
  }),
  arp: lineOf(
    decodeArp,
    (packet) => `${packet.operation} ${packet.senderMac} ${packet.senderIp} ${packet.targetMac} ${packet.targetIp}`,
  ),
  ipv6: lineOf(decodeIpv6, (packet) => {
    const { trafficClass, flowLabel, nextHeader, hopLimit } = packet;
    return `${trafficClass} ${flowLabel} ${nextHeader} ${hopLimit} ${packet.source} ${packet.destination} ${packet.payload.length}`;
  }),
  ndp: lineOf(decodeNdp, (message) => {
    const flags =
      message.kind === "solicitation" ? "" : `${message.isRouter} ${message.isSolicited} ${message.isOverride}`;
    const options = message.options.map((option) =>
      option.kind === "other" ? `${option.type} ${option.body.join()}` : option.mac,
    );
    return `${message.source} ${message.destination} ${message.target} ${flags} ${options.join()}`;
  }),
};

type Line = (bytes: Uint8Array) => Decoded<string, string>;

function lineOf<Value>(decode: (bytes: Uint8Array) => Decoded<Value, string>, format: (value: Value) => string): Line {
  return (bytes) => {
    const result = decode(bytes);
    return result.ok ? decoded(format(result.value)) : result;
  };
}

/** Fails unless the decoder says the same about both copies; gives the reason of a drop. */
function outcomeOf(decode: Line, offset: number, length: number): string {
  const first = decode(zeros.subarray(offset, offset + length));
  const second = decode(ones.subarray(offset, offset + length));
  if (!first.ok) {
    if (second.ok || first.reason !== second.reason) return expect.fail("read out of bounds");
    return first.reason;
  }
  if (!second.ok || first.value !== second.value) return expect.fail("read out of bounds");
  return "decoded";
}

describe("packet decoders under fuzz", () => {
  it(`never throw and never read out of bounds in ${INPUTS} inputs`, function () {
    this.timeout(60_000);
    const random = new SeededRandom(1);
    const outcomes = new Map<string, number>();
    let inputs = 0;
    for (; inputs < INPUTS; inputs++) {
      const original = GOLDEN_FRAMES[inputs % GOLDEN_FRAMES.length]?.frame ?? new Uint8Array(0);
      const isNdp = original[12] === 0x86;
      const start = MARGIN_BYTES + (inputs & 7);
      // One input of eight is noise; the others are real frames, cut or stretched now and then, with up to three bytes changed.
      const isNoise = inputs % 8 === 0;
      const isResized = inputs % 8 === 1;
      const length = isNoise || isResized ? random.below(MAX_BYTES) : original.length;
      zeros.set(original, start);
      if (isNoise) for (let index = 0; index < length; index += 4) fill(start + index, random.float() * 0x1_0000_0000);
      for (let changes = isNoise ? 0 : random.below(4); changes > 0; changes--) {
        // Half of the bytes are of a kind that stands in headers, so that deep branches are reached.
        const value = random.below(512);
        zeros[start + random.below(length)] = value < 256 ? value : value & 3;
      }
      // Half of the neighbor messages get a fitting checksum, or nothing would be tested behind it.
      if (isNdp && (inputs & 8) === 0 && length === original.length) writeFittingChecksum(start + 14);
      ones.set(zeros.subarray(start, start + length), start);
      note(outcomes, outcomeOf(LINES.ethernet, start, length));
      const payloadBytes = Math.max(0, length - 14);
      if (isNdp) {
        note(outcomes, outcomeOf(LINES.ipv6, start + 14, payloadBytes));
        note(outcomes, outcomeOf(LINES.ndp, start + 14, payloadBytes));
      } else {
        note(outcomes, outcomeOf(LINES.arp, start + 14, payloadBytes));
      }
      zeros.fill(0, start, start + MAX_BYTES);
      ones.fill(0xff, start, start + MAX_BYTES);
    }
    expect(inputs).to.equal(INPUTS);
    // Every branch of every decoder was reached, or the run says little.
    expect([...outcomes.keys()].toSorted()).to.deep.equal(
      [
        "checksum",
        "code",
        "decoded",
        "hop-limit",
        "length",
        "length-field",
        "multicast-source",
        "multicast-target",
        "not-ethernet-ipv4",
        "not-icmpv6",
        "not-ipv6",
        "not-neighbor-message",
        "option-length",
        "probe-destination",
        "probe-source-option",
        "solicited-multicast",
        "truncated",
        "unknown-operation",
      ].toSorted(),
    );
  });
});

function fill(offset: number, word: number): void {
  zeros[offset] = word;
  zeros[offset + 1] = word / 0x100;
  zeros[offset + 2] = word / 0x1_0000;
  zeros[offset + 3] = word / 0x100_0000;
}

function note(outcomes: Map<string, number>, outcome: string): void {
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
}

/** Keeps the payload length that the header says within the input. */
function writeFittingChecksum(offset: number): void {
  const payloadBytes = ((zeros[offset + 4] ?? 0) << 8) | (zeros[offset + 5] ?? 0);
  if (offset + 40 + payloadBytes <= zeros.length) writeIcmpv6Checksum(zeros, offset);
}
