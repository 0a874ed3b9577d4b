/**
 * What the fast detector (DESIGN D7) has to know of the election, and the part of its ladder that leaves by packet sockets: who leads,
 * who may watch, and which frames ask a leader's process and its kernel whether they are there.
 */

import {
  askingAddress,
  frameOf,
  type NeighbourQuestion,
  NeighbourQuestions,
  type QuestionFrame,
} from "../src/announcer/neighbour-questions.ts";
import type { PacketPort } from "../src/announcer/packet-port.ts";
import { isDue } from "../src/base/deadlines.ts";
import type { ListDifference } from "../src/base/list-difference.ts";
import type { Decision } from "../src/election/decision.ts";
import { flagsOf } from "../src/election/standing.ts";
import type { JudgedLink } from "../src/election/usable-links.ts";
import type { NodeWord } from "../src/election/word.ts";
import type { GossipDriver } from "../src/gossip/driver.ts";
import type { WatchView } from "../src/gossip/fast/fast-event.ts";
import { type Family, type Ip } from "../src/net/ip.ts";
import { prefixHolds } from "../src/net/prefix.ts";
import { LedBook } from "./led-book.ts";
import type { KnownMember, MemberViews } from "./member-views.ts";
import type { OwnNode } from "./own-node.ts";
import { WatchedPackets } from "./watched-packets.ts";

/** Asked at one time. */
const PROBES = 256;
/** An answer comes at once or never; what is not waited for any more is looked for in no frame. */
const PROBED_MS = 1_000;

export class LeaderWatch {
  readonly packets: WatchedPackets;
  readonly #self: string;
  readonly #node: Pick<OwnNode, "links" | "standing">;
  readonly #members: Pick<MemberViews, "present">;
  readonly #gossip: () => Pick<GossipDriver, "command" | "fast"> | undefined;
  readonly #questions = new NeighbourQuestions();
  readonly #led = new LedBook();
  /** The last questions whether a leader answers for an address, the latest last. */
  readonly #probes = new Map<Ip, NeighbourQuestion>();
  readonly #probed = new NeighbourQuestions();
  #probedUntilMs: number | undefined;
  #told = "";

  constructor(
    self: string,
    node: Pick<OwnNode, "links" | "standing">,
    members: Pick<MemberViews, "present">,
    packets: PacketPort,
    gossip: () => Pick<GossipDriver, "command" | "fast"> | undefined,
  ) {
    this.#self = self;
    this.#node = node;
    this.#members = members;
    this.#gossip = gossip;
    this.packets = new WatchedPackets(packets);
  }

  /** After every decision, with those that have changed: tells the detector what is new. */
  follow(decisions: ListDifference<Decision>, nowMs: number): void {
    this.#led.follow(decisions);
    const gossip = this.#gossip();
    if (gossip?.fast === undefined) return;
    const links = this.#node.links(nowMs);
    const view = this.#viewOf(links, nowMs);
    const text = JSON.stringify(view);
    if (text !== this.#told) {
      this.#told = text;
      gossip.command({ kind: "watch", view });
    }
    this.#prepareQuestions(gossip.fast.watchedHere(), links);
  }

  /** The ladder's ARP and NS. */
  ask(node: string): void {
    this.#send(this.#questions.framesFor(node));
  }

