import { expect } from "chai";
import { VirtualClock } from "../../src/base/clock.ts";
import { SeededRandom } from "../../src/base/random.ts";
import type { Mac } from "../../src/net/mac.ts";
import { buildArpAnnouncement, buildArpReply, buildArpRequest } from "../../src/packet/arp.ts";
import { encodeNdpFrame } from "../../src/packet/ndp.ts";
import { ALL_NODES, ALL_NODES_MAC, multicastMacOf, solicitedNodeGroupOf } from "../../src/packet/solicited-node.ts";
import { ip, mac } from "../packet/golden.ts";
import { EthernetSwitch, type SwitchPort } from "./ethernet-switch.ts";
import { answerFrame, requestFrame } from "./frames.ts";
import { type ClientKind, SegmentClient } from "./segment-client.ts";

const VIP = ip("192.0.2.100");
const VIP6 = ip("2001:db8::100");
const OLD = { mac: mac("02:00:00:00:00:0a"), ip: VIP };
const NEW = { mac: mac("02:00:00:00:00:0b"), ip: VIP };
const CLIENT_MAC = mac("02:00:00:00:00:01");
const CLIENT_IP = ip("192.0.2.1");

class Plug implements SwitchPort {
  readonly name: string;
  readonly groups = new Set<Mac>();
  isUp = true;
  readonly heard: Uint8Array[] = [];
  constructor(name: string) {
    this.name = name;
  }
  receive(frame: Uint8Array): void {
    this.heard.push(frame);
  }
}

function segmentWith(names: readonly string[], snoopsMld = false) {
  const clock = new VirtualClock();
  const segment = new EthernetSwitch("segment", clock, new SeededRandom(1), snoopsMld);
  const plugs = names.map((name) => new Plug(name));
  for (const plug of plugs) segment.attach(plug);
  const [a = new Plug(""), b = new Plug(""), c = new Plug("")] = plugs;
  return { clock, segment, a, b, c };
}

describe("simulation: the switch", () => {
  it("floods what it does not know and then learns where a MAC is", () => {
    const { clock, segment, a, b, c } = segmentWith(["a", "b", "c"]);
    segment.transmit(a, requestFrame({ mac: CLIENT_MAC, ip: CLIENT_IP }, VIP));
    clock.advance(1);
    expect([a.heard.length, b.heard.length, c.heard.length]).to.deep.equal([0, 1, 1]);
    segment.transmit(b, answerFrame(OLD, { mac: CLIENT_MAC, ip: CLIENT_IP }));
    clock.advance(1);
    expect([a.heard.length, b.heard.length, c.heard.length]).to.deep.equal([1, 1, 1]);
    expect(segment.portOf(OLD.mac)).to.equal("b");
  });

  it("forgets a MAC whose link went down, and carries nothing to a link that is down", () => {
    const { clock, segment, a, b, c } = segmentWith(["a", "b", "c"]);
    segment.transmit(b, answerFrame(OLD, NEW));
    b.isUp = false;
    segment.forget(b);
    segment.transmit(a, requestFrame({ mac: CLIENT_MAC, ip: CLIENT_IP }, VIP, OLD.mac));
    clock.advance(1);
    expect(b.heard.length).to.equal(0);
    expect(c.heard.length).to.be.greaterThan(0);
  });

  it("passes solicitations only to ports that joined, and all-nodes to everybody, when it snoops", () => {
    const { clock, segment, a, b, c } = segmentWith(["a", "b", "c"], true);
    b.groups.add(multicastMacOf(solicitedNodeGroupOf(VIP6)));
    segment.transmit(a, requestFrame({ mac: CLIENT_MAC, ip: ip("2001:db8::1") }, VIP6));
    clock.advance(1);
    expect([b.heard.length, c.heard.length]).to.deep.equal([1, 0]);
    segment.transmit(a, advertisement(NEW.mac, true));
    clock.advance(1);
    expect([b.heard.length, c.heard.length]).to.deep.equal([2, 1]);
  });

  it("cuts one direction only, and loses about what it is told to lose", () => {
    const { clock, segment, a, b } = segmentWith(["a", "b"]);
    segment.cuts.add("a>b");
    segment.transmit(a, requestFrame(NEW, VIP));
    segment.transmit(b, requestFrame(OLD, VIP));
    clock.advance(1);
    expect([a.heard.length, b.heard.length]).to.deep.equal([1, 0]);
    segment.cuts.clear();
    segment.faults.lossRate = 0.3;
    for (let sent = 0; sent < 1_000; sent++) segment.transmit(a, requestFrame(NEW, VIP));
    clock.advance(1);
    // Lost on the way in and on the way out: 0.7 x 0.7.
    expect(b.heard.length).to.be.within(430, 550);
  });
});

