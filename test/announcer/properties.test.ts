/** What holds whatever happens: random histories of one announcer (SIMULATION invariants 19 to 22 in small). */
import { expect } from "chai";
import fc from "fast-check";
import type { AnnounceLink, AnnouncerEvent, Duty } from "../../src/announcer/ports.ts";
import { BURST_INTERVAL_MS, FRAMES_AT_ONCE, FRAMES_PER_SECOND } from "../../src/announcer/schedule.ts";
import { familyOf, type Ip } from "../../src/net/ip.ts";
import { buildArpAnnouncement, buildArpRequest, decodeArp } from "../../src/packet/arp.ts";
import { decodeNdp } from "../../src/packet/ndp.ts";
import { solicitedNodeGroupOf } from "../../src/packet/solicited-node.ts";
import { readFrame } from "../simulation/frames.ts";
import { type AllDuties, BASIS, duty, ip, lineOf, link, mac, Rig } from "./rig.ts";

const ADDRESSES = ["192.0.2.10", "192.0.2.11", "2001:db8::10", "2001:db8:0:0:1::10", "203.0.113.1"].map(ip);
const MEMBER_MAC = mac("02:00:00:00:00:b1");

type Step =
  | { readonly kind: "event"; readonly event: AnnouncerEvent | AllDuties }
  | { readonly kind: "pass"; readonly durationMs: number }
  | { readonly kind: "frame"; readonly linkIndex: number; readonly frame: Uint8Array; readonly isRequest: boolean };

const anyDuty: fc.Arbitrary<Duty> = fc
  .record({
    address: fc.constantFrom(...ADDRESSES),
    role: fc.constantFrom("lead" as const, "lead" as const, "second" as const, "moved" as const),
    hash: fc.constantFrom("40", "50", "60"),
    previousLeader: fc.constantFrom(undefined, "n2"),
    sendsClaims: fc.boolean(),
  })
  .map(({ address, role, hash, previousLeader, sendsClaims }) =>
    duty(address, role, {
      basis: { ...BASIS, hash },
      ...(role === "lead" && previousLeader !== undefined ? { previousLeader } : {}),
      ...(role === "moved" ? { nextLeader: { node: "n2", sendsClaims } } : {}),
    }),
  );
const someDuties = fc.uniqueArray(anyDuty, { maxLength: 5, selector: (one) => one.ip });
const someLinks: fc.Arbitrary<AnnounceLink[]> = fc
  .tuple(fc.subarray([1, 2, 3]), fc.boolean(), fc.constantFrom("02:00:00:00:00:01", "02:00:00:00:00:0a"))
  .map(([indexes, isUsable, firstMac]) =>
    indexes.map((index) => link(index, index === 1 ? { isUsable, mac: mac(firstMac) } : {})),
  );
const someMessage = fc
  .record({
    kind: fc.constantFrom("claim" as const, "yielded" as const, "lead-question" as const),
    addresses: fc.subarray(ADDRESSES, { minLength: 1 }),
    hash: fc.constantFrom("30", "55"),
  })
  .map(({ kind, addresses, hash }): AnnouncerEvent => {
    const message = { group: "g", addresses, node: "n2" };
    if (kind === "claim")
      return { kind: "messages", from: "n2", messages: [{ kind, ...message, basis: { ...BASIS, hash } }] };
    return { kind: "messages", from: "n2", messages: [{ kind, ...message }] };
  });
const event = (arbitrary: fc.Arbitrary<AnnouncerEvent | AllDuties>): fc.Arbitrary<Step> =>
  arbitrary.map((one) => ({ kind: "event", event: one }));
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  event(someDuties.map((duties) => ({ kind: "all-duties", duties }))),
  event(someLinks.map((links) => ({ kind: "links", links }))),
  event(someMessage),
  event(
    fc.constantFrom<AnnouncerEvent>(
      { kind: "mute" },
      { kind: "unmute" },
      { kind: "unmute" },
      { kind: "rival", node: "n2" },
    ),
  ),
  fc.integer({ min: 0, max: 3_000 }).map((durationMs): Step => ({ kind: "pass", durationMs })),
  fc
    .record({ address: fc.constantFrom(...ADDRESSES), linkIndex: fc.constantFrom(1, 2, 3), isRequest: fc.boolean() })
    .map(({ address, linkIndex, isRequest }): Step => {
      const ipv4 = familyOf(address) === 4 ? address : (ADDRESSES[0] ?? address);
      const client = { mac: mac("02:00:00:00:00:99"), ip: ip("192.0.2.99") };
      const frame = isRequest ? buildArpRequest(client, ipv4) : buildArpAnnouncement(MEMBER_MAC, ipv4, "request");
      return { kind: "frame", linkIndex, frame, isRequest };
    }),
);

