import { expect } from "chai";
import { buildArpAnnouncement, buildArpProbe, buildArpReply, buildArpRequest } from "../../src/packet/arp.ts";
import { decodeNdp, encodeNdpFrame, type NeighborMessage, writeIcmpv6Checksum } from "../../src/packet/ndp.ts";
import { duty, ip, leadingRig, link, mac, OWN_MAC, Rig, VIP, VIP6 } from "./rig.ts";

const CLIENT = { mac: mac("02:00:00:00:00:99"), ip: ip("192.0.2.99") };
const CLIENT6 = ip("2001:db8::99");
const OTHER_MAC = mac("02:00:00:00:00:55");
const BROADCAST = mac("ff:ff:ff:ff:ff:ff");
const GROUP = ip("ff02::1:ff00:10");
const GROUP_MAC = mac("33:33:ff:00:00:10");
const ALL_NODES_MAC = mac("33:33:00:00:00:01");
const REQUEST = buildArpRequest(CLIENT, VIP);
/** VIP6 ends as 192.0.2.10's group does not: one address of each family is led. */
const rigOfBoth = (): Rig => leadingRig(duty(VIP, "lead"), duty(VIP6, "lead"));

/** A copy of the frame with bytes written over at an offset. */
function patched(frame: Uint8Array, offset: number, ...bytes: readonly number[]): Uint8Array {
  const copy = frame.slice();
  copy.set(bytes, offset);
  return copy;
}

function withChecksum(frame: Uint8Array): Uint8Array {
  writeIcmpv6Checksum(frame, 14);
  return frame;
}

function solicitation(changes: Partial<NeighborMessage> = {}, destinationMac = GROUP_MAC): Uint8Array {
  const options = [{ kind: "source-link-layer" as const, mac: CLIENT.mac }];
  const whole = {
    kind: "solicitation" as const,
    source: CLIENT6,
    destination: GROUP,
    target: VIP6,
    options,
    ...changes,
  };
  return encodeNdpFrame(destinationMac, CLIENT.mac, whole as NeighborMessage);
}

function advertisement(destination: { mac: typeof OWN_MAC; ip: typeof VIP6 }, isSolicited: boolean): Uint8Array {
  return encodeNdpFrame(destination.mac, OWN_MAC, {
    kind: "advertisement",
    source: VIP6,
    destination: destination.ip,
    target: VIP6,
    isRouter: false,
    isSolicited,
    isOverride: true,
    options: [{ kind: "target-link-layer", mac: OWN_MAC }],
  });
}

