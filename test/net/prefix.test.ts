import { expect } from "chai";
import { familyOf, ipToBigInt, parseIp } from "../../src/net/ip.ts";
import {
  formatPrefix,
  parsePrefix,
  prefixesOfRange,
  prefixHolds,
  rangeHolds,
  rangeOfPrefix,
  rangesOverlap,
} from "../../src/net/prefix.ts";

const ip = (text: string) => parseIp(text) ?? expect.fail(text);
const prefix = (text: string) => parsePrefix(text) ?? expect.fail(text);

describe("parsePrefix", () => {
  for (const [text, canonical] of [
    ["192.0.2.9/24", "192.0.2.0/24"],
    ["192.0.2.9/32", "192.0.2.9/32"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["2001:db8::1/64", "2001:db8::/64"],
    ["2001:db8::1/128", "2001:db8::1/128"],
  ] as const) {
    it(`reads ${text} as ${canonical}`, () => expect(formatPrefix(prefix(text))).to.equal(canonical));
  }
  for (const text of ["192.0.2.1", "192.0.2.1/33", "2001:db8::/129", "/24", "192.0.2.0/24 ", "a/8"]) {
    it(`refuses "${text}"`, () => expect(parsePrefix(text)).to.equal(undefined));
  }
});

describe("prefixHolds and ranges", () => {
  it("holds its addresses and no others", () => {
    expect(prefixHolds(prefix("192.0.2.0/25"), ip("192.0.2.127"))).to.equal(true);
    expect(prefixHolds(prefix("192.0.2.0/25"), ip("192.0.2.128"))).to.equal(false);
    expect(prefixHolds(prefix("0.0.0.0/0"), ip("2001:db8::1"))).to.equal(false);
    expect(rangeHolds(rangeOfPrefix(prefix("2001:db8::/120")), ip("2001:db8::ff"))).to.equal(true);
    expect(rangeHolds(rangeOfPrefix(prefix("2001:db8::/120")), ip("2001:db8::100"))).to.equal(false);
  });
  it("overlaps only within a family", () => {
    expect(rangesOverlap(rangeOfPrefix(prefix("192.0.2.0/24")), rangeOfPrefix(prefix("192.0.2.128/25")))).to.equal(
      true,
    );
    expect(rangesOverlap(rangeOfPrefix(prefix("192.0.2.0/25")), rangeOfPrefix(prefix("192.0.2.128/25")))).to.equal(
      false,
    );
    expect(rangesOverlap(rangeOfPrefix(prefix("0.0.0.0/0")), rangeOfPrefix(prefix("::/0")))).to.equal(false);
  });
});

describe("prefixesOfRange", () => {
  // Python: [str(n) for n in ipaddress.summarize_address_range(ip_address(first), ip_address(last))]
  for (const [first, last, prefixes] of [
    ["192.0.2.10", "192.0.2.20", ["192.0.2.10/31", "192.0.2.12/30", "192.0.2.16/30", "192.0.2.20/32"]],
    ["192.0.2.0", "192.0.2.255", ["192.0.2.0/24"]],
    ["0.0.0.0", "255.255.255.255", ["0.0.0.0/0"]],
    ["192.0.2.255", "192.0.3.0", ["192.0.2.255/32", "192.0.3.0/32"]],
    ["2001:db8::f", "2001:db8::11", ["2001:db8::f/128", "2001:db8::10/127"]],
  ] as const) {
    it(`covers ${first}-${last}`, () => {
      const range = { family: familyOf(ip(first)), first: ipToBigInt(ip(first)), last: ipToBigInt(ip(last)) };
      expect(prefixesOfRange(range).map(formatPrefix)).to.deep.equal(prefixes);
    });
  }
});