/** A question to the segment, from whoever hands over to one that claims nothing. */
function isQuestion(frame: Uint8Array): boolean {
  const read = readFrame(frame);
  return read?.form === "solicitation" || read?.senderIp === "0.0.0.0";
}

function addressOf(frame: Uint8Array): Ip {
  const arp = decodeArp(frame.subarray(14));
  if (frame[12] === 0x08 && arp.ok) return isQuestion(frame) ? arp.value.targetIp : arp.value.senderIp;
  const ndp = decodeNdp(frame.subarray(14));
  return ndp.ok ? ndp.value.target : expect.fail(ndp.reason);
}

/** What the wire was told, checked line by line as it happens. */
class Witness {
  readonly #joined = new Set<string>();
  readonly #filters = new Map<number, ReadonlySet<Ip>>();
  readonly #armed = new Set<Ip>();
  readonly #burstAtMs = new Map<string, number>();
  readonly #frameTimes = new Map<number, number[]>();
  #duties: readonly Duty[] = [];
  #links: readonly AnnounceLink[] = [];
  #isMuted = false;
  #read = 0;

  take(step: AnnouncerEvent | AllDuties): void {
    if (step.kind === "all-duties") this.#duties = step.duties;
    if (step.kind === "links") {
      this.#links = step.links;
      // A link that comes, returns or has another MAC starts over.
      this.#burstAtMs.clear();
    }
    if (step.kind === "mute") this.#isMuted = true;
    if (step.kind === "unmute") this.#isMuted = false;
  }

  roleOf(address: Ip): Duty["role"] | undefined {
    return this.#duties.find((one) => one.ip === address)?.role;
  }

  get isMuted(): boolean {
    return this.#isMuted;
  }

  isUsable(linkIndex: number): boolean {
    return this.#links.some(({ index, isUsable }) => index === linkIndex && isUsable);
  }