describe("answers to ARP", () => {
  const answer = buildArpReply({ mac: OWN_MAC, ip: VIP }, CLIENT);
  for (const { name, frame, expected } of [
    { name: "a broadcast request", frame: REQUEST, expected: answer },
    { name: "a request to our MAC", frame: patched(REQUEST, 0, 2, 0, 0, 0, 0, 1), expected: answer },
    {
      name: "a request whose frame another MAC sent: the answer goes to the sender's MAC inside",
      frame: patched(REQUEST, 6, 2, 0, 0, 0, 0, 0x55),
      expected: answer,
    },
    {
      name: "a probe (RFC 5227): the address is defended",
      frame: buildArpProbe(CLIENT.mac, VIP),
      expected: buildArpReply({ mac: OWN_MAC, ip: VIP }, { mac: CLIENT.mac, ip: ip("0.0.0.0") }),
    },
    { name: "a request without padding", frame: REQUEST.slice(0, 42), expected: answer },
    {
      name: "a request with a priority and no VLAN",
      frame: Uint8Array.from([...REQUEST.subarray(0, 12), 0x81, 0, 0xe0, 0, ...REQUEST.subarray(12)]),
      expected: answer,
    },
  ]) {
    it(`go out for ${name}, padded to 60 bytes`, () => {
      expect(rigOfBoth().receive(1, frame)).to.deep.equal({ verdict: "answered", answer: expected });
    });
  }
  for (const { name, frame, tag, verdict } of [
    { name: "another's address", frame: buildArpRequest(CLIENT, ip("192.0.2.9")), verdict: "not-answered-here" },
    { name: "a foreign MAC", frame: patched(REQUEST, 0, 2, 0, 0, 0, 0, 0x55), verdict: "foreign-destination" },
    { name: "a multicast MAC", frame: patched(REQUEST, 0, 1, 0, 0x5e, 0, 0, 1), verdict: "foreign-destination" },
    { name: "a frame of VLAN 10", frame: REQUEST, tag: 10, verdict: "vlan-tag" },
    { name: "a frame of VLAN 10 with priority", frame: REQUEST, tag: 0xe00a, verdict: "vlan-tag" },
    { name: "a frame with a priority and no VLAN", frame: REQUEST, tag: 0xe000, verdict: "answered" },
    { name: "our own frame", frame: patched(REQUEST, 6, 2, 0, 0, 0, 0, 1), verdict: "own-frame" },
    { name: "a broadcast sender", frame: patched(REQUEST, 22, 255, 255, 255, 255, 255, 255), verdict: "group-sender" },
    { name: "a reply", frame: buildArpReply(CLIENT, { mac: OWN_MAC, ip: VIP }), verdict: "not-a-request" },
    {
      name: "an announcement of our address by another",
      frame: buildArpAnnouncement(OTHER_MAC, VIP, "request"),
      verdict: "holder-heard",
    },
    {
      name: "its reply form",
      frame: buildArpAnnouncement(OTHER_MAC, VIP, "reply"),
      verdict: "holder-heard",
    },
    {
      name: "a question by another that holds our address",
      frame: buildArpRequest({ mac: OTHER_MAC, ip: VIP }, CLIENT.ip),
      verdict: "holder-heard",
    },
    { name: "a cut packet", frame: REQUEST.slice(0, 41), verdict: "truncated" },
    { name: "a cut header", frame: REQUEST.slice(0, 13), verdict: "other-protocol" },
    { name: "IEEE 802 hardware", frame: patched(REQUEST, 15, 6), verdict: "not-ethernet-ipv4" },
    { name: "reverse ARP", frame: patched(REQUEST, 21, 3), verdict: "unknown-operation" },
    { name: "IPv4", frame: patched(REQUEST, 12, 8, 0), verdict: "other-protocol" },
  ] as const) {
    it(`${verdict === "answered" ? "go" : "do not go"} to ${name}: ${verdict}`, () => {
      const rig = rigOfBoth();
      const result = rig.receive(1, frame, tag);
      expect(result.verdict).to.equal(verdict);
      expect(result.answer === undefined).to.equal(verdict !== "answered");
      expect(rig.announcer.counters().drops.get(verdict as never)).to.equal(verdict === "answered" ? undefined : 1);
    });
  }
  it("are counted by address and by protocol", () => {
    const rig = rigOfBoth();
    for (let count = 0; count < 3; count++) rig.receive(1, REQUEST);
    rig.receive(1, solicitation());
    expect(rig.announcer.counters().answered).to.deep.equal({ arp: 3, ndp: 1 });
    expect(rig.states().map(({ requestsAnswered }) => requestsAnswered)).to.deep.equal([3, 1]);
  });
  it("do not come from a link that the address is not answered on, nor from an unknown one", () => {
    const rig = new Rig();
    rig.links(link(1), link(2));
    rig.duties(duty(VIP, "lead"));
    expect(rig.receive(1, REQUEST).verdict).to.equal("answered");
    expect(rig.receive(2, REQUEST).verdict).to.equal("not-answered-here");
    expect(rig.receive(3, REQUEST).verdict).to.equal("unusable-link");
  });
});

