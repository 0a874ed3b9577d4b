import { expect } from "chai";
import fc from "fast-check";
import { ipv6At } from "../../src/net/ip.ts";
import { macAt } from "../../src/net/mac.ts";
import {
  decodeNdp,
  encodeNdp,
  encodeNdpFrame,
  type NdpOption,
  type NeighborMessage,
  writeIcmpv6Checksum,
} from "../../src/packet/ndp.ts";
import { golden, hex, insideLarger, ip, mac } from "./golden.ts";

const NEAR = ip("2001:db8::1");
const FAR = ip("2001:db8::2");
const NEAR_MAC = mac("02:00:00:00:00:01");
const FAR_MAC = mac("02:00:00:00:00:02");
const ALL_NODES = ip("ff02::1");
const flags = (isSolicited: boolean) => ({ isRouter: false, isSolicited, isOverride: true });

const GOLDEN: { readonly name: string; readonly value: NeighborMessage }[] = [
  {
    name: "kernel-solicitation",
    value: {
      kind: "solicitation",
      source: NEAR,
      destination: ip("ff02::1:ff00:2"),
      target: FAR,
      options: [{ kind: "source-link-layer", mac: NEAR_MAC }],
    },
  },
  {
    name: "kernel-advertisement-to-dad-probe",
    value: {
      kind: "advertisement",
      source: FAR,
      destination: ALL_NODES,
      target: FAR,
      ...flags(false),
      options: [{ kind: "target-link-layer", mac: FAR_MAC }],
    },
  },
  {
    name: "kernel-unsolicited-advertisement",
    value: {
      kind: "advertisement",
      source: ip("2001:db8::b"),
      destination: ALL_NODES,
      target: ip("2001:db8::b"),
      ...flags(false),
      options: [{ kind: "target-link-layer", mac: NEAR_MAC }],
    },
  },
  {
    name: "kernel-solicited-advertisement",
    value: {
      kind: "advertisement",
      source: FAR,
      destination: ip("fe80::ff:fe00:1"),
      target: FAR,
      ...flags(true),
      options: [{ kind: "target-link-layer", mac: FAR_MAC }],
    },
  },
];

describe("decodeNdp", () => {
  for (const { name, value } of GOLDEN) {
    it(`reads ${name}, and encodeNdp writes the same bytes`, () => {
      const frame = golden(name);
      expect(decodeNdp(insideLarger(frame.subarray(14)))).to.deep.equal({ ok: true, value });
      expect(encodeNdp(value)).to.deep.equal(frame.subarray(14));
      expect(encodeNdpFrame(macAt(frame, 0), macAt(frame, 6), value)).to.deep.equal(frame);
    });
  }
  it("reads ndisc6's solicitation", () => {
    expect(decodeNdp(insideLarger(golden("ndisc6-solicitation").subarray(14)))).to.deep.equal({
      ok: true,
      value: { ...GOLDEN[0]?.value, source: "fe80::ff:fe00:1" },
    });
  });
  it("reads the kernel's DAD probe: no source, a nonce (RFC 7527) and no link-layer option", () => {
    const packet = golden("kernel-dad-probe").subarray(14);
    const result = decodeNdp(insideLarger(packet));
    if (!result.ok) return expect.fail(result.reason);
    expect(result.value).to.include({ kind: "solicitation", source: "::", target: "2001:db8::a" });
    expect(result.value.options).to.deep.equal([{ kind: "other", type: 14, body: packet.slice(66) }]);
    return expect(encodeNdp(result.value)).to.deep.equal(packet);
  });
  it("ignores bytes after the packet", () => {
    const packet = golden("kernel-solicitation").subarray(14);
    expect(decodeNdp(Uint8Array.from([...packet, 1, 2, 3]))).to.deep.equal(decodeNdp(packet));
  });
});

/** A copy with bytes written at offsets, and the right checksum for them. */
function changed(packet: Uint8Array, changes: readonly (readonly [number, string])[], length = packet.length) {
  const copy = new Uint8Array(length);
  copy.set(packet.subarray(0, length));
  copy[5] = length - 40;
  for (const [offset, text] of changes) copy.set(hex(text), offset);
  writeIcmpv6Checksum(copy, 0);
  return copy;
}

function checksumIn(packet: Uint8Array): number {
  return ((packet[42] ?? 0) << 8) | (packet[43] ?? 0);
}