  check(rig: Rig): void {
    for (; this.#read < rig.done.length; this.#read++) this.#checkOne(rig.done[this.#read] ?? expect.fail());
  }

  #checkOne({ atMs, effect }: Rig["done"][number]): void {
    const line = `${atMs}: ${lineOf(effect)}`;
    if (effect.kind === "join-group" || effect.kind === "leave-group") {
      const key = `${effect.linkIndex} ${effect.group}`;
      expect(this.#joined.has(key), line).to.equal(effect.kind === "leave-group");
      if (effect.kind === "join-group") this.#joined.add(key);
      else this.#joined.delete(key);
    }
    if (effect.kind === "filter") this.#filters.set(effect.linkIndex, new Set(effect.addresses));
    if (effect.kind === "noted" && effect.note.kind === "armed") {
      this.#armed.add(effect.note.ip);
      for (const { index } of this.#links) this.#burstAtMs.delete(`${index} ${effect.note.ip}`);
    }
    if (effect.kind === "noted" && effect.note.kind === "stopped") this.#armed.delete(effect.note.ip);
    if (effect.kind === "message" && effect.message.kind === "claim") {
      for (const address of effect.message.addresses) expect(this.#armed.has(address), line).to.equal(true);
    }
    if (effect.kind === "frame") this.#checkFrame(atMs, effect.linkIndex, effect.bytes, line);
  }

  #checkFrame(atMs: number, linkIndex: number, frame: Uint8Array, line: string): void {
    const address = addressOf(frame);
    expect(this.#isMuted, line).to.equal(false);
    const role = isQuestion(frame) ? "moved" : "lead";
    expect(this.roleOf(address), line).to.equal(role);
    expect(this.isUsable(linkIndex), line).to.equal(true);
    expect(this.#armed.has(address), line).to.equal(true);
    expect(this.#filters.get(linkIndex)?.has(address), line).to.equal(true);
    if (familyOf(address) === 6)
      expect(this.#joined.has(`${linkIndex} ${solicitedNodeGroupOf(address)}`), line).to.equal(true);
    const times = this.#frameTimes.get(linkIndex) ?? [];
    this.#frameTimes.set(linkIndex, times);
    times.push(atMs);
    while ((times[0] ?? atMs) <= atMs - 100) times.shift();
    expect(times.length, line).to.be.at.most(FRAMES_AT_ONCE + FRAMES_PER_SECOND / 10);
    const isFirstOfBurst = frame[12] === 0x86 || frame[21] === 1;
    if (!isFirstOfBurst) return;
    const key = `${linkIndex} ${address}`;
    if (isQuestion(frame)) return;
    const before = this.#burstAtMs.get(key);
    if (before !== undefined) expect(atMs - before, line).to.be.at.least(BURST_INTERVAL_MS);
    this.#burstAtMs.set(key, atMs);
  }
}

function play(steps: readonly Step[]): Rig {
  const rig = new Rig();
  const witness = new Witness();
  rig.on({ kind: "members", members: [{ node: "n2", macs: [MEMBER_MAC] }] });
  for (const step of steps) {
    if (step.kind === "pass") rig.pass(step.durationMs);
    if (step.kind === "event") {
      witness.take(step.event);
      rig.on(step.event);
    }
    if (step.kind === "frame") {
      const { verdict, answer } = rig.receive(step.linkIndex, step.frame);
      if (verdict === "answered") {
        expect(step.isRequest).to.equal(true);
        expect(witness.isMuted).to.equal(false);
        expect(witness.roleOf(addressOf(answer ?? expect.fail()))).to.be.oneOf(["lead", "moved"]);
        expect(witness.isUsable(step.linkIndex)).to.equal(true);
      }
    }
    witness.check(rig);
  }
  rig.pass(0);
  witness.check(rig);
  return rig;
}

describe("Announcer, whatever happens", () => {
  it("speaks only for what it leads, in order, within its rates, and never while mute", () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => void play(steps)),
      { numRuns: 400 },
    );
  });
  it("does nothing when it is told the same again", () => {
    const told = fc.tuple(fc.array(anyStep, { maxLength: 20 }), someLinks, someDuties);
    fc.assert(
      fc.property(told, ([steps, links, duties]) => {
        const rig = play(steps);
        rig.links(...links);
        rig.duties(...duties);
        rig.pass(0);
        expect(rig.links(...links.toReversed())).to.deep.equal([]);
        expect(rig.duties(...duties.toReversed())).to.deep.equal([]);
      }),
      { numRuns: 200 },
    );
  });
  it("is silent six seconds after the last change", () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 20 }), (steps) => {
        const rig = play(steps);
        rig.on({ kind: "unmute" });
        // n2 answers no question: after 4 s whoever it silenced leads again.
        const wasSilenced = rig.states().some(({ phase, contest }) => phase === "stopped" && contest !== undefined);
        rig.pass(wasSilenced ? 10_000 : 6_000);
        expect(rig.pass(60_000)).to.deep.equal([]);
      }),
      { numRuns: 200 },
    );
  });
  it("leaves every group when nothing is to do any more", () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 30 }), (steps) => {
        const rig = play(steps);
        rig.duties();
        rig.pass(2_000);
        const counts = (kind: string): number => rig.done.filter(({ effect }) => effect.kind === kind).length;
        expect(counts("leave-group")).to.equal(counts("join-group"));
        expect(rig.announcer.nextDeadlineMs()).to.equal(undefined);
      }),
      { numRuns: 200 },
    );
  });
  it("keeps its bucket with many addresses", () => {
    const rig = new Rig();
    const witness = new Witness();
    const duties = Array.from({ length: 400 }, (_, index) =>
      duty(ip(`192.0.2.${index & 255}`), "lead", { group: `${index}` }),
    );
    const events: (AnnouncerEvent | AllDuties)[] = [
      { kind: "links", links: [link(1), link(2)] },
      { kind: "all-duties", duties },
      { kind: "rival", node: "n2" },
    ];
    for (const one of events) {
      witness.take(one);
      rig.on(one);
      rig.pass(333);
      witness.check(rig);
    }
    rig.pass(10_000);
    witness.check(rig);
    expect(rig.announcer.counters().announcedFrames).to.equal(256 * 10);
  });
});