function advertisement(from: Mac, isOverride: boolean): Uint8Array {
  return encodeNdpFrame(ALL_NODES_MAC, from, {
    kind: "advertisement",
    source: VIP6,
    destination: ALL_NODES,
    isRouter: false,
    isSolicited: false,
    isOverride,
    target: VIP6,
    options: [{ kind: "target-link-layer", mac: from }],
  });
}

/** A client that learned the old leader `ageMs` ago. */
function clientOf(kind: ClientKind, ageMs: number, target = VIP) {
  const { clock, segment, a } = segmentWith(["a"]);
  const ips = { 4: CLIENT_IP, 6: ip("2001:db8::1") };
  const client = new SegmentClient("client", kind, CLIENT_MAC, ips, clock, segment);
  client.use(target);
  segment.transmit(
    a,
    answerFrame({ mac: OLD.mac, ip: target }, { mac: CLIENT_MAC, ip: target === VIP ? ips[4] : ips[6] }),
  );
  clock.advance(1 + ageMs);
  return {
    client,
    hear: (frame: Uint8Array) => {
      segment.transmit(a, frame);
      clock.advance(1);
      return client.macOf(target);
    },
  };
}

const request = () => buildArpAnnouncement(NEW.mac, VIP, "request");
const reply = () => buildArpAnnouncement(NEW.mac, VIP, "reply");
const unicastReply = () => buildArpReply(NEW, { mac: CLIENT_MAC, ip: CLIENT_IP });
const directed = () => buildArpRequest(NEW, CLIENT_IP);

describe("simulation: clients learn as Linux does", () => {
  for (const { name, frame, young, old, ignoring } of [
    { name: "gratuitous request", frame: request, young: true, old: true, ignoring: false },
    { name: "unsolicited unicast reply", frame: unicastReply, young: false, old: true, ignoring: true },
    { name: "request from the address for the client", frame: directed, young: true, old: true, ignoring: true },
  ]) {
    it(`${name}: entry younger than a second ${young ? "updates" : "does not"}, older updates`, () => {
      expect(clientOf("linux", 100).hear(frame()) === NEW.mac).to.equal(young);
      expect(clientOf("linux", 1_500).hear(frame()) === NEW.mac).to.equal(old);
      expect(clientOf("no-lock", 100).hear(frame())).to.equal(NEW.mac);
      expect(clientOf("ignores-gratuitous", 1_500).hear(frame()) === NEW.mac).to.equal(ignoring);
    });
  }

  it("gratuitous reply: counts within the lock time only when its target MAC is its sender's", () => {
    const [form, target] = [reply(), reply()];
    form.fill(0xff, 32, 38);
    target.set(target.subarray(22, 28), 32);
    expect(clientOf("linux", 100).hear(form)).to.equal(OLD.mac);
    expect(clientOf("linux", 1_500).hear(form)).to.equal(NEW.mac);
    expect(clientOf("linux", 100).hear(target)).to.equal(NEW.mac);
  });

  it("an announcement makes no entry; a request from the address does", () => {
    const { clock, segment, a } = segmentWith(["a"]);
    const ips = { 4: CLIENT_IP, 6: ip("2001:db8::1") };
    const client = new SegmentClient("client", "linux", CLIENT_MAC, ips, clock, segment);
    segment.transmit(a, request());
    clock.advance(1);
    expect(client.macOf(VIP)).to.equal(undefined);
    segment.transmit(a, directed());
    clock.advance(1);
    expect(client.macOf(VIP)).to.equal(NEW.mac);
  });

  it("an advertisement changes an IPv6 entry only with Override", () => {
    expect(clientOf("linux", 100, VIP6).hear(advertisement(NEW.mac, false))).to.equal(OLD.mac);
    expect(clientOf("linux", 100, VIP6).hear(advertisement(NEW.mac, true))).to.equal(NEW.mac);
  });

  it("an entry that is not confirmed is asked for by unicast, then given up and asked of all", () => {
    const { clock, segment, a } = segmentWith(["a"]);
    const client = new SegmentClient("client", "linux", CLIENT_MAC, { 4: CLIENT_IP, 6: VIP6 }, clock, segment);
    client.use(VIP);
    segment.transmit(a, answerFrame(OLD, { mac: CLIENT_MAC, ip: CLIENT_IP }));
    clock.advance(31_000);
    const before = a.heard.length;
    for (let turn = 0; turn < 4; turn++) {
      client.use(VIP);
      clock.advance(1_000);
    }
    const destinations = a.heard.slice(before).map((frame) => frame[0] === 0xff);
    expect(destinations).to.deep.equal([false, false, false, true]);
    expect(client.macOf(VIP)).to.equal(undefined);
  });
});
