import { expect } from "chai";
import fc from "fast-check";
import {
  compareIps,
  ipBytes,
  ipOfBigInt,
  ipOfBytes,
  ipToBigInt,
  isLinkLocal,
  isMulticast,
  parseIp,
} from "../../src/net/ip.ts";

const ip = (text: string) => parseIp(text) ?? expect.fail(text);

describe("parseIp", () => {
  for (const [text, canonical] of [
    ["192.0.2.1", "192.0.2.1"],
    // RFC 5952 §4: leading zeros, the longest run, the first of equal runs, a single zero group, lower case.
    ["2001:0db8:0:0:0:0:2:1", "2001:db8::2:1"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
    ["2001:DB8::AAAA", "2001:db8::aaaa"],
    ["::", "::"],
    ["::1", "::1"],
    ["1::", "1::"],
    // Go prints a mapped address as IPv4.
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["64:ff9b::192.0.2.1", "64:ff9b::c000:201"],
  ] as const) {
    it(`reads ${text} as ${canonical}`, () => expect(parseIp(text)).to.equal(canonical));
  }
  for (const text of [
    "",
    "192.0.2",
    "192.0.2.256",
    "192.0.2.01",
    "2001:db8::1::",
    "fe80::1%eth0",
    "node-a",
    " 192.0.2.1",
  ]) {
    it(`refuses "${text}"`, () => expect(parseIp(text)).to.equal(undefined));
  }
  it("keeps every address through bytes and back", () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const canonical = ip(text);
        expect(parseIp(canonical)).to.equal(canonical);
        expect(ipOfBytes(ipBytes(canonical))).to.equal(canonical);
      }),
    );
  });
});

describe("ip order and kinds", () => {
  it("puts IPv4 first, then goes by value", () => {
    const sorted = ["2001:db8::2", "192.0.2.10", "192.0.2.9", "2001:db8::1"].map(ip).toSorted(compareIps);
    expect(sorted).to.deep.equal(["192.0.2.9", "192.0.2.10", "2001:db8::1", "2001:db8::2"]);
  });
  it("turns numbers into addresses and back", () => {
    expect(ipOfBigInt(ipToBigInt(ip("192.0.2.255")) + 1n, 4)).to.equal("192.0.3.0");
    expect(ipOfBigInt(ipToBigInt(ip("2001:db8::ffff")) + 1n, 6)).to.equal("2001:db8::1:0");
  });
  it("knows link-local and multicast", () => {
    expect(["fe80::1", "febf::1", "fec0::1", "192.0.2.1"].map((text) => isLinkLocal(ip(text)))).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
    expect(
      ["ff02::1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "2001:db8::1"].map((text) => isMulticast(ip(text))),
    ).to.deep.equal([true, true, true, false, false]);
  });
});
