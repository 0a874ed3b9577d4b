import { expect } from "chai";
import fc from "fast-check";
import { concatBytes, hexOf } from "../../src/base/bytes.ts";
import { formatPrefix } from "../../src/net/prefix.ts";
import { LinkTable } from "../../src/netlink/link-table.ts";
import { decodeRtnetlink, encodeDumpRequest, type RtnetlinkEvent } from "../../src/netlink/rtnetlink.ts";
import { hex, STORY } from "./story.ts";

const RTM_NEWLINK = 16;
const RTM_DELLINK = 17;
const RTM_NEWROUTE = 24;

function u16(value: number): Uint8Array {
  return Uint8Array.of(value & 0xff, value >>> 8);
}

function u32(value: number): Uint8Array {
  return concatBytes([u16(value & 0xffff), u16(value >>> 16)]);
}

function message(type: number, body: Uint8Array, flags = 0, sequence = 0): Uint8Array {
  return concatBytes([u32(16 + body.length), u16(type), u16(flags), u32(sequence), u32(0), body]);
}

function attribute(type: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const value = concatBytes(parts);
  const padding = new Uint8Array((4 - (value.length % 4)) % 4);
  return concatBytes([u16(4 + value.length), u16(type), value, padding]);
}

const text = (value: string): Uint8Array => new TextEncoder().encode(`${value}\0`);

/** struct ifinfomsg: family, hardware type Ethernet, index, flags UP | BROADCAST | LOWER_UP. */
function linkHeader(index: number, family = 0): Uint8Array {
  return concatBytes([Uint8Array.of(family, 0), u16(1), u32(index), u32(0x10003), u32(0)]);
}

/** struct rtmsg of an IPv4 unicast route to 10.0.0.0/8, without RTA_TABLE when the table fits its byte. */
function routeTo10(table: number, ...attributes: readonly Uint8Array[]): Uint8Array {
  const header = Uint8Array.of(2, 8, 0, 0, table, 4, 253, 1, 0, 0, 0, 0);
  return concatBytes([header, attribute(1, Uint8Array.of(10, 0, 0, 0)), ...attributes]);
}

function tableOf(...messages: readonly Uint8Array[]): LinkTable {
  const table = new LinkTable();
  for (const event of decodeRtnetlink(concatBytes(messages))) table.apply(event);
  return table;
}

const ETH0 = message(RTM_NEWLINK, concatBytes([linkHeader(2), attribute(3, text("eth0"))]));

const everyDatagram = [
  ...STORY.start.links,
  ...STORY.start.addresses,
  ...STORY.start.routes,
  ...STORY.steps.flatMap((step) => step.datagrams),
].map(hex);

