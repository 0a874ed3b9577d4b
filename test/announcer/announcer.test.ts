import { expect } from "chai";
import { parsePrefix } from "../../src/net/prefix.ts";
import { buildArpRequest } from "../../src/packet/arp.ts";
import { duty, ip, leadingRig, link, mac, OWN_MAC, Rig, VIP, VIP6, withoutNotes } from "./rig.ts";

const CLIENT = { mac: mac("02:00:00:00:00:99"), ip: ip("192.0.2.99") };
const REQUEST = buildArpRequest(CLIENT, VIP);
const GROUP = "ff02::1:ff00:10";
const gratuitous = (index = 1): string[] => [
  `frame eth${index} request 192.0.2.10 02:00:00:00:00:0${index}`,
  `frame eth${index} reply 192.0.2.10 02:00:00:00:00:0${index}`,
];

describe("Announcer, winning and losing an address", () => {
  it("joins, arms, claims and announces in this order", () => {
    const rig = new Rig();
    expect(rig.links(link(1))).to.deep.equal([]);
    const lead = { previousLeader: "n2", second: "n3" };
    expect(rig.duties(duty(VIP, "lead", lead), duty(VIP6, "lead", lead))).to.deep.equal([
      `join-group eth1 ${GROUP}`,
      "filter eth1 [192.0.2.10 2001:db8::10]",
      "armed 192.0.2.10",
      "armed 2001:db8::10",
      "claim to n2 n3: 192.0.2.10 2001:db8::10",
      "frame eth1 request 192.0.2.10 02:00:00:00:00:01",
      "first-frame 192.0.2.10 1",
      "frame eth1 advertisement 2001:db8::10",
      "first-frame 2001:db8::10 1",
      "announced 2001:db8::10 1",
      "frame eth1 reply 192.0.2.10 02:00:00:00:00:01",
      "announced 192.0.2.10 1",
    ]);
  });
  it("announces five times, 1.1 s apart, then is silent for ever", () => {
    const rig = new Rig();
    rig.links(link(1));
    rig.duties(duty(VIP, "lead"));
    const later = withoutNotes(rig.pass(60_000));
    expect(later).to.deep.equal(
      [1_100, 2_200, 3_300, 4_400].flatMap((atMs) => gratuitous().map((line) => `${atMs}: ${line}`)),
    );
    expect(rig.announcer.nextDeadlineMs()).to.equal(undefined);
    expect(rig.announcer.counters().announcedFrames).to.equal(10);
  });
  it("stops at once when the duty is gone, and leaves the group a second later", () => {
    const rig = leadingRig(duty(VIP, "lead"), duty(VIP6, "lead"));
    expect(rig.duties()).to.deep.equal(["stopped 192.0.2.10 withdrawn", "stopped 2001:db8::10 withdrawn"]);
    expect(rig.receive(1, REQUEST)).to.deep.equal({ verdict: "not-answered-here" });
    expect(rig.pass(10_000)).to.deep.equal(["50: filter eth1 []", `1000: leave-group eth1 ${GROUP}`]);
  });
  it("sends nothing of a series after the address is lost", () => {
    const rig = new Rig();
    rig.links(link(1));
    rig.duties(duty(VIP, "lead"));
    rig.duties(duty(VIP, "moved", { nextLeader: { node: "n2", sendsClaims: true } }));
    expect(rig.pass(10_000).filter((line) => line.includes("frame eth"))).to.deep.equal([]);
  });
  it("keeps a group that another address needs, and one that is wanted again within the second", () => {
    const twin = ip("2001:db8:0:0:1::10");
    const rig = leadingRig(duty(VIP6, "lead"), duty(twin, "lead"));
    rig.duties(duty(twin, "lead"));
    expect(rig.pass(2_000)).to.deep.equal([`50: filter eth1 [${twin}]`]);
    rig.duties();
    rig.pass(500);
    expect(rig.duties(duty(VIP6, "lead")).filter((line) => line.includes("group"))).to.deep.equal([]);
    expect(rig.pass(10_000).filter((line) => line.includes("group"))).to.deep.equal([]);
  });
  it("watches as second: its packets wake us, no group, no frame, no answer", () => {
    const rig = new Rig();
    rig.links(link(1));
    expect(rig.duties(duty(VIP, "second"), duty(VIP6, "second"))).to.deep.equal([
      "filter eth1 [192.0.2.10 2001:db8::10]",
    ]);
    expect(rig.receive(1, REQUEST).verdict).to.equal("not-answered-here");
    expect(rig.pass(10_000)).to.deep.equal([]);
  });
  it("announces anew when the duty is regained", () => {
    const rig = leadingRig();
    rig.duties();
    rig.pass(100);
    expect(withoutNotes(rig.duties(duty(VIP, "lead")))).to.deep.equal(["filter eth1 [192.0.2.10]", ...gratuitous()]);
  });
});

