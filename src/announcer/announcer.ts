/** The announcer (DESIGN D8, D10, D11): duties, links and messages in, frames, groups, filters and messages out. No socket, no clock. */
import { earliest } from "../base/deadlines.ts";
import type { Family, Ip } from "../net/ip.ts";
import { macAt } from "../net/mac.ts";
import type { Address } from "./address.ts";
import { AddressBook } from "./address-book.ts";
import { Announcements, type AnnouncingView } from "./announcements.ts";
import { Filters } from "./filters.ts";
import { Groups } from "./groups.ts";
import { isSamePair, LinkTable } from "./link-table.ts";
import { planLinks, type SharedSegment } from "./plan.ts";
import type {
  AddressState,
  AnnounceLink,
  AnnouncerCounters,
  AnnouncerEffect,
  AnnouncerEvent,
  AnnouncerNote,
  ReceiveDrop,
  ReceiveVerdict,
} from "./ports.ts";
import { Responder } from "./responder.ts";

export interface AnnouncerOptions {
  /** This node's name in gossip, as it stands in its claims. */
  readonly nodeName: string;
  /** When the lease for a strict address ends, in the past when there is none. Absent: nobody has any. */
  readonly leaseEndMs?: (ip: Ip) => number;
}

export class Announcer {
  readonly #book: AddressBook;
  readonly #responder: Responder<Address>;
  readonly #links = new LinkTable();
  readonly #announcements = new Announcements();
  readonly #groups = new Groups();
  readonly #filters = new Filters();
  readonly #drops = new Map<ReceiveDrop, number>();
  readonly #answered = { arp: 0, ndp: 0 };
  readonly #notes: AnnouncerNote[] = [];
  /** Members that came back and have not been told yet. */
  readonly #rivals = new Set<string>();
  #sharedSegments: readonly SharedSegment[] = [];
  #changedMacs: ReadonlySet<number> = new Set();
  #isMuted = false;
  #nowMs = Number.NEGATIVE_INFINITY;
  readonly #leaseEndMs: (ip: Ip) => number;
  #deadlineMs: number | undefined;
  readonly #isKnownLink = (linkIndex: number): boolean => this.#links.isKnown(linkIndex);
  readonly #view: AnnouncingView = {
    announcing: (ip, linkIndex) => {
      const address = this.#book.find(ip);
      const isAnnounced = address?.isArmed === true && address.answeredOn.includes(linkIndex);
      return isAnnounced && this.#mayAnswer(address, this.#nowMs) ? address : undefined;
    },
    isSeeking: (ip, linkIndex) => {
      const address = this.#book.find(ip);
      return address?.silentSuccessor() !== undefined && address.answeredOn.includes(linkIndex);
    },
    linkOf: (linkIndex) => this.#links.find(linkIndex),
  };

  constructor(options: AnnouncerOptions) {
    this.#book = new AddressBook(options.nodeName);
    this.#responder = new Responder(this.#book.table);
    this.#leaseEndMs = options.leaseEndMs ?? (() => Number.NEGATIVE_INFINITY);
  }

  /** Effects in the order in which they are to be carried out. Call with "tick" when the deadline is due; sockets are read first. */
  handle(event: AnnouncerEvent, nowMs: number): AnnouncerEffect[] {
    this.#nowMs = nowMs;
    this.#take(event, nowMs);
    this.#book.rivals.expire(nowMs);
    if (!this.#isMuted) this.#book.resumeUnanswered(nowMs);
    const wire = this.#reconcile(nowMs);
    const left = this.#groups.leave(this.#isKnownLink, nowMs);
    const frames = this.#isMuted ? [] : this.#speak(nowMs);
    const notes = [...this.#book.takeNotes(), ...this.#notes.splice(0)].map(
      (note) => ({ kind: "noted", note }) as const,
    );
    const messages = this.#book.takeOutgoing().map((message) => ({ kind: "message", ...message }) as const);
    this.#deadlineMs = this.#nextDeadlineMs();
    return [...wire, ...left, ...notes, ...messages, ...frames];
  }

  /**
   * One received frame, its VLAN tag control information taken from the socket. An answer goes through `send` before this
   * returns; its bytes are valid during that call only.
   */
  receive(
    linkIndex: number,
    family: Family,
    frame: Uint8Array,
    vlanTag: number | undefined,
    nowMs: number,
    send: (bytes: Uint8Array) => void,
  ): ReceiveVerdict {
    const link = this.#links.receiving(linkIndex);
    if (this.#isMuted) return this.#dropped("muted");
    if (link === undefined) return this.#dropped("unusable-link");
    const verdict = this.#responder.respond(link, family, frame, vlanTag);
    const { address } = this.#responder;
    if (verdict !== "answered") {
      if (verdict === "own-frame") this.#hearSibling(linkIndex, nowMs);
      if (verdict === "holder-heard" && address !== undefined) this.#hearHolder(address, frame, nowMs);
      return this.#dropped(verdict);
    }
    if (address !== undefined && !this.#mayAnswer(address, nowMs)) return this.#dropped("no-lease");
    send(this.#responder.answer);
    if (address !== undefined) address.requestsAnswered++;
    if (family === 4) this.#answered.arp++;
    else this.#answered.ndp++;
    return verdict;
  }

  /** Whoever says that a lease is over may come later than its end. */
  #mayAnswer({ ip, duty }: Address, nowMs: number): boolean {
    return duty.needsLease !== true || nowMs < this.#leaseEndMs(ip);
  }

  /** When `handle` wants its next "tick"; a received frame may bring it forward to now. */
  nextDeadlineMs(): number | undefined {
    return this.#deadlineMs;
  }

  /** Undefined: there is no duty for the address. */
  addressState(ip: Ip): AddressState | undefined {
    return this.#book.stateOf(ip);
  }

  counters(): AnnouncerCounters {
    return { answered: { ...this.#answered }, announcedFrames: this.#announcements.frames(), drops: this.#drops };
  }

  #take(event: AnnouncerEvent, nowMs: number): void {
    switch (event.kind) {
      case "links":
        return this.#takeLinks(event.links);
      case "duty-changes":
        return this.#book.changeDuties(event.gone, event.come, nowMs);
      case "freshness":
        return this.#book.setFreshness(event.freshness);
      case "members":
        return this.#book.takeMembers(event.members);
      case "messages":
        return this.#book.takeMessages(event.from, event.messages, this.#isMuted, nowMs);
      case "rival":
        this.#rivals.add(event.node);
        return;
      case "leases":
        return this.#takeLeases(event.gained, event.lost);
      case "mute":
        this.#isMuted = true;
        return;
      case "unmute":
        this.#isMuted = false;
        return;
      case "tick":
        return this.#book.beginTurn();
    }
  }

  #takeLeases(gained: readonly Ip[], lost: readonly Ip[]): void {
    const change = (ip: Ip, isLeased: boolean): void => {
      const address = this.#book.find(ip);
      if (address === undefined || address.isLeased === isLeased || !address.wantsLease) return;
      address.isLeased = isLeased;
      this.#book.leaseChanged(address);
      if (!isLeased && address.isArmed) this.#notes.push({ kind: "stopped", ip, cause: "lease-lost" });
    };
    for (const ip of lost) change(ip, false);
    for (const ip of gained) change(ip, true);
  }

  #takeLinks(links: readonly AnnounceLink[]): void {
    const changedMacs = this.#links.update(links);
    if (changedMacs === undefined) return;
    this.#changedMacs = changedMacs;
    this.#announcements.keep(this.#isKnownLink);
    this.#replan();
  }

  /** Of this node's usable links. */
  get sharedSegments(): readonly SharedSegment[] {
    return this.#sharedSegments;
  }

  #replan(): void {
    this.#book.replan();
    const { sharedSegments } = this.#links.topology();
    for (const pair of sharedSegments) {
      if (this.#sharedSegments.some((known) => isSamePair(known, pair))) continue;
      this.#notes.push({ kind: "links-share-segment", ...pair });
    }
    this.#sharedSegments = sharedSegments;
  }

  #hearHolder(address: Address, frame: Uint8Array, nowMs: number): void {
    if (this.#book.hearHolder(address, macAt(frame, 6), nowMs)) this.#deadlineMs = nowMs;
  }

  #hearSibling(linkIndex: number, nowMs: number): void {
    const sibling = this.#responder.siblingIndex;
    if (sibling === undefined || !this.#links.hearSibling(linkIndex, sibling)) return;
    this.#replan();
    this.#deadlineMs = nowMs;
  }

  /** Brings groups, filters and answers of what has changed to what phases and links say. Nothing changed: no effect. */
  #reconcile(nowMs: number): AnnouncerEffect[] {
    const joined: AnnouncerEffect[] = [];
    const dirty = this.#book.takeDirty();
    for (const address of dirty) {
      const { ip, group, answeredOn, heardOn, joinedOn } = address;
      address.plannedLinks ??= planLinks(address.bytes, address.duty.interfaces, this.#links.topology());
      address.heardOn = address.heardLinks();
      this.#tellLease(address);
      this.#filters.move(ip, heardOn, address.heardOn, nowMs);
      this.#arm(address, answeredOn, nowMs);
      address.joinedOn = address.answeredOn;
      if (group !== undefined) joined.push(...this.#groups.move(ip, group, joinedOn, address.joinedOn, nowMs));
    }
    if (dirty.size > 0) this.#changedMacs = new Set();
    return [...joined, ...this.#filters.due(this.#isKnownLink, nowMs)];
  }

  #tellLease(address: Address): void {
    const { ip, wantsLease } = address;
    address.wantsLease = address.needsLeaseNow();
    if (address.wantsLease === wantsLease) return;
    if (!address.wantsLease) address.isLeased = false;
    this.#notes.push({ kind: address.wantsLease ? "lease-wanted" : "lease-released", ip });
  }

  /** Answers where it should from now on, and announces where that is new or by another MAC than before. */
  #arm(address: Address, before: readonly number[], nowMs: number): void {
    const { ip } = address;
    const wanted = address.wantedLinks();
    address.answeredOn = wanted;
    for (const linkIndex of before) if (!wanted.includes(linkIndex)) this.#announcements.cancel(ip, linkIndex);
    const isWon = !address.isArmed;
    address.isArmed = address.phase === "leading" && wanted.length > 0;
    this.#seekHolder(address, nowMs);
    if (!address.isArmed) return;
    for (const linkIndex of wanted) {
      const isNew = isWon || !before.includes(linkIndex) || this.#changedMacs.has(linkIndex);
      if (isNew) this.#announcements.start(ip, linkIndex, nowMs);
    }
    if (isWon) {
      address.hasAnnounced = false;
      address.armedMs = nowMs;
      this.#notes.push({ kind: "armed", ip });
    }
    this.#book.claim(address, nowMs);
  }

  /** Whoever claims nothing may have announced the address long before we heard that it leads: nothing else would end our answers. */
  #seekHolder(address: Address, nowMs: number): void {
    const successor = address.silentSuccessor();
    if (successor === address.sought) return;
    address.sought = successor;
    if (successor === undefined) return;
    for (const linkIndex of address.answeredOn) this.#announcements.seek(address.ip, linkIndex, nowMs);
  }

  /** Claims and questions first, then announcements: what a mute holds back. */
  #speak(nowMs: number): AnnouncerEffect[] {
    if (this.#rivals.size > 0) this.#meetRivals(nowMs);
    this.#book.speak(nowMs);
    return this.#announcements.drain(this.#view, nowMs);
  }

  /** One claim and one burst for a member that came back, though nothing here has stopped (DESIGN D6). */
  #meetRivals(nowMs: number): void {
    const led = [...this.#book.all()].filter(({ isArmed }) => isArmed);
    for (const node of this.#rivals) this.#book.claimTo(node, led);
    this.#rivals.clear();
    for (const { ip, answeredOn } of led) {
      for (const linkIndex of answeredOn) this.#announcements.once(ip, linkIndex, nowMs);
    }
  }

  #nextDeadlineMs(): number | undefined {
    const spoken = this.#isMuted ? [] : [this.#book.nextDeadlineMs(), this.#announcements.nextDeadlineMs()];
    return earliest([
      this.#groups.nextDeadlineMs(),
      this.#filters.nextDeadlineMs(),
      this.#book.rivals.nextDeadlineMs(),
      ...spoken,
    ]);
  }

  #dropped(reason: ReceiveDrop): ReceiveDrop {
    this.#drops.set(reason, (this.#drops.get(reason) ?? 0) + 1);
    return reason;
  }
}