describe("decodeRtnetlink", () => {
  it("reads the same from the middle of a larger buffer", () => {
    for (const datagram of everyDatagram) {
      const larger = concatBytes([new Uint8Array(9).fill(0xa5), datagram, new Uint8Array(40).fill(0xa5)]);
      expect(decodeRtnetlink(larger.subarray(9, 9 + datagram.length))).to.deep.equal(decodeRtnetlink(datagram));
    }
  });

  it("never throws, on whatever bytes", () => {
    const kinds = fc.constantFrom(2, 3, RTM_NEWLINK, RTM_DELLINK, 20, 21, RTM_NEWROUTE, 25, 99);
    const noise = fc.uint8Array({ maxLength: 120 });
    fc.assert(fc.property(noise, (bytes) => void decodeRtnetlink(bytes)));
    fc.assert(fc.property(kinds, noise, (kind, bytes) => void tableOf(message(kind, bytes)).links()));
  });

  it("never throws on real messages that are cut or changed", () => {
    const datagram = fc.constantFrom(...everyDatagram);
    fc.assert(
      fc.property(datagram, fc.nat(), fc.nat(), fc.nat(255), (bytes, cut, at, value) => {
        const copy = bytes.slice(0, cut % (bytes.length + 1));
        if (copy.length > 0) copy[at % copy.length] = value;
        expect(() => tableOf(copy).links()).not.to.throw();
      }),
      { numRuns: 2_000 },
    );
  });

  it("names the end, the failure and the interruption of a dump by its sequence number", () => {
    const bytes = concatBytes([
      message(RTM_DELLINK, linkHeader(7), 0x12, 5),
      message(3, u32(0), 0x2, 5),
      message(2, concatBytes([u32(-16 >>> 0), new Uint8Array(16)]), 0, 6),
    ]);
    const events: readonly RtnetlinkEvent[] = [
      { kind: "interrupted", sequence: 5 },
      { kind: "link-gone", index: 7 },
      { kind: "done", sequence: 5 },
      { kind: "error", sequence: 6, errno: 16 },
    ];
    expect(decodeRtnetlink(bytes)).to.deep.equal(events);
  });

  it("does not take a port that left its bridge for a link that is gone", () => {
    const PF_BRIDGE = 7;
    expect(tableOf(ETH0, message(RTM_DELLINK, linkHeader(2, PF_BRIDGE))).links()).to.have.length(1);
    expect(tableOf(ETH0, message(RTM_DELLINK, linkHeader(2))).links()).to.have.length(0);
  });

  it("does not take a wireless event for news about the link", () => {
    const event = concatBytes([linkHeader(2), attribute(3, text("wlan0")), attribute(11, new Uint8Array(8))]);
    expect(tableOf(ETH0, message(RTM_NEWLINK, event)).links()[0]?.name).to.equal("eth0");
  });
});

describe("carrier", () => {
  const LOWER_UP = 0x10000;
  // RFC 2863 states as the kernel numbers them: 0 unknown, 2 down, 3 lower layer down, 5 dormant, 6 up.
  for (const { carrier, state, flags, hasCarrier } of [
    { carrier: 1, state: 6, flags: LOWER_UP, hasCarrier: true },
    { carrier: 1, state: 0, flags: LOWER_UP, hasCarrier: true },
    { carrier: 0, state: 0, flags: 0, hasCarrier: false },
    { carrier: 0, state: 6, flags: LOWER_UP, hasCarrier: false },
    { carrier: 1, state: 2, flags: 0, hasCarrier: false },
    { carrier: 1, state: 3, flags: LOWER_UP, hasCarrier: false },
    { carrier: 1, state: 5, flags: LOWER_UP, hasCarrier: false },
    { carrier: undefined, state: 6, flags: LOWER_UP, hasCarrier: true },
    { carrier: undefined, state: 6, flags: 0, hasCarrier: false },
  ]) {
    it(`is ${hasCarrier} with IFLA_CARRIER ${carrier}, state ${state}, flags ${flags.toString(16)}`, () => {
      const header = concatBytes([new Uint8Array(2), u16(1), u32(2), u32(flags), u32(0)]);
      const attributes = [attribute(3, text("eth0")), attribute(16, Uint8Array.of(state))];
      if (carrier !== undefined) attributes.push(attribute(33, Uint8Array.of(carrier)));
      const [link] = tableOf(message(RTM_NEWLINK, concatBytes([header, ...attributes]))).links();
      expect(link?.hasCarrier).to.equal(hasCarrier);
    });
  }
});

