import { expect } from "chai";
import type { Duty, HandoverMessage } from "../../src/announcer/ports.ts";
import { buildArpAnnouncement, buildArpRequest } from "../../src/packet/arp.ts";
import { encodeNdpFrame } from "../../src/packet/ndp.ts";
import { answerFrame, readFrame } from "../simulation/frames.ts";
import {
  BASIS,
  claim,
  duty,
  ip,
  leadingRig,
  link,
  mac,
  OWN_MAC,
  Rig,
  say,
  VIP,
  VIP6,
  winnerOf,
  withoutNotes,
} from "./rig.ts";

const CLIENT = { mac: mac("02:00:00:00:00:99"), ip: ip("192.0.2.99") };
const REQUEST = buildArpRequest(CLIENT, VIP);
const NEXT_MAC = mac("02:00:00:00:00:b1");
const STRANGER_MAC = mac("02:00:00:00:00:c1");
const MEMBERS = [
  { node: "n2", macs: [NEXT_MAC] },
  { node: "n3", macs: [mac("02:00:00:00:00:b3")] },
];

function movedRig(nextLeader: Duty["nextLeader"], ...addresses: readonly Duty["ip"][]): Rig {
  const led = addresses.length > 0 ? addresses : [VIP];
  const rig = leadingRig(...led.map((address) => duty(address, "lead")));
  rig.on({ kind: "members", members: MEMBERS });
  const moved = led.map((address) => duty(address, "moved", nextLeader === undefined ? {} : { nextLeader }));
  const asksSegment = nextLeader?.sendsClaims === false;
  expect(rig.duties(...moved)).to.have.length(asksSegment ? led.length : 0);
  return rig;
}

function yielded(node: string): HandoverMessage {
  return { kind: "yielded", group: "g", addresses: [VIP], node };
}

function gratuitous(by: typeof NEXT_MAC): Uint8Array {
  return buildArpAnnouncement(by, VIP, "request");
}

/** A leader that has lost to n2's claim. */
function lost(): Rig {
  const rig = leadingRig();
  say(rig, claim("n2", better));
  return rig;
}

/** What passes beside filters that are told late. */
function passed(rig: Rig, durationMs: number): string[] {
  return rig.pass(durationMs).filter((line) => !line.endsWith("filter eth1 []"));
}

function question(atMs: number): string {
  return `${atMs}: lead-question to n2: 192.0.2.10`;
}

const TO_OURS = { node: "n2", sendsClaims: true };
const TO_GO = { node: "n2", sendsClaims: false };
const better = { hash: "40" };
const worse = { hash: "60" };

describe("the new leader's claim", () => {
  it("is repeated at 20, 60 and 180 ms while nobody yields", () => {
    const rig = new Rig();
    rig.links(link(1));
    rig.duties(duty(VIP, "lead", { previousLeader: "n2", second: "n3" }));
    expect(rig.pass(1_000).filter((line) => line.includes("claim"))).to.deep.equal([
      "20: claim to n2 n3: 192.0.2.10",
      "60: claim to n2 n3: 192.0.2.10",
      "180: claim to n2 n3: 192.0.2.10",
    ]);
  });
  it("ends when the previous leader yields, which is noted once; the second's word counts for nothing", () => {
    const rig = new Rig();
    rig.links(link(1));
    rig.duties(duty(VIP, "lead", { previousLeader: "n2", second: "n3" }));
    expect(say(rig, yielded("n3"))).to.deep.equal([]);
    expect(rig.pass(20)).to.deep.equal(["20: claim to n2 n3: 192.0.2.10"]);
    expect(say(rig, yielded("n2"))).to.deep.equal(["yielded-by 192.0.2.10 n2"]);
    expect(say(rig, yielded("n2"))).to.deep.equal([]);
    expect(rig.pass(500)).to.deep.equal([]);
  });
  it("goes to nobody when nobody led, and not to this node itself", () => {
    const rig = new Rig();
    rig.links(link(1));
    const lines = rig.duties(duty(VIP, "lead", { second: "n3" }), duty(VIP6, "lead", { previousLeader: "n1" }));
    expect(lines.filter((line) => line.includes("claim"))).to.deep.equal([]);
  });
  it("is one message for each group", () => {
    const rig = new Rig();
    rig.links(link(1));
    const others = { group: "h", previousLeader: "n2" };
    const lines = rig.duties(
      duty(VIP, "lead", { previousLeader: "n2" }),
      duty(ip("192.0.2.11"), "lead", others),
      duty(VIP6, "lead", { previousLeader: "n2" }),
    );
    expect(lines.filter((line) => line.includes("claim"))).to.deep.equal([
      "claim to n2: 192.0.2.10 2001:db8::10",
      "claim to n2: 192.0.2.11",
    ]);
  });
  it("ends with the leadership", () => {
    const rig = new Rig();
    rig.links(link(1));
    rig.duties(duty(VIP, "lead", { previousLeader: "n2" }));
    rig.duties();
    expect(rig.pass(5_000)).to.deep.equal(["50: filter eth1 []"]);
  });
  it("is sent again when it turns out that another member led", () => {
    const rig = new Rig();
    rig.links(link(1));
    rig.duties(duty(VIP, "lead", { previousLeader: "n2" }));
    rig.pass(6_000);
    expect(rig.duties(duty(VIP, "lead", { previousLeader: "n3" }))).to.deep.equal(["claim to n3: 192.0.2.10"]);
  });
});