  /** Asks leaders' own links for addresses, and pings them, be they watched by this node or not. */
  probe(asked: readonly { readonly leader: string; readonly ip: Ip }[], nowMs: number): void {
    const names = [...new Set(asked.map(({ leader }) => leader))];
    this.#gossip()?.command({ kind: "ping-members", names });
    const usable = this.#usableLinks(nowMs);
    const words = new Map(this.#members.present().map(({ member, word }) => [member.name, word]));
    const questions = asked.flatMap(({ leader, ip }): readonly NeighbourQuestion[] => {
      const word = words.get(leader);
      const way = word === undefined ? undefined : wayTo(ip, word, usable);
      return way === undefined ? [] : [{ node: leader, of: "led-address", ip, ...way }];
    });
    for (const question of questions) {
      this.#probes.delete(question.ip);
      this.#probes.set(question.ip, question);
    }
    for (const ip of this.#probes.keys()) {
      if (this.#probes.size <= PROBES) break;
      this.#probes.delete(ip);
    }
    this.#probed.set([...this.#probes.values()]);
    if (this.#probes.size > 0) this.#probedUntilMs = nowMs + PROBED_MS;
    this.#listen(usable);
    this.#send(questions.map(frameOf));
  }

  /** When answers to `probe` are waited for no longer. */
  get deadlineMs(): number | undefined {
    return this.#probedUntilMs;
  }

  tick(nowMs: number): void {
    if (!isDue(this.#probedUntilMs, nowMs)) return;
    this.#probedUntilMs = undefined;
    this.#probes.clear();
    this.#probed.set([]);
    this.#listen(this.#usableLinks(nowMs));
  }

  /** The address whose leader was asked for it by `probe` and answers in this frame. */
  hear(linkIndex: number, family: Family, frame: Uint8Array, vlanTag: number | undefined): Ip | undefined {
    const answered = this.#questions.answeredBy(linkIndex, family, frame, vlanTag);
    if (answered !== undefined)
      this.#gossip()?.command({ kind: "neighbour-answered", name: answered.node, of: answered.of });
    return this.#probed.answeredBy(linkIndex, family, frame, vlanTag)?.ip;
  }

  #usableLinks(nowMs: number): readonly JudgedLink[] {
    return this.#node.links(nowMs).filter(({ isUsable }) => isUsable);
  }

  #send(frames: readonly QuestionFrame[]): void {
    for (const { linkIndex, family, bytes } of frames) this.packets.send(linkIndex, family, bytes);
    if (frames.length > 0) this.packets.flush();
  }

  #viewOf(links: readonly JudgedLink[], nowMs: number): WatchView {
    const present = this.#members.present();
    const ownFlags = flagsOf(this.#node.standing, nowMs);
    const watchers = present.flatMap(({ member, word }) =>
      word !== undefined && mayWatch(word.flags) ? [member.name] : [],
    );
    if (mayWatch(ownFlags)) watchers.push(this.#self);
    return {
      leaders: this.#led.leaders(),
      watchers: watchers.toSorted(),
      goMembers: present.flatMap(({ member, word }) => (word === undefined ? [member.name] : [])),
      hasLink: links.length === 0 || links.some(({ link }) => link.hasCarrier && !link.isLoopback),
    };
  }

  #prepareQuestions(watched: readonly string[], links: readonly JudgedLink[]): void {
    const usable = links.filter(({ isUsable }) => isUsable);
    const questions = this.#members
      .present()
      .filter(({ member }) => watched.includes(member.name))
      .flatMap((known) => questionsTo(known, this.#led.firstIp(known.member.name), usable));
    this.#questions.set(questions);
    this.#listen(usable);
  }

  #listen(usable: readonly JudgedLink[]): void {
    for (const { link } of usable) {
      const heard = [...this.#questions.addressesOn(link.index), ...this.#probed.addressesOn(link.index)];
      this.packets.watch(link.index, [...new Set(heard)]);
    }
  }
}

/** A node that leaves, or has not met anybody yet, watches nobody. */
function mayWatch(flags: readonly string[]): boolean {
  return flags.includes("ready") && !flags.includes("leaving");
}

/** One for an address that it leads, IPv4 before IPv6, and one for the address by which gossip reaches it. */
function questionsTo(
  { member, word }: KnownMember,
  ledIp: Ip | undefined,
  links: readonly JudgedLink[],
): readonly NeighbourQuestion[] {
  if (word === undefined) return [];
  const { name: node, endpoint } = member;
  const asked = [
    ...(ledIp === undefined ? [] : [{ of: "led-address", ip: ledIp } as const]),
    { of: "node-address", ip: endpoint.ip } as const,
  ];
  return asked.flatMap(({ of, ip }) => {
    const way = wayTo(ip, word, links);
    return way === undefined ? [] : [{ node, of, ip, ...way }];
  });
}

/** The link of ours and the MAC of theirs that share the address's segment; undefined when there is none, or nothing to ask from. */
function wayTo(
  ip: Ip,
  word: NodeWord,
  links: readonly JudgedLink[],
): Pick<NeighbourQuestion, "linkIndex" | "mac" | "own"> | undefined {
  const theirs = word.links.find(
    ({ index, isUsable }) =>
      isUsable && word.prefixes.some(({ linkIndex, prefix }) => linkIndex === index && prefixHolds(prefix, ip)),
  );
  const ours = links.find(({ link }) => link.prefixes.some((prefix) => prefixHolds(prefix, ip)))?.link;
  if (theirs === undefined || ours === undefined) return undefined;
  const ownIp = askingAddress(ip, ours.addresses);
  if (ownIp === undefined) return undefined;
  return { linkIndex: ours.index, mac: theirs.mac, own: { mac: ours.mac, ip: ownIp } };
}