describe("a link in a VRF", () => {
  // Laid out as the kernel's vrf driver does (IFLA_VRF_PORT_TABLE in IFLA_INFO_SLAVE_DATA): not every kernel has it.
  const slave = attribute(0x8000 | 18, attribute(4, text("vrf")), attribute(0x8000 | 5, attribute(1, u32(1_000))));
  const port = message(
    RTM_NEWLINK,
    concatBytes([linkHeader(2), attribute(3, text("eth0")), attribute(10, u32(9)), slave]),
  );
  const inVrf = message(RTM_NEWROUTE, routeTo10(252, attribute(15, u32(1_000)), attribute(4, u32(2))));
  const inMain = message(RTM_NEWROUTE, routeTo10(254, attribute(4, u32(2))));

  it("takes its prefixes from the table of the VRF", () => {
    const [link] = tableOf(port, inVrf).links();
    expect(link?.masterKind).to.equal("vrf");
    expect(link?.prefixes.map(formatPrefix)).to.deep.equal(["10.0.0.0/8"]);
    expect(tableOf(port, inMain).links()[0]?.prefixes).to.deep.equal([]);
  });

  it("and a link outside from the main table", () => {
    expect(tableOf(ETH0, inMain).links()[0]?.prefixes.map(formatPrefix)).to.deep.equal(["10.0.0.0/8"]);
    expect(tableOf(ETH0, inVrf).links()[0]?.prefixes).to.deep.equal([]);
  });

  it("knows the master's kind from the master where the port does not say it", () => {
    const bare = message(RTM_NEWLINK, concatBytes([linkHeader(2), attribute(3, text("eth0")), attribute(10, u32(9))]));
    const master = (kind: string): Uint8Array =>
      message(
        RTM_NEWLINK,
        concatBytes([linkHeader(9), attribute(3, text("m")), attribute(18, attribute(1, text(kind)))]),
      );
    expect(tableOf(bare, master("vrf")).links()[0]?.masterKind).to.equal("vrf");
    expect(tableOf(bare, master("bond")).links()[0]?.masterKind).to.equal("other");
    expect(tableOf(bare).links()[0]?.masterKind).to.equal("other");
  });
});

describe("on-link routes", () => {
  for (const { name, route, isOnLink } of [
    { name: "a route on a link", route: routeTo10(254, attribute(4, u32(2))), isOnLink: true },
    {
      name: "a route through a gateway",
      route: routeTo10(254, attribute(4, u32(2)), attribute(5, Uint8Array.of(192, 0, 2, 1))),
      isOnLink: false,
    },
    {
      name: "a route through an IPv6 gateway (RTA_VIA)",
      route: routeTo10(254, attribute(4, u32(2)), attribute(18, u16(10), new Uint8Array(16))),
      isOnLink: false,
    },
    {
      name: "one hop of several without a gateway",
      route: routeTo10(
        254,
        attribute(
          9,
          concatBytes([u16(16), u16(0), u32(3), attribute(5, Uint8Array.of(192, 0, 2, 1))]),
          concatBytes([u16(8), u16(0), u32(2)]),
        ),
      ),
      isOnLink: true,
    },
    { name: "a route of table 100", route: routeTo10(100, attribute(4, u32(2))), isOnLink: false },
    { name: "a local route", route: withByte(routeTo10(254, attribute(4, u32(2))), 7, 2), isOnLink: false },
    { name: "a route of wider scope", route: withByte(routeTo10(254, attribute(4, u32(2))), 6, 0), isOnLink: false },
    { name: "a cached entry", route: withByte(routeTo10(254, attribute(4, u32(2))), 9, 2), isOnLink: false },
    { name: "a default route", route: withByte(routeTo10(254, attribute(4, u32(2))), 1, 0), isOnLink: false },
  ]) {
    it(`${isOnLink ? "include" : "leave out"} ${name}`, () => {
      const [link] = tableOf(ETH0, message(RTM_NEWROUTE, route)).links();
      expect(link?.prefixes.length).to.equal(isOnLink ? 1 : 0);
    });
  }
});

describe("encodeDumpRequest", () => {
  // linux/netlink.h: length, type, NLM_F_REQUEST | NLM_F_DUMP, sequence, port; then the family header, all zero.
  for (const { dump, bytes } of [
    { dump: "links", bytes: `20000000 1200 0103 04030201 00000000 ${"00".repeat(16)}` },
    { dump: "addresses", bytes: `18000000 1600 0103 04030201 00000000 ${"00".repeat(8)}` },
    { dump: "routes", bytes: `1c000000 1a00 0103 04030201 00000000 ${"00".repeat(12)}` },
  ] as const) {
    it(`asks for all ${dump}`, () =>
      expect(hexOf(encodeDumpRequest(dump, 0x01020304))).to.equal(bytes.replaceAll(" ", "")));
  }
});

function withByte(bytes: Uint8Array, offset: number, value: number): Uint8Array {
  const copy = bytes.slice();
  copy[offset] = value;
  return copy;
}