describe("Announcer, when nothing changes", () => {
  it("does nothing on the same duties, links and members in any order", () => {
    const rig = new Rig();
    const links = [link(1), link(2)];
    const duties = [duty(VIP, "lead", { previousLeader: "n2" }), duty(VIP6, "lead"), duty(ip("192.0.2.11"), "second")];
    rig.links(...links);
    rig.duties(...duties);
    rig.pass(6_000);
    expect(rig.links(...links.toReversed())).to.deep.equal([]);
    expect(rig.duties(...duties.toReversed())).to.deep.equal([]);
    expect(rig.duties(...duties, ...duties)).to.deep.equal([]);
    expect(rig.on({ kind: "members", members: [] })).to.deep.equal([]);
    expect(rig.on({ kind: "tick" })).to.deep.equal([]);
    expect(rig.pass(60_000)).to.deep.equal([]);
  });
  it("does nothing on the wire when only the basis of a led address changes", () => {
    const rig = leadingRig();
    expect(rig.duties(duty(VIP, "lead", { basis: { ...duty(VIP, "lead").basis, score: 7 } }))).to.deep.equal([]);
  });
});

describe("Announcer and its links", () => {
  it("announces again when a link comes back, on that link", () => {
    const both = duty(ip("198.51.100.1"), "lead");
    const rig = leadingRig();
    rig.duties(both);
    rig.links(link(1), link(2));
    rig.pass(6_000);
    expect(rig.links(link(1), link(2, { isUsable: false }))).to.deep.equal([]);
    expect(rig.pass(3_000)).to.deep.equal(["50: filter eth2 []"]);
    expect(withoutNotes(rig.links(link(1), link(2)))).to.deep.equal([
      "filter eth2 [198.51.100.1]",
      "frame eth2 request 198.51.100.1 02:00:00:00:00:02",
      "frame eth2 reply 198.51.100.1 02:00:00:00:00:02",
    ]);
  });
  it("answers and announces by the new MAC at once", () => {
    const rig = leadingRig();
    const renewed = link(1, { mac: mac("02:00:00:00:00:07") });
    expect(withoutNotes(rig.links(renewed))).to.deep.equal([
      "frame eth1 request 192.0.2.10 02:00:00:00:00:07",
      "frame eth1 reply 192.0.2.10 02:00:00:00:00:07",
    ]);
    expect(rig.receive(1, REQUEST).answer?.subarray(6, 12)).to.deep.equal(Uint8Array.from([2, 0, 0, 0, 0, 7]));
  });
  it("takes a link that was created anew for a new link", () => {
    const rig = leadingRig(duty(VIP, "lead"), duty(VIP6, "lead"));
    const lines = rig.links(link(1, { index: 8 }));
    expect(lines.filter((line) => !line.includes("frame"))).to.deep.equal([
      `join-group eth8 ${GROUP}`,
      "filter eth8 [192.0.2.10 2001:db8::10]",
      `leave-group eth1 ${GROUP}`,
      "announced 2001:db8::10 8",
      "announced 192.0.2.10 8",
    ]);
    expect(rig.receive(1, REQUEST).verdict).to.equal("unusable-link");
    expect(rig.receive(8, REQUEST).verdict).to.equal("answered");
  });
  it("does nothing when a link is renamed or gets another prefix that changes no plan", () => {
    const rig = leadingRig();
    const prefixes = [...link(1).prefixes, parsePrefix("203.0.113.0/24") ?? expect.fail()];
    expect(rig.links(link(1, { name: "wan0", prefixes }))).to.deep.equal([]);
  });
  it("stops on a link without carrier at once, and claims nothing while no link is left", () => {
    const rig = leadingRig();
    expect(rig.links(link(1, { isUsable: false }))).to.deep.equal([]);
    expect(rig.receive(1, REQUEST).verdict).to.equal("unusable-link");
    expect(rig.duties(duty(VIP, "lead", { previousLeader: "n2" }))).to.deep.equal([]);
    expect(rig.links(link(1))).to.include("claim to n2: 192.0.2.10");
  });
  it("says that two links share a segment, once, and answers on the lower only", () => {
    const rig = new Rig();
    const twin = link(2, { prefixes: link(1).prefixes });
    expect(rig.links(link(1), twin)).to.deep.equal(["links-share-segment 1 2"]);
    expect(rig.duties(duty(VIP, "lead"))).to.include("filter eth1 [192.0.2.10]");
    expect(rig.receive(2, REQUEST).verdict).to.equal("not-answered-here");
    expect(rig.links(twin, link(1))).to.deep.equal([]);
    expect(rig.announcer.sharedSegments).to.deep.equal([{ linkIndex: 1, silentLinkIndex: 2 }]);
    rig.links(link(1));
    expect(rig.announcer.sharedSegments).to.deep.equal([]);
  });
  it("learns it from a frame that one link hears of the other, until either goes down", () => {
    const rig = new Rig();
    const anywhere = ip("203.0.113.9");
    rig.links(link(1), link(2));
    rig.duties(duty(anywhere, "lead"));
    const fromFirst = buildArpRequest({ mac: OWN_MAC, ip: anywhere }, anywhere);
    expect(rig.receive(2, fromFirst).verdict).to.equal("own-frame");
    expect(rig.announcer.nextDeadlineMs()).to.equal(rig.nowMs);
    expect(rig.pass(0)).to.deep.equal(["0: links-share-segment 1 2"]);
    expect(rig.receive(2, fromFirst).verdict).to.equal("own-frame");
    expect(rig.pass(10_000).filter((line) => line.includes("eth2"))).to.deep.equal(["50: filter eth2 []"]);
    rig.links(link(1, { isUsable: false }), link(2));
    rig.pass(100);
    expect(rig.links(link(1), link(2)).filter((line) => line.startsWith("filter"))).to.deep.equal([
      "filter eth1 [203.0.113.9]",
    ]);
    expect(rig.states()[0]?.answeredOn).to.deep.equal([1, 2]);
  });
});