describe("the old leader of a planned move", () => {
  it("goes on answering, however long it takes, and announces nothing", () => {
    const rig = movedRig(TO_OURS);
    // Whoever never knew that we lead claims nothing unasked; after seven questions the wire is silent.
    expect(rig.pass(600_000)).to.deep.equal(
      [20, 100, 300, 700, 1_500, 3_000, 5_000].map((atMs) => `${atMs}: lead-question to n2: 192.0.2.10`),
    );
    expect(rig.receive(1, REQUEST).verdict).to.equal("answered");
    expect(rig.states()).to.deep.include.members([
      {
        ip: VIP,
        role: "moved",
        phase: "handing-over",
        answeredOn: [1],
        requestsAnswered: 1,
        // Five bursts of a request and a reply.
        announcementsSent: 10,
        lastAnnouncementMs: 5_400,
      },
    ]);
  });
  it("stops on a claim, says so, and leaves the group a second later", () => {
    const rig = movedRig(TO_OURS, VIP, VIP6);
    expect(say(rig, claim("n2", worse, VIP, VIP6))).to.deep.equal([
      "stopped 192.0.2.10 claimed",
      "stopped 2001:db8::10 claimed",
      "yielded to n2: 192.0.2.10 2001:db8::10",
    ]);
    expect(rig.receive(1, REQUEST).verdict).to.equal("not-answered-here");
    expect(rig.pass(5_000)).to.deep.equal(["50: filter eth1 []", "1000: leave-group eth1 ff02::1:ff00:10"]);
  });
  it("yields again when the claim is repeated, and stays silent on the same duties", () => {
    const rig = movedRig(TO_OURS);
    say(rig, claim("n2"));
    expect(say(rig, claim("n2"))).to.deep.equal(["yielded to n2: 192.0.2.10"]);
    expect(rig.duties(duty(VIP, "moved", { nextLeader: TO_OURS }))).to.deep.equal([]);
    expect(rig.receive(1, REQUEST).verdict).to.equal("not-answered-here");
  });
  const stopped = ["0: stopped 192.0.2.10 frame-heard"];
  const toOurs = [...stopped, "0: yielded to n2: 192.0.2.10"];
  for (const { name, next, frame, lines } of [
    { name: "a gratuitous request of the new leader", next: TO_OURS, frame: gratuitous(NEXT_MAC), lines: toOurs },
    {
      name: "a gratuitous reply of the new leader",
      next: TO_OURS,
      frame: buildArpAnnouncement(NEXT_MAC, VIP, "reply"),
      lines: toOurs,
    },
    {
      name: "a frame of any MAC, if the new leader is a Go member",
      next: TO_GO,
      frame: gratuitous(STRANGER_MAC),
      lines: stopped,
    },
    {
      name: "a frame of any member, if the new leader is unknown",
      next: undefined,
      frame: gratuitous(NEXT_MAC),
      lines: stopped,
    },
  ]) {
    it(`stops on ${name}`, () => {
      const rig = movedRig(next);
      expect(rig.receive(1, frame).verdict).to.equal("holder-heard");
      expect(rig.receive(1, REQUEST).verdict).to.equal("not-answered-here");
      expect(rig.announcer.nextDeadlineMs()).to.equal(rig.nowMs);
      expect(rig.pass(0)).to.deep.equal(lines);
    });
  }
  it("stops on an advertisement of the new leader", () => {
    const rig = movedRig(TO_OURS, VIP6);
    const frame = encodeNdpFrame(mac("33:33:00:00:00:01"), NEXT_MAC, {
      kind: "advertisement",
      source: VIP6,
      destination: ip("ff02::1"),
      target: VIP6,
      isRouter: false,
      isSolicited: false,
      isOverride: true,
      options: [{ kind: "target-link-layer", mac: NEXT_MAC }],
    });
    expect(rig.receive(1, frame).verdict).to.equal("holder-heard");
    expect(rig.pass(0)).to.include("0: stopped 2001:db8::10 frame-heard");
  });
  for (const { name, next, frame } of [
    { name: "a stranger's frame", next: TO_OURS, frame: gratuitous(STRANGER_MAC) },
    { name: "another member's frame", next: { node: "n3", sendsClaims: true }, frame: gratuitous(NEXT_MAC) },
    { name: "a stranger's frame when the new leader is unknown", next: undefined, frame: gratuitous(STRANGER_MAC) },
    { name: "its own frame that came back", next: TO_GO, frame: gratuitous(mac("02:00:00:00:00:01")) },
    {
      name: "the new leader's frame for another address",
      next: TO_OURS,
      frame: buildArpAnnouncement(NEXT_MAC, ip("192.0.2.11"), "request"),
    },
  ]) {
    it(`does not stop on ${name}`, () => {
      const rig = movedRig(next);
      rig.receive(1, frame);
      expect(rig.receive(1, REQUEST).verdict).to.equal("answered");
      expect(rig.pass(10)).to.deep.equal([]);
    });
  }
  it("asks the segment for what a Go member takes over, and stops on its answer", () => {
    const rig = movedRig(TO_GO, VIP, VIP6);
    const asked = rig.done.flatMap(({ effect }) => (effect.kind === "frame" ? [readFrame(effect.bytes)] : []));
    expect(
      asked.map((frame) => frame && [frame.form, frame.destination, frame.senderIp, frame.targetIp]),
    ).to.deep.equal([
      // RFC 5227 §2.1.1: no sender address, so that nobody's cache changes; RFC 4861 §7.2.2.
      ["arp-request", "ff:ff:ff:ff:ff:ff", "0.0.0.0", VIP],
      ["solicitation", "33:33:ff:00:00:10", "fe80::1", VIP6],
    ]);
    expect(
      rig.receive(1, answerFrame({ mac: STRANGER_MAC, ip: VIP }, { mac: OWN_MAC, ip: ip("0.0.0.0") })).verdict,
    ).to.equal("holder-heard");
    rig.receive(1, answerFrame({ mac: STRANGER_MAC, ip: VIP6 }, { mac: OWN_MAC, ip: ip("fe80::1") }));
    expect(rig.states().map(({ phase }) => phase)).to.deep.equal(["stopped", "stopped"]);
    expect(rig.pass(10_000).filter((line) => line.includes("frame eth"))).to.deep.equal([]);
  });
  it("asks four times more, in the rhythm of announcements, and goes on answering when nobody answers", () => {
    const rig = movedRig(TO_GO);
    expect(rig.pass(60_000).filter((line) => line.includes("frame eth"))).to.deep.equal(
      [1_100, 2_200, 3_300, 4_400].map((atMs) => `${atMs}: frame eth1 request 0.0.0.0 ${OWN_MAC}`),
    );
    expect(rig.receive(1, REQUEST).verdict).to.equal("answered");
  });
  it("asks nobody for an IPv6 address on a link without an address of its own", () => {
    const rig = leadingRig(duty(VIP6, "lead"));
    rig.links(link(1, { addresses: [ip("192.0.2.1")] }));
    rig.duties(duty(VIP6, "moved", { nextLeader: TO_GO }));
    expect(rig.pass(10_000).filter((line) => line.includes("frame eth"))).to.deep.equal([]);
  });
  it("leads again without a gap when the move is called off, and announces it", () => {
    const rig = movedRig(TO_OURS);
    const lines = rig.duties(duty(VIP, "lead", { previousLeader: "n2" }));
    expect(lines).to.include("claim to n2: 192.0.2.10");
    expect(withoutNotes(lines).filter((line) => line.startsWith("frame")).length).to.equal(2);
  });
  it("never begins to answer for what it did not lead", () => {
    const rig = new Rig();
    rig.links(link(1));
    expect(
      rig.duties(duty(VIP, "moved", { nextLeader: TO_OURS }), duty(VIP6, "moved", { nextLeader: TO_OURS })),
    ).to.deep.equal([]);
    expect(rig.receive(1, REQUEST).verdict).to.equal("not-answered-here");
  });
});

