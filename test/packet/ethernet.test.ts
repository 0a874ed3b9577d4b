import { expect } from "chai";
import fc from "fast-check";
import { macAt } from "../../src/net/mac.ts";
import {
  decodeEthernet,
  ETHERTYPE_ARP,
  ETHERTYPE_IPV6,
  encodeEthernet,
  payloadOffsetOf,
  vlanIdOf,
} from "../../src/packet/ethernet.ts";
import { GOLDEN_FRAMES, hex, insideLarger, mac } from "./golden.ts";

const HEADER = "ffffffffffff 020000000001";

describe("decodeEthernet", () => {
  for (const { name, command, frame } of GOLDEN_FRAMES) {
    it(`reads ${name} (${command}) at any offset`, () => {
      const result = decodeEthernet(insideLarger(frame));
      if (!result.ok) return expect.fail(result.reason);
      expect(result.value.etherType).to.equal(name.match(/arp|kernel-re/) ? ETHERTYPE_ARP : ETHERTYPE_IPV6);
      expect(result.value.payload).to.deep.equal(frame.subarray(14));
      return expect(encodeEthernet(result.value).subarray(0, frame.length)).to.deep.equal(frame);
    });
  }
  it("reads the 802.1Q tag: priority 5, drop eligible, VLAN 10", () => {
    const result = decodeEthernet(hex(`${HEADER} 8100 b00a 0806 aa`));
    expect(result.ok && result.value).to.deep.equal({
      destination: "ff:ff:ff:ff:ff:ff",
      source: "02:00:00:00:00:01",
      etherType: ETHERTYPE_ARP,
      vlan: { id: 10, priority: 5, isDropEligible: true },
      payload: hex("aa"),
    });
  });
  for (const { name, bytes, reason } of [
    { name: "an empty frame", bytes: "", reason: "truncated" },
    { name: "thirteen bytes", bytes: `${HEADER} 08`, reason: "truncated" },
    { name: "a tag that is cut", bytes: `${HEADER} 8100 000a 08`, reason: "truncated" },
    { name: "an 802.3 length", bytes: `${HEADER} 05ff`, reason: "length-field" },
    { name: "an 802.3 length in a tag", bytes: `${HEADER} 8100 000a 0026`, reason: "length-field" },
  ] as const) {
    it(`drops ${name} as ${reason}`, () => {
      expect(decodeEthernet(insideLarger(hex(bytes)))).to.deep.equal({ ok: false, reason });
    });
  }
});

describe("encodeEthernet", () => {
  it("pads to 60 bytes with zeros, and leaves a longer frame as it is", () => {
    const frame = { destination: mac("02:00:00:00:00:01"), source: mac("02:00:00:00:00:02"), etherType: ETHERTYPE_ARP };
    expect(encodeEthernet({ ...frame, payload: hex("ab") })).to.deep.equal(
      hex(`020000000001 020000000002 0806 ab ${"00".repeat(45)}`),
    );
    expect(encodeEthernet({ ...frame, payload: new Uint8Array(47) })).to.have.length(61);
  });
  it("is undone by decodeEthernet", () => {
    const anyMac = fc.uint8Array({ minLength: 6, maxLength: 6 }).map((bytes) => macAt(bytes));
    const vlan = fc.record({ id: fc.nat(4_095), priority: fc.nat(7), isDropEligible: fc.boolean() });
    const anyFrame = fc.record(
      {
        destination: anyMac,
        source: anyMac,
        etherType: fc.integer({ min: 0x0600, max: 0xffff }).filter((type) => type !== 0x8100),
        payload: fc.uint8Array({ minLength: 46, maxLength: 90 }),
        vlan,
      },
      { requiredKeys: ["destination", "source", "etherType", "payload"] },
    );
    fc.assert(
      fc.property(anyFrame, (frame) => {
        const result = decodeEthernet(insideLarger(encodeEthernet(frame)));
        expect(result.ok && result.value).to.deep.equal(frame);
      }),
    );
  });
});

describe("payloadOffsetOf", () => {
  for (const { name, bytes, offset } of [
    { name: "an untagged frame", bytes: `${HEADER} 0806`, offset: 14 },
    { name: "a frame with a priority and no VLAN", bytes: `${HEADER} 8100 e000 0806`, offset: 18 },
    { name: "a frame of a VLAN", bytes: `${HEADER} 8100 e001 0806`, offset: 0 },
    { name: "another type", bytes: `${HEADER} 86dd`, offset: 0 },
    { name: "another type behind a priority", bytes: `${HEADER} 8100 e000 86dd`, offset: 0 },
    { name: "a tag that is cut", bytes: `${HEADER} 8100 e000 08`, offset: 0 },
    { name: "thirteen bytes", bytes: `${HEADER} 08`, offset: 0 },
  ]) {
    it(`gives ${offset} for ${name}`, () =>
      expect(payloadOffsetOf(insideLarger(hex(bytes), 0x06), ETHERTYPE_ARP)).to.equal(offset));
  }
  it("takes the VLAN from the low twelve bits", () => expect(vlanIdOf(0xf00a)).to.equal(10));
});