describe("Announcer while mute", () => {
  it("answers nothing and sends nothing; what waited goes on after it", () => {
    const rig = new Rig();
    rig.links(link(1));
    rig.on({ kind: "mute" });
    expect(rig.duties(duty(VIP, "lead", { previousLeader: "n2" }))).to.deep.equal([
      "filter eth1 [192.0.2.10]",
      "armed 192.0.2.10",
    ]);
    expect(rig.receive(1, REQUEST)).to.deep.equal({ verdict: "muted" });
    expect(rig.pass(2_000)).to.deep.equal([]);
    expect(withoutNotes(rig.on({ kind: "unmute" }))).to.deep.equal(["claim to n2: 192.0.2.10", ...gratuitous()]);
    expect(rig.receive(1, REQUEST).verdict).to.equal("answered");
    expect(withoutNotes(rig.pass(10_000)).map((line) => Number.parseInt(line, 10))).to.deep.equal([
      20, 60, 180, 1_100, 1_100, 2_200, 2_200, 3_300, 3_300, 4_400, 4_400,
    ]);
  });
  it("does not make up for bursts that a mute has held back", () => {
    const rig = new Rig();
    rig.links(link(1));
    rig.duties(duty(VIP, "lead"));
    rig.on({ kind: "mute" });
    rig.pass(3_000);
    expect(withoutNotes(rig.on({ kind: "unmute" }))).to.deep.equal(gratuitous());
    expect(withoutNotes(rig.pass(10_000)).map((line) => Number.parseInt(line, 10))).to.deep.equal([
      1_100, 1_100, 2_200, 2_200, 3_300, 3_300,
    ]);
  });
  it("forgets announcements for an address that was lost meanwhile", () => {
    const rig = new Rig();
    rig.links(link(1));
    rig.on({ kind: "mute" });
    rig.duties(duty(VIP, "lead"));
    rig.duties();
    expect(rig.on({ kind: "unmute" })).to.deep.equal([]);
  });
});

