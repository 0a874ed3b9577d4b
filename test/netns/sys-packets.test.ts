import { resolve } from "node:path";
import { expect } from "chai";
import { hexOf } from "../../src/base/bytes.ts";
import { type Ip, ipBytes } from "../../src/net/ip.ts";
import { parsePrefix } from "../../src/net/prefix.ts";
import type { PacketLinkStatistics, PacketProblem } from "../../src/sys/packet-links.ts";
import { golden, ip } from "../packet/golden.ts";
import { describeNetns, type NetnsChild } from "../support/netns.ts";
import { linkIndex } from "./link-index.ts";
import { whileBlocked } from "./while-blocked.ts";

const CHILD = resolve(import.meta.dirname, "sys-child.js");
const OURS = ip("192.0.2.50");
const OURS6 = ip("2001:db8::50");
const STRANGERS = ip("192.0.2.51");
/** Wanted by the witness alone. */
const WITNESSED = ip("192.0.2.53");

interface FrameEvent {
  readonly kind: "frame";
  readonly linkIndex: number;
  readonly family: 4 | 6;
  readonly hex: string;
  readonly vlanTag?: number;
}

function request(target: Ip): string {
  const frame = golden("arping-request").slice();
  frame.set(ipBytes(target), 38);
  return hexOf(frame);
}

function solicitation(target: Ip): string {
  const frame = golden("ndisc6-solicitation").slice();
  frame.set(ipBytes(target), 62);
  return hexOf(frame);
}

/** The same frame from another sender: the last byte of its address stands at the offset. */
function fromAnother(frame: string, offset: number): string {
  return `${frame.slice(0, 2 * offset)}fe${frame.slice(2 * offset + 2)}`;
}

/** The same frame with an 802.1Q tag, as a trunk port would send it. */
function tagged(frame: string, tag: number): string {
  return `${frame.slice(0, 24)}8100${tag.toString(16).padStart(4, "0")}${frame.slice(24)}`;
}