describe("a claim for an address that is led here", () => {
  it("ends the answering when it is better, and never brings a frame", () => {
    const rig = leadingRig();
    expect(say(rig, claim("n2", better))).to.deep.equal(["stopped 192.0.2.10 claimed", "yielded to n2: 192.0.2.10"]);
    expect(rig.receive(1, REQUEST).verdict).to.equal("not-answered-here");
    expect(rig.states()[0]).to.include({ role: "lead", phase: "stopped" });
    expect(winnerOf(rig)).to.equal("n2");
  });
  it("is answered by our own claim when it is worse, and changes nothing else", () => {
    const rig = leadingRig();
    expect(say(rig, claim("n2", worse))).to.deep.equal(["claim to n2: 192.0.2.10"]);
    expect(rig.receive(1, REQUEST).verdict).to.equal("answered");
    expect(rig.pass(10_000)).to.deep.equal([]);
  });
  it("ends a series of announcements that is under way", () => {
    const rig = new Rig();
    rig.links(link(1));
    rig.duties(duty(VIP, "lead"));
    say(rig, claim("n2", better));
    expect(rig.pass(900)).to.deep.equal(["50: filter eth1 []"]);
  });
  it("is passed on by nobody else: a claim in another's name is ignored", () => {
    const rig = leadingRig();
    expect(rig.on({ kind: "messages", from: "n3", messages: [claim("n2", better)] })).to.deep.equal([]);
    expect(say(rig, claim("n1", better))).to.deep.equal([]);
  });
  it("is heard while mute, and answered by no claim then", () => {
    const rig = leadingRig();
    rig.on({ kind: "mute" });
    expect(say(rig, claim("n2", worse))).to.deep.equal([]);
    expect(say(rig, claim("n2", better))).to.include("stopped 192.0.2.10 claimed");
    expect(rig.on({ kind: "unmute" })).to.deep.equal([]);
  });
  it("for an address of somebody else gets the word that it is free here", () => {
    expect(say(leadingRig(), claim("n2", {}, ip("192.0.2.77")))).to.deep.equal(["yielded to n2: 192.0.2.77"]);
  });
});