describe("Announcer meeting a rival", () => {
  it("claims and announces once what it leads, and once only", () => {
    const rig = leadingRig(duty(VIP, "lead"), duty(VIP6, "lead"), duty(ip("192.0.2.11"), "second"));
    expect(withoutNotes(rig.on({ kind: "rival", node: "n2" }))).to.deep.equal([
      "claim to n2: 192.0.2.10 2001:db8::10",
      "frame eth1 request 192.0.2.10 02:00:00:00:00:01",
      "frame eth1 advertisement 2001:db8::10",
      "frame eth1 reply 192.0.2.10 02:00:00:00:00:01",
    ]);
    expect(rig.pass(10_000)).to.deep.equal([]);
  });
  it("adds no burst to a series that is under way, and keeps 1.1 s after its last", () => {
    const rig = new Rig();
    rig.links(link(1));
    rig.duties(duty(VIP, "lead"));
    rig.pass(1_500);
    expect(rig.on({ kind: "rival", node: "n2" })).to.deep.equal(["claim to n2: 192.0.2.10"]);
    expect(withoutNotes(rig.pass(2_900)).length).to.equal(6);
    rig.pass(100);
    expect(rig.on({ kind: "rival", node: "n2" })).to.deep.equal(["claim to n2: 192.0.2.10"]);
    expect(withoutNotes(rig.pass(10_000))).to.deep.equal(gratuitous().map((line) => `1000: ${line}`));
  });
  it("waits for the end of a mute", () => {
    const rig = leadingRig();
    rig.on({ kind: "mute" });
    expect(rig.on({ kind: "rival", node: "n2" })).to.deep.equal([]);
    expect(withoutNotes(rig.on({ kind: "unmute" }))).to.deep.equal(["claim to n2: 192.0.2.10", ...gratuitous()]);
  });
});

describe("Announcer, thousands of addresses", () => {
  it("announces the first frame of each before the second of any, at no more than 100 and 500/s", () => {
    const rig = new Rig();
    rig.links(link(1, { prefixes: [parsePrefix("10.0.0.0/8") ?? expect.fail()] }));
    const addresses = Array.from({ length: 3_000 }, (_, index) => ip(`10.0.${index >> 8}.${index & 255}`));
    rig.duties(...addresses.map((address) => duty(address, "lead")));
    rig.pass(6_000);
    const frames = rig.done.filter(({ effect }) => effect.kind === "frame");
    expect(frames.length).to.equal(100 + 6_000 / 2);
    const seen = frames
      .slice(0, 3_000)
      .map(({ effect }) => (effect.kind === "frame" ? effect.bytes.slice(28, 32).join(".") : ""));
    expect(new Set(seen).size).to.equal(3_000);
  });
});
