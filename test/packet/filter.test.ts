import { expect } from "chai";
import fc from "fast-check";
import { hexOf } from "../../src/base/bytes.ts";
import { type Family, type Ip, ipBytes, ipOfBigInt } from "../../src/net/ip.ts";
import { type Prefix, parsePrefix, prefixHolds } from "../../src/net/prefix.ts";
import {
  type BpfInstruction,
  buildPacketFilter,
  encodeFilter,
  MAX_FILTER_INSTRUCTIONS,
  type PacketFilter,
} from "../../src/packet/filter.ts";
import { type FrameKnowledge, runFilter } from "./bpf-interpreter.ts";
import { golden, ip, withByte } from "./golden.ts";

function filterFor(family: Family, addresses: readonly Ip[], poolPrefixes: readonly Prefix[] = []): PacketFilter {
  return buildPacketFilter({ family, addresses, poolPrefixes });
}

function prefix(text: string): Prefix {
  return parsePrefix(text) ?? expect.fail(`no prefix: ${text}`);
}

/** A real frame with another target (and sender) in it. */
function arpAbout(target: Ip, sender: Ip = ip("203.0.113.7")): Uint8Array {
  const frame = golden("arping-request").slice();
  frame.set(ipBytes(sender), 28);
  frame.set(ipBytes(target), 38);
  return frame;
}

function solicitationOf(target: Ip): Uint8Array {
  const frame = golden("ndisc6-solicitation").slice();
  frame.set(ipBytes(target), 62);
  return frame;
}

function passes(filter: PacketFilter, frame: Uint8Array, knowledge: FrameKnowledge = {}): boolean {
  return runFilter(filter.program, frame, knowledge).passedBytes > 0;
}

/** What the kernel demands of a program: it ends with a return, and every jump stays inside and fits its field. */
function expectAcceptable(program: readonly BpfInstruction[]): void {
  expect(program.length).to.be.within(1, MAX_FILTER_INSTRUCTIONS);
  expect(program.at(-1)?.code).to.equal(0x06);
  for (const [index, { code, jt, jf, k }] of program.entries()) {
    expect(jt).to.be.within(0, 255);
    expect(jf).to.be.within(0, 255);
    const farthest = code === 0x05 ? k : Math.max(jt, jf);
    expect(index + 1 + farthest, `instruction ${index}`).to.be.lessThan(program.length + (code === 0x06 ? 1 : 0));
  }
}

/** `count` addresses, `step` apart. */
function spread(first: string, count: number, step: bigint): Ip[] {
  const family = first.includes(":") ? 6 : 4;
  const start = ipBytes(ip(first)).reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
  return Array.from({ length: count }, (_, index) => ipOfBigInt(start + BigInt(index) * step, family));
}

