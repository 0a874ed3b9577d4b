import { expect } from "chai";
import { buildProbe, readClaim } from "../../hack/netlab/probe.ts";
import type { Ip } from "../../src/net/ip.ts";
import type { Mac } from "../../src/net/mac.ts";
import { buildArpAnnouncement, buildArpReply, decodeArp } from "../../src/packet/arp.ts";
import { decodeEthernet } from "../../src/packet/ethernet.ts";
import { decodeNdp, encodeNdpFrame } from "../../src/packet/ndp.ts";

const WATCHER = "02:00:00:00:00:03" as Mac;
const LEADER = "02:00:00:00:00:0b" as Mac;
const IPV4 = "192.0.2.100" as Ip;
const IPV6 = "2001:db8::100" as Ip;

/** The answer that a leader gives to the probe. */
function answerTo(probe: Uint8Array): Uint8Array {
  const ethernet = decodeEthernet(probe);
  if (!ethernet.ok) throw new Error(ethernet.reason);
  const arp = decodeArp(ethernet.value.payload);
  if (arp.ok) {
    const { targetIp, senderIp, senderMac } = arp.value;
    return buildArpReply({ mac: LEADER, ip: targetIp }, { mac: senderMac, ip: senderIp });
  }
  const ndp = decodeNdp(ethernet.value.payload);
  if (!ndp.ok) throw new Error(ndp.reason);
  const flags = { isRouter: false, isSolicited: true, isOverride: true };
  const { target, source: destination } = ndp.value;
  const fields = { kind: "advertisement", source: target, destination, target, options: [], ...flags } as const;
  return encodeNdpFrame(WATCHER, LEADER, fields);
}

describe("a probe's answer", () => {
  for (const { address, last } of [
    { address: IPV4, last: 12 },
    { address: IPV4, last: 1_000 },
    { address: IPV6, last: 12 },
    { address: IPV6, last: 70_000 },
  ]) {
    it(`is matched to its probe and no later one: ${address}, probe ${last - 10} of ${last}`, () => {
      const frame = answerTo(buildProbe(WATCHER, address, last - 10));
      expect(readClaim(frame, address, last)).to.deep.equal({ mac: LEADER, probe: last - 10 });
    });
  }

  it("to another address is none", () => {
    expect(readClaim(answerTo(buildProbe(WATCHER, "192.0.2.101" as Ip, 1)), IPV4, 1)).to.equal(undefined);
    expect(readClaim(answerTo(buildProbe(WATCHER, "2001:db8::101" as Ip, 1)), IPV6, 1)).to.equal(undefined);
  });

  it("is not a gratuitous announcement, which claims the address unasked", () => {
    expect(readClaim(buildArpAnnouncement(LEADER, IPV4, "request"), IPV4, 1)).to.deep.equal({ mac: LEADER });
  });

  it("is not a probe of the watcher itself", () => {
    expect(readClaim(buildProbe(WATCHER, IPV4, 1), IPV4, 1)).to.equal(undefined);
    expect(readClaim(buildProbe(WATCHER, IPV6, 1), IPV6, 1)).to.equal(undefined);
  });
});