describe("answers to solicitations", () => {
  const toClient = advertisement({ mac: CLIENT.mac, ip: CLIENT6 }, true);
  for (const { name, frame, expected } of [
    { name: "one to the group", frame: solicitation(), expected: toClient },
    {
      name: "one to our MAC and the address itself, as routers re-check",
      frame: solicitation({ destination: VIP6 }, OWN_MAC),
      expected: toClient,
    },
    { name: "one to the broadcast MAC", frame: solicitation({}, BROADCAST), expected: toClient },
    { name: "one without source link-layer option", frame: solicitation({ options: [] }), expected: toClient },
    {
      name: "one whose option names another MAC",
      frame: solicitation({ options: [{ kind: "source-link-layer", mac: OTHER_MAC }] }),
      expected: advertisement({ mac: OTHER_MAC, ip: CLIENT6 }, true),
    },
    {
      name: "a DAD probe: to all nodes, not solicited",
      frame: solicitation({ source: ip("::"), options: [] }),
      expected: advertisement({ mac: ALL_NODES_MAC, ip: ip("ff02::1") }, false),
    },
    {
      name: "a DAD probe with a nonce",
      frame: solicitation({
        source: ip("::"),
        options: [{ kind: "other", type: 14, body: Uint8Array.from([1, 2, 3, 4, 5, 6]) }],
      }),
      expected: advertisement({ mac: ALL_NODES_MAC, ip: ip("ff02::1") }, false),
    },
  ]) {
    it(`go out for ${name}`, () => {
      const { verdict, answer } = rigOfBoth().receive(1, frame);
      expect(verdict).to.equal("answered");
      expect(decodeNdp(answer?.subarray(14) ?? new Uint8Array(0)).ok).to.equal(true);
      expect(answer).to.deep.equal(expected);
    });
  }
  for (const { name, frame, verdict } of [
    { name: "hop limit 64", frame: withChecksum(patched(solicitation(), 21, 64)), verdict: "hop-limit" },
    { name: "code 1", frame: withChecksum(patched(solicitation(), 55, 1)), verdict: "code" },
    { name: "a wrong checksum", frame: patched(solicitation(), 56, 0, 0), verdict: "checksum" },
    { name: "a foreign MAC", frame: solicitation({}, OTHER_MAC), verdict: "foreign-destination" },
    { name: "all nodes", frame: solicitation({}, ALL_NODES_MAC), verdict: "foreign-destination" },
    { name: "another group's MAC", frame: solicitation({}, mac("33:33:ff:00:00:11")), verdict: "foreign-destination" },
    {
      name: "another's address",
      frame: solicitation({ target: ip("2001:db8::11") }),
      verdict: "not-answered-here",
    },
    {
      name: "an address with the same end",
      frame: solicitation({ target: ip("2001:db8:1::10") }),
      verdict: "not-answered-here",
    },
    {
      name: "an option with a multicast MAC",
      frame: solicitation({ options: [{ kind: "source-link-layer", mac: ALL_NODES_MAC }] }),
      verdict: "group-sender",
    },
    {
      name: "another's advertisement of our address",
      frame: patched(advertisement({ mac: ALL_NODES_MAC, ip: ip("ff02::1") }, false), 11, 0x55),
      verdict: "holder-heard",
    },
    {
      name: "another's advertisement of its address",
      frame: encodeNdpFrame(ALL_NODES_MAC, OTHER_MAC, {
        kind: "advertisement",
        source: CLIENT6,
        destination: ip("ff02::1"),
        target: CLIENT6,
        isRouter: false,
        isSolicited: false,
        isOverride: true,
        options: [],
      }),
      verdict: "not-a-request",
    },
    {
      name: "a question by another that holds our address",
      frame: solicitation({ source: VIP6, target: CLIENT6 }),
      verdict: "holder-heard",
    },
  ] as const) {
    it(`do not go to ${name}: ${verdict}`, () => {
      const result = rigOfBoth().receive(1, frame);
      expect(result).to.deep.equal({ verdict });
    });
  }
});