describe("a leader that lost a contest", () => {
  it("stays silent on the same duties, and asks the winner a second after each answer, sooner where none came", () => {
    const rig = lost();
    expect(rig.duties(duty(VIP, "lead"))).to.deep.equal([]);
    expect(passed(rig, 1_500)).to.deep.equal([question(1_000), question(1_300)]);
    say(rig, claim("n2", better));
    expect(passed(rig, 1_100)).to.deep.equal([question(1_000)]);
    say(rig, claim("n2", better));
    expect(passed(rig, 1_100)).to.deep.equal([question(1_000)]);
  });
  it("leads again when the winner answers that it has yielded: claim first, then one series of announcements", () => {
    const rig = lost();
    rig.pass(1_000);
    expect(say(rig, yielded("n2")).slice(0, 4)).to.deep.equal([
      "filter eth1 [192.0.2.10]",
      "armed 192.0.2.10",
      "claim to n2: 192.0.2.10",
      "frame eth1 request 192.0.2.10 02:00:00:00:00:01",
    ]);
  });
  it("asks soon when the winner says so unasked: the word may be older than the claim", () => {
    const rig = lost();
    expect(say(rig, yielded("n2"))).to.deep.equal([]);
    expect(say(rig, yielded("n2"))).to.deep.equal([]);
    expect(passed(rig, 300)).to.deep.equal([question(100)]);
    expect(say(rig, yielded("n3"))).to.deep.equal([]);
    expect(say(rig, yielded("n2"))).to.include("armed 192.0.2.10");
  });
  it("leads again when the winner is silent to ten questions, for three seconds", () => {
    const lines = passed(lost(), 4_000);
    expect(lines.slice(0, 12)).to.deep.equal([
      ...Array.from({ length: 10 }, (_, asked) => question(1_000 + 300 * asked)),
      "4000: filter eth1 [192.0.2.10]",
      "4000: armed 192.0.2.10",
    ]);
  });
  it("leads again when its own claim has become the better one, and only then", () => {
    const rig = lost();
    expect(rig.duties(duty(VIP, "lead", { basis: { ...BASIS, incarnation: 7 } }))).to.deep.equal([]);
    expect(rig.duties(duty(VIP, "lead", { basis: { ...BASIS, score: 1 } }))).to.include("armed 192.0.2.10");
  });
  it("leads again when the winner's claim has become the worse one", () => {
    expect(say(lost(), claim("n2", worse))).to.include("armed 192.0.2.10");
  });
  it("forgets the contest with the duty", () => {
    const rig = lost();
    rig.pass(100);
    expect(rig.duties(duty(VIP, "second"))).to.deep.equal(["filter eth1 [192.0.2.10]"]);
    expect(rig.pass(10_000)).to.deep.equal([]);
    expect(rig.duties(duty(VIP, "lead"))).to.include("armed 192.0.2.10");
  });
});