describe("buildPacketFilter", () => {
  const arpFilter = filterFor(4, [ip("192.0.2.2"), ip("192.0.2.200")]);
  const ndpFilter = filterFor(6, [ip("2001:db8::2"), ip("2001:db8:1::2")]);

  for (const { name, frame, isPassed } of [
    { name: "a request for an address", frame: golden("arping-request"), isPassed: true },
    { name: "a reply from an address", frame: golden("kernel-reply"), isPassed: true },
    { name: "a probe for an address", frame: golden("arping-probe"), isPassed: true },
    { name: "a request padded to 60 bytes", frame: padded(golden("arping-request"), 60), isPassed: true },
    { name: "a request for another address", frame: arpAbout(ip("192.0.2.3")), isPassed: false },
    { name: "a gratuitous request of another", frame: golden("arping-gratuitous-request"), isPassed: false },
    { name: "a truncated request", frame: golden("arping-request").subarray(0, 41), isPassed: false },
    { name: "another protocol", frame: withByte(golden("arping-request"), 13, 0x08), isPassed: false },
    { name: "an IPv6 frame", frame: golden("ndisc6-solicitation"), isPassed: false },
    { name: "an empty frame", frame: new Uint8Array(), isPassed: false },
  ]) {
    it(`${isPassed ? "passes" : "drops"} ${name} on the ARP socket`, () =>
      expect(passes(arpFilter, frame)).to.equal(isPassed));
  }

  for (const { name, frame, isPassed } of [
    { name: "a solicitation of an address", frame: golden("ndisc6-solicitation"), isPassed: true },
    { name: "an advertisement of an address", frame: golden("kernel-solicited-advertisement"), isPassed: true },
    { name: "a solicitation in another network", frame: solicitationOf(ip("2001:db8:1::2")), isPassed: true },
    { name: "a DAD probe of another address", frame: golden("kernel-dad-probe"), isPassed: false },
    { name: "the same host part in a network without it", frame: solicitationOf(ip("2001:db8:2::2")), isPassed: false },
    { name: "a router solicitation", frame: withByte(golden("ndisc6-solicitation"), 54, 133), isPassed: false },
    { name: "UDP", frame: withByte(golden("ndisc6-solicitation"), 20, 17), isPassed: false },
    { name: "a truncated solicitation", frame: golden("ndisc6-solicitation").subarray(0, 77), isPassed: false },
    { name: "an ARP request", frame: golden("arping-request"), isPassed: false },
  ]) {
    it(`${isPassed ? "passes" : "drops"} ${name} on the IPv6 socket`, () =>
      expect(passes(ndpFilter, frame)).to.equal(isPassed));
  }

  for (const { name, knowledge, isPassed } of [
    { name: "nothing to say against it", knowledge: {}, isPassed: true },
    { name: "our MAC", knowledge: { packetType: 0 }, isPassed: true },
    { name: "a multicast MAC", knowledge: { packetType: 2 }, isPassed: true },
    { name: "another host's MAC, or a foreign VLAN", knowledge: { packetType: 3 }, isPassed: false },
    { name: "a priority tag (VLAN 0)", knowledge: { vlanTag: 0x6000 }, isPassed: true },
    { name: "the tag of VLAN 5", knowledge: { vlanTag: 0x0005 }, isPassed: false },
    { name: "the tag of VLAN 4095 with priority", knowledge: { vlanTag: 0xefff }, isPassed: false },
  ]) {
    it(`${isPassed ? "passes" : "drops"} a frame with ${name}`, () => {
      expect(passes(arpFilter, golden("arping-request"), knowledge)).to.equal(isPassed);
      expect(passes(ndpFilter, golden("ndisc6-solicitation"), knowledge)).to.equal(isPassed);
    });
  }

  it("drops everything while there is no address of the family", () => {
    for (const family of [4, 6] as const) {
      for (const addresses of [[], [ip(family === 4 ? "2001:db8::2" : "192.0.2.2")]]) {
        const filter = filterFor(family, addresses, [prefix("0.0.0.0/0"), prefix("::/0")]);
        expectAcceptable(filter.program);
        expect(passes(filter, golden("arping-request"))).to.equal(false);
        expect(passes(filter, golden("ndisc6-solicitation"))).to.equal(false);
      }
    }
  });

  it("passes exactly the IPv4 addresses of any set", () => {
    const address = fc.oneof(
      fc.bigInt({ min: 0n, max: 0xffff_ffffn }),
      fc.bigInt({ min: 0xc000_0200n, max: 0xc000_0240n }),
    );
    fc.assert(
      fc.property(fc.array(address, { minLength: 1, maxLength: 300 }), address, address, (values, target, sender) => {
        const set = values.map((value) => ipOfBigInt(value, 4));
        const filter = filterFor(4, set);
        expectAcceptable(filter.program);
        const probes = [...values.flatMap(neighbours), target];
        const wanted = new Set(set);
        for (const probe of probes) {
          const frame = arpAbout(ipOfBigInt(probe, 4), ipOfBigInt(sender, 4));
          const isWanted = wanted.has(ipOfBigInt(probe, 4)) || wanted.has(ipOfBigInt(sender, 4));
          expect(passes(filter, frame)).to.equal(isWanted);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("passes exactly the IPv6 addresses of any set", () => {
    // Few values a word, so that sets share words at every depth.
    const word = fc.constantFrom(0n, 1n, 2n, 0x7fff_ffffn, 0x8000_0000n, 0xffff_fffen, 0xffff_ffffn);
    const address = fc
      .tuple(word, word, word, fc.oneof(word, fc.bigInt({ min: 0n, max: 0xffff_ffffn })))
      .map(([a, b, c, d]) => ipOfBigInt((a << 96n) | (b << 64n) | (c << 32n) | d, 6));
    const few = fc.array(address, { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(few, few, (set, probes) => {
        const filter = filterFor(6, set);
        expectAcceptable(filter.program);
        const wanted = new Set(set);
        for (const probe of [...set, ...probes]) {
          expect(passes(filter, solicitationOf(probe))).to.equal(wanted.has(probe));
        }
      }),
      { numRuns: 50 },
    );
  });

  for (const { name, family, addresses } of [
    { name: "1,250 scattered IPv4 addresses", family: 4, addresses: spread("10.0.0.1", 1_250, 977n) },
    { name: "10,000 IPv4 addresses in a row", family: 4, addresses: spread("10.0.0.1", 10_000, 1n) },
    { name: "2,500 IPv6 addresses of one network", family: 6, addresses: spread("2001:db8::1", 2_500, 3n) },
    { name: "500 IPv6 addresses in as many networks", family: 6, addresses: spread("2001:db8::1", 500, 1n << 64n) },
  ] as const) {
    it(`holds ${name} exactly, and asks a stranger's packet at most 80 questions`, () => {
      const filter = filterFor(family, addresses);
      expectAcceptable(filter.program);
      expect(filter.precision).to.equal("exact");
      const about = family === 4 ? (target: Ip) => arpAbout(target) : solicitationOf;
      for (const address of addresses) expect(passes(filter, about(address))).to.equal(true);
      const strangers = family === 4 ? spread("9.255.255.0", 999, 40_507n) : spread("2001:db8::5", 999, 7n << 40n);
      const wanted = new Set(addresses);
      for (const stranger of strangers) {
        const run = runFilter(filter.program, about(stranger));
        expect(run.passedBytes > 0).to.equal(wanted.has(stranger));
        expect(run.steps).to.be.at.most(80);
      }
    });
  }

  for (const { name, family, addresses, pools, inside, outside } of [
    {
      name: "IPv4",
      family: 4,
      addresses: [...spread("10.0.0.1", 6_000, 977n), ip("192.0.2.9")],
      pools: ["10.0.0.0/9", "198.51.100.0/24", "2001:db8::/32"],
      inside: ["10.0.0.1", "10.127.255.255", "192.0.2.9"],
      outside: ["10.128.0.0", "9.255.255.255", "198.51.100.9", "192.0.2.8"],
    },
    {
      name: "IPv6",
      family: 6,
      addresses: [...spread("2001:db8::1", 3_000, 1n << 50n), ip("2001:db8:ffff::9")],
      pools: ["2001:db8::/36", "2001:db8:8000::/36", "2001:db8:4000::/34", "10.0.0.0/9"],
      inside: ["2001:db8::1", "2001:db8:fff:ffff::", "2001:db8:ffff::9"],
      outside: ["2001:db8:1000::", "2001:db7:ffff::", "2001:db8:8000::", "2001:db8:ffff::8"],
    },
  ] as const) {
    it(`passes the pools that hold an address where the ${name} addresses do not fit`, () => {
      const filter = filterFor(family, addresses, pools.map(prefix));
      expectAcceptable(filter.program);
      expect(filter.precision).to.equal("prefixes");
      const about = family === 4 ? (target: Ip) => arpAbout(target) : solicitationOf;
      for (const text of inside) expect(passes(filter, about(ip(text))), text).to.equal(true);
      for (const text of outside) expect(passes(filter, about(ip(text))), text).to.equal(false);
    });
  }

  it("agrees with prefixHolds for pools of any length", () => {
    const network = ip("2001:db8:a5a5:5a5a:a5a5:5a5a:a5a5:5a5a");
    const other = prefix("ff00::/8");
    const addresses = [network, ...spread("ff0e::1", 50, 1n << 40n)];
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 128 }), fc.array(fc.integer({ min: 0, max: 127 })), (length, flips) => {
        const pool = { network: maskedBy(network, length), length };
        const filter = buildPacketFilter({ family: 6, addresses, poolPrefixes: [pool, other] }, 60);
        expect(filter.precision).to.equal("prefixes");
        let value = BigInt(`0x${hexOf(ipBytes(network))}`);
        for (const bit of flips) value ^= 1n << BigInt(bit);
        const probe = ipOfBigInt(value, 6);
        const isHeld = prefixHolds(pool, probe) || prefixHolds(other, probe);
        expect(passes(filter, solicitationOf(probe))).to.equal(isHeld);
      }),
      { numRuns: 500 },
    );
  });

  it("passes every packet of the family where not even the pools fit", () => {
    const addresses = spread("10.0.0.1", 6_000, 977n);
    const filter = filterFor(4, addresses, [prefix("192.0.2.0/24")]);
    expectAcceptable(filter.program);
    expect(filter.precision).to.equal("family");
    expect(passes(filter, arpAbout(ip("198.51.100.1")))).to.equal(true);
    expect(passes(filter, arpAbout(ip("198.51.100.1")), { packetType: 3 })).to.equal(false);
    expect(passes(filter, golden("ndisc6-solicitation"))).to.equal(false);
  });

  it("stays within the instructions that the kernel has memory for", () => {
    const addresses = spread("10.0.0.1", 1_250, 977n);
    expect(buildPacketFilter({ family: 4, addresses, poolPrefixes: [] }, 2_500).precision).to.equal("family");
    const pools = [prefix("10.0.0.0/8")];
    const filter = buildPacketFilter({ family: 4, addresses, poolPrefixes: pools }, 2_500);
    expect(filter.precision).to.equal("prefixes");
    expect(filter.program.length).to.be.lessThan(64);
  });
});

describe("encodeFilter", () => {
  it("writes struct sock_filter as tcpdump -dd prints it for `arp`", () => {
    const program = [
      { code: 0x28, jt: 0, jf: 0, k: 0x0000000c },
      { code: 0x15, jt: 0, jf: 1, k: 0x00000806 },
      { code: 0x6, jt: 0, jf: 0, k: 0x00040000 },
      { code: 0x6, jt: 0, jf: 0, k: 0x00000000 },
    ];
    const text = "280000000c000000 1500000106080000 0600000000000400 0600000000000000";
    expect(hexOf(encodeFilter(program))).to.equal(text.replaceAll(" ", ""));
  });
});

function padded(frame: Uint8Array, length: number): Uint8Array {
  const copy = new Uint8Array(length);
  copy.set(frame);
  return copy;
}

function maskedBy(address: Ip, length: number): Ip {
  const hostBits = BigInt(128 - length);
  return ipOfBigInt((BigInt(`0x${hexOf(ipBytes(address))}`) >> hostBits) << hostBits, 6);
}

function neighbours(value: bigint): bigint[] {
  return [value, value > 0n ? value - 1n : value, value < 0xffff_ffffn ? value + 1n : value];
}