describeNetns("PacketLinks on a real kernel", (lab) => {
  let near = "";
  let far = "";
  let sender: NetnsChild;
  let listener: NetnsChild;
  let witness: NetnsChild;
  let nearIndex = 0;
  let farIndex = 0;

  before(async () => {
    near = lab.create("near");
    far = lab.create("far");
    sender = lab.node(near, CHILD);
    listener = lab.node(far, CHILD);
    await listener.call("follow", ["eth0"]);
    await listener.call("watch");
    await join();
    witness = lab.node(far, CHILD);
    await witness.call("setLinks", [{ index: farIndex, name: "eth0" }]);
    await witness.call("setFilter", farIndex, [WITNESSED], []);
  });

  beforeEach(() => listener.forget());

  async function join(): Promise<void> {
    lab.veth(
      { namespace: near, link: "eth0", mac: "02:00:00:00:00:01", addresses: ["192.0.2.1/24", "2001:db8::1/64"] },
      { namespace: far, link: "eth0", mac: "02:00:00:00:00:02" },
    );
    nearIndex = linkIndex(lab, near, "eth0");
    farIndex = linkIndex(lab, far, "eth0");
    await sender.call("setLinks", [{ index: nearIndex, name: "eth0" }]);
    await follows();
    await listener.call("setFilter", farIndex, [OURS, OURS6], []);
  }

  /** Waits until the listener has seen the link and opened its sockets on it. */
  async function follows(): Promise<void> {
    await listener.event<{ kind: string; links: readonly { index: number; hasCarrier: boolean }[] }>(
      ({ kind, links }) => kind === "links" && links.some((link) => link.index === farIndex && link.hasCarrier),
    );
  }

  /** Sends frames and then one that passes for certain, to the same socket; returns what the listener saw before that one. */
  async function seenOf(frames: readonly string[], family: 4 | 6 = 4): Promise<FrameEvent[]> {
    const last = family === 4 ? fromAnother(request(OURS), 31) : fromAnother(solicitation(OURS6), 37);
    await sender.call("send", nearIndex, family, [...frames, last]);
    const seen: FrameEvent[] = [];
    for (;;) {
      const event = await listener.event<FrameEvent>(({ kind }) => kind === "frame");
      if (event.hex.startsWith(last)) return seen;
      seen.push(event);
    }
  }

  /** Sends so many requests for an address, when it is called, and waits until they have come to every socket of the far link. */
  function requests(count: number): () => Promise<unknown> {
    return async () => {
      await sender.call("send", nearIndex, 4, [request(OURS)], count);
      await sender.call("send", nearIndex, 4, [request(WITNESSED)]);
      return witness.event<FrameEvent>(({ kind }) => kind === "frame");
    };
  }

  /** A link that came up a moment ago still loses frames, so they are repeated until one is heard. */
  async function hearsAgain(child: NetnsChild): Promise<void> {
    for (let attempt = 0; attempt < 100; attempt++) {
      await sender.call("send", nearIndex, 4, [request(OURS)]);
      const heard = child.event<FrameEvent>(({ kind }) => kind === "frame", 100);
      if (await heard.then(Boolean, () => false)) return;
    }
    expect.fail("not heard within ten seconds");
  }

  async function statistics(family: 4 | 6 = 4): Promise<PacketLinkStatistics> {
    const all = (await listener.call("statistics")) as readonly PacketLinkStatistics[];
    return all.find((each) => each.linkIndex === farIndex && each.family === family) ?? expect.fail("no statistics");
  }

  async function statisticsOfSender(): Promise<PacketLinkStatistics> {
    const all = (await sender.call("statistics")) as readonly PacketLinkStatistics[];
    return all.find((each) => each.linkIndex === nearIndex && each.family === 4) ?? expect.fail("no statistics");
  }

  it("hears a real arping for an address, and none for another", async () => {
    lab.exec(near, "bash", "-c", `arping -q -c 1 -w 1 -I eth0 ${STRANGERS}; arping -q -c 1 -w 1 -I eth0 ${OURS}; true`);
    const frame = await listener.event<FrameEvent>(({ kind }) => kind === "frame");
    expect(frame).to.deep.include({ linkIndex: farIndex, family: 4 });
    expect(frame.hex.slice(76, 84)).to.equal(hexOf(ipBytes(OURS)));
    expect(frame).not.to.have.property("vlanTag");
  });

  it("hears a real ndisc6 for an address, and none for another", async () => {
    lab.exec(near, "bash", "-c", "for n in 51 50; do ndisc6 -q -1 -r 1 -w 200 2001:db8::$n eth0; done; true");
    const frame = await listener.event<FrameEvent>(({ kind }) => kind === "frame");
    expect(frame).to.deep.include({ linkIndex: farIndex, family: 6 });
    expect(frame.hex.slice(124, 156)).to.equal(hexOf(ipBytes(OURS6)));
  });

  it("passes exactly what the filter says, as the interpreter of the unit tests does", async () => {
    const seen = await seenOf([request(STRANGERS), request(OURS), request(STRANGERS)]);
    expect(seen.map((frame) => frame.hex)).to.deep.equal([request(OURS)]);
    await sender.call("send", nearIndex, 6, [solicitation(ip("2001:db8::51")), solicitation(OURS6)]);
    const frame = await listener.event<FrameEvent>(({ kind }) => kind === "frame");
    expect(frame.hex).to.equal(solicitation(OURS6));
  });

  it("never sees a frame of a foreign VLAN, but one with a priority tag", async () => {
    expect(await seenOf([tagged(request(OURS), 5), tagged(request(OURS), 0x6005)])).to.deep.equal([]);
    expect((await seenOf([tagged(request(OURS), 0x6000)])).map((frame) => frame.hex)).to.deep.equal([request(OURS)]);
    const sent = [tagged(solicitation(OURS6), 5), tagged(solicitation(OURS6), 0x6000)];
    expect((await seenOf(sent, 6)).map((frame) => frame.hex)).to.deep.equal([solicitation(OURS6)]);
  });

  it("never sees a frame for another host's MAC, not even when the link listens to all of them", async () => {
    lab.ip(far, "link set eth0 promisc on");
    const foreign = request(OURS).replace("ffffffffffff", "020000000003");
    const unicast = request(OURS).replace("ffffffffffff", "020000000002");
    expect((await seenOf([foreign, unicast])).map((frame) => frame.hex)).to.deep.equal([unicast]);
    lab.ip(far, "link set eth0 promisc off");
  });

  it("never sees what leaves on its own link", async () => {
    await listener.call("send", farIndex, 4, [request(OURS)]);
    expect(await seenOf([])).to.deep.equal([]);
    expect((await statistics()).sent).to.be.at.least(1);
  });

  it("hears nothing while no address is wanted", async () => {
    await listener.call("setFilter", farIndex, [], []);
    await sender.call("send", nearIndex, 4, [request(OURS), request(STRANGERS)]);
    const before = (await statistics()).received;
    await listener.call("setFilter", farIndex, [OURS, OURS6], []);
    expect(await seenOf([])).to.deep.equal([]);
    expect((await statistics()).received).to.equal(before + 1);
  });

  it("hears 200 frames in order, in batches", async () => {
    const before = await statistics();
    const frames = Array.from({ length: 200 }, (_, index) =>
      request(OURS).replace("0000000001c0000201", `0000000001c000${index.toString(16).padStart(4, "0")}`),
    );
    // However slow the sender is, they wait for the listener and not it for them.
    await whileBlocked(listener, async () => {
      await sender.call("send", nearIndex, 4, frames);
      await requests(1)();
    });
    const seen = [];
    while (seen.length < 201) seen.push(await listener.event<FrameEvent>(({ kind }) => kind === "frame"));
    expect(seen.map((frame) => frame.hex)).to.deep.equal([...frames, request(OURS)]);
    const after = await statistics();
    expect(after.received - before.received).to.equal(201);
    expect(after.batches - before.batches).to.be.lessThan(20);
  });

  it("sends an answer with the batch that asked for it", async () => {
    await sender.call("setFilter", nearIndex, [OURS], []);
    await listener.call("echo", hexOf(golden("kernel-reply")).replaceAll("c0000202", hexOf(ipBytes(OURS))));
    await sender.call("send", nearIndex, 4, [request(OURS)], 3);
    for (let count = 0; count < 3; count++) await sender.event<FrameEvent>(({ kind }) => kind === "frame");
    await listener.call("echo");
    await sender.call("setFilter", nearIndex, [], []);
  });

  it("keeps back what would leave too late, and counts it", async () => {
    const before = (await statisticsOfSender()).expired;
    await sender.call("send", nearIndex, 4, [request(OURS)], 3, -1);
    await sender.call("send", nearIndex, 4, [request(OURS)], 2, 10_000);
    expect(await seenOf([])).to.have.length(2);
    expect((await statisticsOfSender()).expired - before).to.equal(3);
    await sender.call("leaveWithin", -1);
    await sender.call("send", nearIndex, 4, [request(OURS)], 65, 10_000);
    await sender.call("leaveWithin");
    expect(await seenOf([]), "64 leave early, because they fill a batch").to.have.length(1);
  });

  it("keeps back the answers to a batch when they would leave too late", async () => {
    await listener.call("echo", request(STRANGERS));
    await listener.call("leaveWithin", -1);
    const before = await statistics();
    expect(await seenOf([request(OURS)])).to.have.length(1);
    await listener.call("leaveWithin");
    await listener.call("echo");
    const after = await statistics();
    expect([after.sent - before.sent, after.expired - before.expired]).to.deep.equal([0, 2]);
  });

  it("discards what was queued while the loop stood still", async () => {
    expect(await whileBlocked(listener, requests(3), "discardAll")).to.equal(3);
    expect(await seenOf([])).to.deep.equal([]);
  });

  it("discards, from inside the first frame heard, everything behind it", async () => {
    await listener.call("discardAtFrame", true);
    await whileBlocked(listener, requests(200));
    await listener.event<FrameEvent>(({ kind }) => kind === "frame");
    await listener.call("discardAtFrame", false);
    expect(await seenOf([])).to.deep.equal([]);
  });

  it("delivers what was queued before anything else when it is asked to drain", async () => {
    expect(await whileBlocked(listener, requests(2), "drainAll")).to.equal(2);
    for (let count = 0; count < 2; count++) await listener.event<FrameEvent>(({ kind }) => kind === "frame", 0);
  });

  it("counts what the kernel lost because the queue was full, and no frame more or less", async () => {
    const before = await statistics();
    const discarded = Number(await whileBlocked(listener, requests(10_000), "discardAll"));
    const { dropped } = await statistics();
    expect(dropped).to.be.greaterThan(before.dropped);
    expect(discarded + dropped - before.dropped).to.equal(10_000);
  });

  it("does not wake JavaScript for 50,000 strangers' requests, and hears its own between them", async () => {
    const before = await statistics();
    const blast = sender.call("blast", nearIndex, request(STRANGERS), "192.0.2.128", 100, 50_000, 50_000);
    const own = lab.node(near, CHILD);
    await own.call("setLinks", [{ index: nearIndex, name: "eth0" }]);
    for (let count = 0; count < 20; count++) await own.call("send", nearIndex, 4, [request(OURS)]);
    await blast;
    expect(await seenOf([])).to.have.length(20);
    const after = await statistics();
    expect(after.received - before.received).to.equal(21);
    expect(after.batches - before.batches).to.be.at.most(21);
    expect(after.dropped).to.equal(before.dropped);
  });

  it("follows 6,000 addresses by their pool where they do not fit exactly", async () => {
    const addresses = Array.from({ length: 6_000 }, (_, n) => ip(`10.${n >> 8}.${n & 255}.${(n * 37) & 254}`));
    await listener.call("setFilter", farIndex, [...addresses, OURS], [parsePrefix("10.0.0.0/8")]);
    expect((await statistics()).precision).to.equal("prefixes");
    const seen = await seenOf([request(ip("10.7.7.7")), request(STRANGERS), request(ip("11.0.0.1"))]);
    expect(seen.map((frame) => frame.hex)).to.deep.equal([request(ip("10.7.7.7"))]);
    await listener.call("setFilter", farIndex, [OURS, OURS6], []);
  });

  it("takes a coarser filter where the kernel has no memory for the exact one", async function () {
    // Kernels before 6.8 have one limit for the whole machine, which no test may change; it is not shown in a namespace.
    const limit = "/proc/sys/net/core/optmem_max";
    if (!lab.exec(far, "bash", "-c", `[ -e ${limit} ] && echo yes || true`).includes("yes")) this.skip();
    lab.exec(far, "bash", "-c", `echo 8192 > ${limit}`);
    const addresses = Array.from({ length: 1_200 }, (_, n) => ip(`10.${n >> 8}.${n & 255}.${(n * 37) & 254}`));
    await listener.call("setFilter", farIndex, [...addresses, OURS], [parsePrefix("10.0.0.0/8")]);
    expect((await statistics()).precision).to.equal("prefixes");
    expect(await listener.call("problems")).to.deep.equal([]);
    expect(await seenOf([request(STRANGERS)])).to.deep.equal([]);
    await listener.call("setFilter", farIndex, [OURS, OURS6], []);
  });

  it("goes on with the other links when one does not open", async () => {
    await listener.call("follow", ["eth0", "gone"]);
    await listener.call("setLinks", [
      { index: 999, name: "gone" },
      { index: farIndex, name: "eth0" },
    ]);
    const problems = (await listener.call("problems")) as readonly PacketProblem[];
    expect(problems).to.deep.equal([
      { linkIndex: 999, linkName: "gone", family: 4, code: "ENODEV", isOpen: false },
      { linkIndex: 999, linkName: "gone", family: 6, code: "ENODEV", isOpen: false },
    ]);
    expect(await seenOf([request(OURS)])).to.have.length(1);
    await listener.call("setLinks", [{ index: farIndex, name: "eth0" }]);
    expect(await listener.call("problems")).to.deep.equal([]);
  });

  it("hears again after its link was down and up", async () => {
    lab.ip(far, "link set eth0 down");
    const { problems } = await listener.event<{ kind: string; problems: readonly PacketProblem[] }>(
      ({ kind, problems: list }) => kind === "problems" && list.length === 2,
    );
    expect(problems.map(({ code, isOpen }) => ({ code, isOpen }))).to.deep.equal([
      { code: "ENETDOWN", isOpen: true },
      { code: "ENETDOWN", isOpen: true },
    ]);
    lab.ip(far, "link set eth0 up");
    await listener.event<{ kind: string; problems: readonly PacketProblem[] }>(
      ({ kind, problems: list }) => kind === "problems" && list.length === 0,
    );
    await hearsAgain(listener);
  });

  it("hears again after its link was removed and put back, under a new index", async () => {
    const before = farIndex;
    lab.ip(far, "link delete eth0");
    await join();
    expect(farIndex).not.to.equal(before);
    await hearsAgain(listener);
  });

  it("hears again after its link was removed and put back under its old index, and nobody told it", async () => {
    await listener.call("follow", []);
    const unaware = lab.node(far, CHILD);
    await unaware.call("setLinks", [{ index: farIndex, name: "eth0" }]);
    await unaware.call("setFilter", farIndex, [OURS], []);
    lab.feed(
      far,
      `link delete eth0\nlink add eth0 index ${farIndex} type veth peer name eth0 netns ${near}\nlink set eth0 up`,
      "ip",
      "-batch",
      "-",
    );
    lab.ip(near, "link set eth0 up");
    nearIndex = linkIndex(lab, near, "eth0");
    await sender.call("setLinks", [{ index: nearIndex, name: "eth0" }]);
    await hearsAgain(unaware);
  });
});
