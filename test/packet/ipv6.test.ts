import { expect } from "chai";
import { decodeIpv6, encodeIpv6 } from "../../src/packet/ipv6.ts";
import { multicastMacOf, solicitedNodeGroupOf } from "../../src/packet/solicited-node.ts";
import { golden, hex, insideLarger, ip, withByte } from "./golden.ts";

describe("decodeIpv6", () => {
  const packet = golden("ndisc6-solicitation").subarray(14);
  it("reads the header that the kernel wrote, and encodeIpv6 writes the same bytes", () => {
    const result = decodeIpv6(insideLarger(packet));
    if (!result.ok) return expect.fail(result.reason);
    const { payload, flowLabel, ...rest } = result.value;
    expect(rest).to.deep.equal({
      trafficClass: 0,
      nextHeader: 58,
      hopLimit: 255,
      source: "fe80::ff:fe00:1",
      destination: "ff02::1:ff00:2",
    });
    // The kernel draws the flow label of a raw socket at random.
    expect(flowLabel).to.equal(((packet[1] ?? 0) << 16) | ((packet[2] ?? 0) << 8) | (packet[3] ?? 0));
    expect(payload).to.deep.equal(packet.subarray(40));
    return expect(encodeIpv6(result.value)).to.deep.equal(packet);
  });
  it("reads traffic class and flow label, and leaves padding out", () => {
    const header = hex("6ab cdef1 0002 3a 40 20010db8000000000000000000000001 ff020000000000000000000000000001");
    const result = decodeIpv6(insideLarger(hex(`${Buffer.from(header).toString("hex")} 0102 0000`)));
    if (!result.ok) return expect.fail(result.reason);
    const { trafficClass, flowLabel, hopLimit, payload } = result.value;
    expect({ trafficClass, flowLabel, hopLimit }).to.deep.equal({
      trafficClass: 0xab,
      flowLabel: 0xcdef1,
      hopLimit: 64,
    });
    expect(payload).to.deep.equal(hex("0102"));
    return expect(encodeIpv6(result.value)).to.deep.equal(hex(`${Buffer.from(header).toString("hex")} 0102`));
  });
  for (const { name, bytes, reason } of [
    { name: "nothing", bytes: hex(""), reason: "truncated" },
    { name: "39 bytes", bytes: packet.subarray(0, 39), reason: "truncated" },
    { name: "a payload shorter than the header says", bytes: packet.subarray(0, -1), reason: "truncated" },
    { name: "version 4", bytes: withByte(packet, 0, 0x45), reason: "not-ipv6" },
  ] as const) {
    it(`drops ${name} as ${reason}`, () => {
      expect(decodeIpv6(insideLarger(bytes))).to.deep.equal({ ok: false, reason });
    });
  }
});

describe("solicited-node groups", () => {
  for (const [address, group, groupMac] of [
    // RFC 4291 §2.7.1 gives this pair.
    ["4037::1:800:200e:8c6c", "ff02::1:ff0e:8c6c", "33:33:ff:0e:8c:6c"],
    ["2001:db8::2", "ff02::1:ff00:2", "33:33:ff:00:00:02"],
    ["2001:db8::", "ff02::1:ff00:0", "33:33:ff:00:00:00"],
  ] as const) {
    it(`of ${address} is ${group} at ${groupMac}`, () => {
      expect(solicitedNodeGroupOf(ip(address))).to.equal(group);
      expect(multicastMacOf(ip(group))).to.equal(groupMac);
    });
  }
  it("is where the kernel sent its solicitation", () => {
    const result = decodeIpv6(golden("kernel-solicitation").subarray(14));
    expect(result.ok && result.value.destination).to.equal(solicitedNodeGroupOf(ip("2001:db8::2")));
  });
});
