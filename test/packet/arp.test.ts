import { expect } from "chai";
import fc from "fast-check";
import { ipv4At } from "../../src/net/ip.ts";
import { macAt } from "../../src/net/mac.ts";
import {
  type ArpPacket,
  buildArpAnnouncement,
  buildArpProbe,
  buildArpReply,
  buildArpRequest,
  decodeArp,
  encodeArp,
} from "../../src/packet/arp.ts";
import { golden, hex, insideLarger, ip, mac, withByte } from "./golden.ts";

const NEAR = { mac: mac("02:00:00:00:00:01"), ip: ip("192.0.2.1") };
const FAR = { mac: mac("02:00:00:00:00:02"), ip: ip("192.0.2.2") };
const BROADCAST = mac("ff:ff:ff:ff:ff:ff");
const ZERO = mac("00:00:00:00:00:00");
const UNSPECIFIED = ip("0.0.0.0");

const packet = (
  operation: "request" | "reply",
  sender: { mac: ArpPacket["senderMac"]; ip: ArpPacket["senderIp"] },
  target: { mac: ArpPacket["targetMac"]; ip: ArpPacket["targetIp"] },
): ArpPacket => ({
  operation,
  senderMac: sender.mac,
  senderIp: sender.ip,
  targetMac: target.mac,
  targetIp: target.ip,
});

const GOLDEN = [
  { name: "arping-request", value: packet("request", NEAR, { mac: BROADCAST, ip: FAR.ip }) },
  { name: "kernel-reply", value: packet("reply", FAR, NEAR) },
  {
    name: "arping-probe",
    value: packet("request", { mac: NEAR.mac, ip: UNSPECIFIED }, { mac: BROADCAST, ip: FAR.ip }),
  },
  { name: "kernel-reply-to-probe", value: packet("reply", FAR, { mac: NEAR.mac, ip: UNSPECIFIED }) },
  { name: "arping-gratuitous-request", value: packet("request", NEAR, { mac: BROADCAST, ip: NEAR.ip }) },
  { name: "arping-gratuitous-reply", value: packet("reply", NEAR, NEAR) },
  { name: "kernel-request", value: packet("request", NEAR, { mac: ZERO, ip: FAR.ip }) },
];

describe("decodeArp", () => {
  for (const { name, value } of GOLDEN) {
    it(`reads ${name}, and encodeArp writes the same bytes`, () => {
      const payload = insideLarger(golden(name).subarray(14));
      expect(decodeArp(payload)).to.deep.equal({ ok: true, value });
      expect(encodeArp(value)).to.deep.equal(payload);
    });
  }
  it("ignores the padding of a short frame", () => {
    const payload = new Uint8Array(46).fill(0xee);
    payload.set(golden("kernel-reply").subarray(14));
    expect(decodeArp(payload)).to.deep.equal(decodeArp(golden("kernel-reply").subarray(14)));
  });
  const request = golden("kernel-request").subarray(14);
  for (const { name, bytes, reason } of [
    { name: "nothing", bytes: hex(""), reason: "truncated" },
    { name: "one byte too few", bytes: request.subarray(0, 27), reason: "truncated" },
    { name: "IEEE 802 hardware", bytes: withByte(request, 1, 6), reason: "not-ethernet-ipv4" },
    { name: "hardware above 255", bytes: withByte(request, 0, 1), reason: "not-ethernet-ipv4" },
    { name: "protocol IPv6", bytes: withByte(withByte(request, 2, 0x86), 3, 0xdd), reason: "not-ethernet-ipv4" },
    { name: "protocol 0x0801", bytes: withByte(request, 3, 1), reason: "not-ethernet-ipv4" },
    { name: "MACs of 8 bytes", bytes: withByte(request, 4, 8), reason: "not-ethernet-ipv4" },
    { name: "addresses of 16 bytes", bytes: withByte(request, 5, 16), reason: "not-ethernet-ipv4" },
    { name: "operation 0", bytes: withByte(request, 7, 0), reason: "unknown-operation" },
    { name: "reverse ARP", bytes: withByte(request, 7, 3), reason: "unknown-operation" },
    { name: "operation 257", bytes: withByte(request, 6, 1), reason: "unknown-operation" },
  ] as const) {
    it(`drops ${name} as ${reason}`, () => {
      expect(decodeArp(insideLarger(bytes, 0x01))).to.deep.equal({ ok: false, reason });
    });
  }
  it("undoes encodeArp", () => {
    const anyMac = fc.uint8Array({ minLength: 6, maxLength: 6 }).map((bytes) => macAt(bytes));
    const anyIp = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => ipv4At(bytes, 0));
    const anyPacket = fc.record({
      operation: fc.constantFrom("request" as const, "reply" as const),
      senderMac: anyMac,
      senderIp: anyIp,
      targetMac: anyMac,
      targetIp: anyIp,
    });
    fc.assert(
      fc.property(anyPacket, (value) => {
        expect(decodeArp(insideLarger(encodeArp(value)))).to.deep.equal({ ok: true, value });
      }),
    );
  });
});

function padded(frame: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(60);
  bytes.set(frame);
  return bytes;
}

/** A golden frame with the target MAC zero. */
function zeroed(name: string): Uint8Array {
  return padded(golden(name)).fill(0, 32, 38);
}

describe("ARP frames", () => {
  for (const { name, built } of [
    { name: "kernel-request", built: buildArpRequest(NEAR, FAR.ip) },
    { name: "kernel-reply", built: buildArpReply(FAR, NEAR) },
    { name: "arping-gratuitous-reply", built: buildArpAnnouncement(NEAR.mac, NEAR.ip, "reply") },
  ]) {
    it(`are those of ${name}, padded`, () => expect(built).to.deep.equal(padded(golden(name))));
  }
  it("of a probe and of a gratuitous request are arping's, but with target MAC zero (RFC 5227 §2.1.1)", () => {
    expect(buildArpProbe(NEAR.mac, FAR.ip)).to.deep.equal(zeroed("arping-probe"));
    expect(buildArpAnnouncement(NEAR.mac, NEAR.ip, "request")).to.deep.equal(zeroed("arping-gratuitous-request"));
  });
});