describe("validity of neighbor messages (RFC 4861 §7.1.1, §7.1.2)", () => {
  const solicitation = golden("kernel-solicitation").subarray(14);
  const probe = golden("kernel-dad-probe").subarray(14);
  const solicited = golden("kernel-solicited-advertisement").subarray(14);
  const unsolicited = golden("kernel-unsolicited-advertisement").subarray(14);
  const CASES: readonly { readonly name: string; readonly bytes: Uint8Array; readonly reason: string }[] = [
    { name: "a header that is cut", bytes: solicitation.subarray(0, 39), reason: "truncated" },
    { name: "a message that is cut", bytes: solicitation.subarray(0, 71), reason: "truncated" },
    { name: "IPv4", bytes: changed(solicitation, [[0, "40"]]), reason: "not-ipv6" },
    { name: "UDP", bytes: changed(solicitation, [[6, "11"]]), reason: "not-icmpv6" },
    { name: "an extension header before it", bytes: changed(solicitation, [[6, "00"]]), reason: "not-icmpv6" },
    { name: "an echo request", bytes: changed(solicitation, [[40, "80"]]), reason: "not-neighbor-message" },
    { name: "a router advertisement", bytes: changed(solicitation, [[40, "86"]]), reason: "not-neighbor-message" },
    { name: "a solicitation with hop limit 64", bytes: changed(solicitation, [[7, "40"]]), reason: "hop-limit" },
    { name: "an advertisement with hop limit 254", bytes: changed(solicited, [[7, "fe"]]), reason: "hop-limit" },
    { name: "no payload", bytes: changed(solicitation, [], 40), reason: "length" },
    { name: "a solicitation of 23 bytes", bytes: changed(solicitation, [], 63), reason: "length" },
    { name: "an advertisement of 8 bytes", bytes: changed(solicited, [], 48), reason: "length" },
    { name: "a solicitation with code 1", bytes: changed(solicitation, [[41, "01"]]), reason: "code" },
    { name: "an advertisement with code 255", bytes: changed(solicited, [[41, "ff"]]), reason: "code" },
    {
      name: "a wrong checksum",
      bytes: solicitation.with(42, (solicitation[42] ?? 0) ^ 1),
      reason: "checksum",
    },
    { name: "another target under the same checksum", bytes: solicited.with(63, 9), reason: "checksum" },
    { name: "another source under the same checksum", bytes: solicited.with(23, 9), reason: "checksum" },
    { name: "a multicast source", bytes: changed(solicitation, [[8, "ff02"]]), reason: "multicast-source" },
    { name: "a solicitation of a group", bytes: changed(solicitation, [[48, "ff02"]]), reason: "multicast-target" },
    { name: "an advertisement of a group", bytes: changed(solicited, [[48, "ff"]]), reason: "multicast-target" },
    { name: "an option of length 0", bytes: changed(solicitation, [[65, "00"]]), reason: "option-length" },
    { name: "an option beyond the end", bytes: changed(solicitation, [[65, "02"]]), reason: "option-length" },
    { name: "an option of one byte", bytes: changed(solicited, [], 65), reason: "option-length" },
    { name: "half an option", bytes: changed(solicited, [], 68), reason: "option-length" },
    {
      name: "a DAD probe to the address itself",
      bytes: changed(probe, [[24, "20010db800000000000000000000000a"]]),
      reason: "probe-destination",
    },
    {
      name: "a DAD probe to all nodes",
      bytes: changed(probe, [[24, "ff020000000000000000000000000001"]]),
      reason: "probe-destination",
    },
    { name: "a DAD probe with a source option", bytes: changed(probe, [[64, "01"]]), reason: "probe-source-option" },
    { name: "Solicited to all nodes", bytes: changed(unsolicited, [[44, "60"]]), reason: "solicited-multicast" },
  ];
  for (const { name, bytes, reason } of CASES) {
    it(`drops ${name} as ${reason}`, () => {
      expect(decodeNdp(insideLarger(bytes, 0x01))).to.deep.equal({ ok: false, reason });
    });
  }
  it("accepts reserved bits, a message without options and options of other kinds and lengths", () => {
    for (const packet of [
      changed(solicitation, [[44, "ffffffff"]]),
      changed(solicitation, [], 64),
      changed(solicitation, [[64, "fd01"]]),
      changed(
        solicitation,
        [
          [65, "02"],
          [72, "0000000000000000"],
        ],
        80,
      ),
    ]) {
      expect(decodeNdp(packet).ok).to.equal(true);
    }
  });
  it("takes no MAC from a link-layer option that is not as long as Ethernet's", () => {
    const result = decodeNdp(changed(solicitation, [[65, "02"]], 80));
    expect(result.ok && result.value.options[0]?.kind).to.equal("other");
  });
  it("sums a message of odd length as if a zero byte followed, whatever does", () => {
    const even = changed(solicitation, [[64, "7f00"]], 66);
    const odd = even.slice(0, 65);
    odd[5] = 25;
    // The words are the same; only the length in the pseudo-header is one less.
    writeIcmpv6Checksum(odd, 0);
    expect(checksumIn(odd)).to.equal(checksumIn(even) + 1);
    // The checksum stands; the trailing byte, which is no option, does not.
    expect(decodeNdp(insideLarger(odd, 0xff))).to.deep.equal({ ok: false, reason: "option-length" });
  });
});

describe("encodeNdp", () => {
  it("is undone by decodeNdp", () => {
    const unicast = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => ipv6At(bytes.with(0, 0x20), 0));
    const anyMac = fc.uint8Array({ minLength: 6, maxLength: 6 }).map((bytes) => macAt(bytes));
    const option: fc.Arbitrary<NdpOption> = fc.oneof(
      fc.record({ kind: fc.constantFrom("source-link-layer" as const, "target-link-layer" as const), mac: anyMac }),
      fc.record({
        kind: fc.constant("other" as const),
        type: fc.integer({ min: 3, max: 255 }),
        body: fc.nat(3).chain((units) => fc.uint8Array({ minLength: 6 + 8 * units, maxLength: 6 + 8 * units })),
      }),
    );
    const common = {
      source: unicast,
      destination: unicast,
      target: unicast,
      options: fc.array(option, { maxLength: 4 }),
    };
    const message: fc.Arbitrary<NeighborMessage> = fc.oneof(
      fc.record({ kind: fc.constant("solicitation" as const), ...common }),
      fc.record({
        kind: fc.constant("advertisement" as const),
        ...common,
        isRouter: fc.boolean(),
        isSolicited: fc.boolean(),
        isOverride: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(message, (value) => {
        expect(decodeNdp(insideLarger(encodeNdp(value)))).to.deep.equal({ ok: true, value });
      }),
    );
  });
});
