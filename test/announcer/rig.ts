/** One announcer on a clock of its own, and what it did, as lines that read in a failed test. */
import { expect } from "chai";
import { Announcer } from "../../src/announcer/announcer.ts";
import type {
  AddressState,
  AnnounceLink,
  AnnouncerEffect,
  AnnouncerEvent,
  ClaimBasis,
  Duty,
  HandoverMessage,
  ReceiveVerdict,
} from "../../src/announcer/ports.ts";
import { type Family, type Ip, parseIp } from "../../src/net/ip.ts";
import { type Mac, parseMac } from "../../src/net/mac.ts";
import { parsePrefix } from "../../src/net/prefix.ts";
import { decodeArp } from "../../src/packet/arp.ts";
import { decodeNdp } from "../../src/packet/ndp.ts";

export function ip(text: string): Ip {
  return parseIp(text) ?? expect.fail(`no address: ${text}`);
}

export function mac(text: string): Mac {
  return parseMac(text) ?? expect.fail(`no MAC: ${text}`);
}

export const VIP = ip("192.0.2.10");
export const VIP6 = ip("2001:db8::10");
export const OWN_MAC = mac("02:00:00:00:00:01");

export function link(index: number, changes: Partial<AnnounceLink> = {}): AnnounceLink {
  return {
    index,
    name: `eth${index}`,
    mac: mac(`02:00:00:00:00:0${index}`),
    isUsable: true,
    addresses: [ip(`fe80::${index}`), ip(`192.0.${index + 1}.1`)],
    prefixes: [`192.0.${index + 1}.0/24`, `2001:db8:${index - 1}::/64`].map(
      (text) => parsePrefix(text) ?? expect.fail(text),
    ),
    ...changes,
  };
}

export const BASIS: ClaimBasis = {
  incarnation: 1,
  rule: "arpeggio-1",
  term: 0,
  freshness: 0,
  tier: 1,
  score: 0,
  endpointClass: "any",
  hash: "50",
};

export function duty(address: Ip, role: Duty["role"], changes: Partial<Duty> = {}): Duty {
  return { ip: address, group: "g", interfaces: [], role, basis: BASIS, ...changes };
}

export interface Done {
  readonly atMs: number;
  readonly effect: AnnouncerEffect;
}

/** The complete list; what is missing from it is withdrawn. */
export interface AllDuties {
  readonly kind: "all-duties";
  readonly duties: readonly Duty[];
}

export class Rig {
  readonly announcer: Announcer;
  nowMs = 1_000;
  done: Done[] = [];
  #duties: readonly Duty[] = [];

  constructor(nodeName = "n1") {
    this.announcer = new Announcer({ nodeName });
  }

  /** Hands the event in and gives what it led to at once, as lines. */
  on(event: AnnouncerEvent | AllDuties): string[] {
    const effects = this.announcer.handle(this.#eventOf(event), this.nowMs);
    this.done.push(...effects.map((effect) => ({ atMs: this.nowMs, effect })));
    return effects.map(lineOf);
  }

  links(...links: readonly AnnounceLink[]): string[] {
    return this.on({ kind: "links", links });
  }

  /** Of the addresses that have a duty. */
  states(): AddressState[] {
    return this.#duties.flatMap((one) => this.announcer.addressState(one.ip) ?? []);
  }

  #eventOf(event: AnnouncerEvent | AllDuties): AnnouncerEvent {
    if (event.kind !== "all-duties") return event;
    const wanted = new Set(event.duties.map((one) => one.ip));
    const gone = this.#duties.filter((one) => !wanted.has(one.ip));
    this.#duties = event.duties;
    return { kind: "duty-changes", gone, come: event.duties };
  }

  duties(...duties: readonly Duty[]): string[] {
    return this.on({ kind: "all-duties", duties });
  }

  /** Lets time pass, ticking at every deadline; gives "time since the call: line". */
  pass(durationMs: number): string[] {
    const startMs = this.nowMs;
    const endMs = startMs + durationMs;
    const lines: string[] = [];
    for (let ticks = 0; ; ticks++) {
      const dueMs = this.announcer.nextDeadlineMs();
      if (dueMs === undefined || dueMs > endMs) break;
      if (ticks > 20_000) expect.fail(`deadlines do not move on from ${dueMs}`);
      this.nowMs = Math.max(this.nowMs, dueMs);
      lines.push(...this.on({ kind: "tick" }).map((line) => `${Math.round(this.nowMs - startMs)}: ${line}`));
    }
    this.nowMs = endMs;
    return lines;
  }

  /** A frame comes in; gives the verdict and a copy of the answer. */
  receive(linkIndex: number, frame: Uint8Array, vlanTag?: number): { verdict: ReceiveVerdict; answer?: Uint8Array } {
    const family: Family = frame[12] === 0x86 ? 6 : 4;
    let answer: Uint8Array | undefined;
    const verdict = this.announcer.receive(linkIndex, family, frame, vlanTag, this.nowMs, (bytes) => {
      answer = bytes.slice();
    });
    return answer === undefined ? { verdict } : { verdict, answer };
  }
}

/** A node that leads VIP on eth1, with its series of announcements over. */
export function leadingRig(...duties: readonly Duty[]): Rig {
  const rig = new Rig();
  rig.links(link(1));
  rig.duties(...(duties.length > 0 ? duties : [duty(VIP, "lead")]));
  rig.pass(6_000);
  rig.done = [];
  return rig;
}

export function lineOf(effect: AnnouncerEffect): string {
  switch (effect.kind) {
    case "frame":
      return `frame eth${effect.linkIndex} ${frameLine(effect.bytes)}`;
    case "join-group":
    case "leave-group":
      return `${effect.kind} eth${effect.linkIndex} ${effect.group}`;
    case "filter":
      return `filter eth${effect.linkIndex} [${[...effect.addresses].join(" ")}]`;
    case "message":
      return `${effect.message.kind} to ${effect.to.join(" ")}: ${effect.message.addresses.join(" ")}`;
    case "noted":
      return Object.values(effect.note).join(" ");
  }
  return expect.fail("no such effect");
}

function frameLine(frame: Uint8Array): string {
  const arp = decodeArp(frame.subarray(14));
  if (frame[12] === 0x08 && arp.ok) return `${arp.value.operation} ${arp.value.senderIp} ${arp.value.senderMac}`;
  const ndp = decodeNdp(frame.subarray(14));
  if (!ndp.ok) return expect.fail(ndp.reason);
  return `${ndp.value.kind} ${ndp.value.target}`;
}

export function withoutNotes(lines: readonly string[]): string[] {
  return lines.filter((line) => !/^(\d+: )?(announced|first-frame|armed)/.test(line));
}

export function claim(
  node: string,
  changes: Partial<typeof BASIS> = {},
  ...addresses: readonly Duty["ip"][]
): HandoverMessage {
  return {
    kind: "claim",
    group: "g",
    addresses: addresses.length > 0 ? addresses : [VIP],
    node,
    basis: { ...BASIS, ...changes },
  };
}

export function say(rig: Rig, message: HandoverMessage): string[] {
  return rig.on({ kind: "messages", from: message.node, messages: [message] });
}

/** Who has silenced it, or whom it has silenced others as. */
export function winnerOf(rig: Rig): string | undefined {
  return rig.states()[0]?.contest?.winner.node;
}