describe("a leader that refused a claim", () => {
  it("tells the claimant when it leads no longer, be it planned or at once", () => {
    for (const duties of [[], [duty(VIP, "moved", { nextLeader: TO_OURS })]]) {
      const rig = leadingRig();
      say(rig, claim("n2", worse));
      expect(rig.duties(...duties)).to.include("yielded to n2: 192.0.2.10");
    }
  });
  it("does not hand over on a claim that its refusal may have overtaken, but on the claimant's frame or a later claim", () => {
    const refused = (): Rig => {
      const rig = leadingRig();
      rig.on({ kind: "members", members: MEMBERS });
      say(rig, claim("n2", worse));
      rig.duties(duty(VIP, "moved", { nextLeader: TO_OURS }));
      expect(say(rig, claim("n2", worse))).to.deep.equal(["yielded to n2: 192.0.2.10"]);
      expect(rig.receive(1, REQUEST).verdict).to.equal("answered");
      return rig;
    };
    expect(refused().receive(1, gratuitous(NEXT_MAC)).verdict).to.equal("holder-heard");
    const rig = refused();
    rig.pass(1_000);
    expect(say(rig, claim("n2", worse))).to.include("stopped 192.0.2.10 claimed");
  });
  it("answers a question by its claim, and by yielded when it does not lead", () => {
    const rig = leadingRig();
    const asked: HandoverMessage = { kind: "lead-question", group: "g", addresses: [VIP], node: "n2" };
    expect(say(rig, asked)).to.deep.equal(["claim to n2: 192.0.2.10"]);
    rig.duties(duty(VIP, "moved", { nextLeader: TO_OURS }));
    expect(say(rig, asked)).to.deep.equal(["yielded to n2: 192.0.2.10"]);
    expect(rig.receive(1, REQUEST).verdict).to.equal("answered");
  });
});
