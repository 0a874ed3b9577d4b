/** The packet sockets and joined groups of one process, behind the kernel's filter, read by the process's own loop. */
import type { FrameListener, GroupPort, PacketPort } from "../../src/announcer/packet-port.ts";
import { copyOf } from "../../src/base/bytes.ts";
import type { AddressSet } from "../../src/net/address-set.ts";
import { type Family, type Ip, isMulticast } from "../../src/net/ip.ts";
import type { Mac } from "../../src/net/mac.ts";
import { type Prefix, prefixHolds } from "../../src/net/prefix.ts";
import { multicastMacOf } from "../../src/packet/solicited-node.ts";
import { macsOf, readFrame } from "./frames.ts";
import type { NetworkCard } from "./network-card.ts";
import type { ProcessLoop, Standstill } from "./process-loop.ts";

/** Frames that a socket's receive buffer holds. */
const RECEIVE_QUEUE_FRAMES = 256;

/** A kernel filter holds about this many exact addresses; beyond them it goes by prefix. */
const EXACT_ADDRESSES = 1_000;

/** Whether a kernel filter lets in what concerns this address. */
type LinkFilter = (ip: Ip) => boolean;

interface QueuedFrame {
  readonly linkIndex: number;
  readonly family: Family;
  readonly frame: Uint8Array;
}

interface UnsentFrame {
  readonly card: NetworkCard;
  readonly frame: Uint8Array;
}

/** What a checker may listen to: every call of the process on these ports, in order. */
export interface PortWatch {
  sent(card: NetworkCard, frame: Uint8Array): void;
  joined(card: NetworkCard, group: Ip): void;
  left(card: NetworkCard, group: Ip): void;
  filtered(card: NetworkCard, addresses: readonly Ip[]): void;
}

/** What the port asks its owner, as `PacketLinksOptions` has it. */
export interface SendingLimits {
  onBatchEnd(): number;
  framesUntilMs(): number;
}

const NO_LIMITS: SendingLimits = {
  onBatchEnd: () => Number.POSITIVE_INFINITY,
  framesUntilMs: () => Number.POSITIVE_INFINITY,
};

export class ProcessPackets implements PacketPort, GroupPort {
  readonly #cards: readonly NetworkCard[];
  readonly #loop: ProcessLoop;
  readonly #watch: PortWatch;
  readonly #isRefused: () => boolean;
  #listener: FrameListener = () => {};
  #limits = NO_LIMITS;
  #stopAtSend: Standstill | undefined;
  #openLinks = new Set<number>();
  readonly #filters = new Map<number, LinkFilter>();
  readonly #joined = new Map<string, number>();
  #queue: QueuedFrame[] = [];
  #unsent: UnsentFrame[] = [];
  #isClosed = false;
  /** While set, what is sent to this MAC is collected here instead of leaving. */
  #capture: { readonly mac: Mac; readonly frames: Uint8Array[] } | undefined;

  /** `isRefused`: asked of every frame, whether the kernel does not take it. */
  constructor(
    cards: readonly NetworkCard[],
    loop: ProcessLoop,
    watch: PortWatch,
    isRefused: () => boolean = () => false,
  ) {
    this.#cards = cards;
    this.#loop = loop;
    this.#watch = watch;
    this.#isRefused = isRefused;
  }

  listen(listener: FrameListener, limits = NO_LIMITS): void {
    this.#listener = listener;
    this.#limits = limits;
  }

  /** The process will be stopped with its next frames in hand: between its last look at the clock and the system call. */
  stopAtSend(standstill: Standstill): void {
    this.#stopAtSend = standstill;
  }

  setLinks(links: readonly { readonly index: number }[]): void {
    this.#openLinks = new Set(links.map(({ index }) => index));
  }

  failedLinks(): ReadonlySet<number> {
    return new Set();
  }

  setFilter(linkIndex: number, wanted: AddressSet, prefixes: readonly Prefix[]): void {
    const addresses = [...wanted];
    const exact = new Set(addresses);
    const isWithin: LinkFilter = (ip) => prefixes.some((prefix) => prefixHolds(prefix, ip));
    this.#filters.set(linkIndex, exact.size <= EXACT_ADDRESSES ? (ip) => exact.has(ip) : isWithin);
    const card = this.#cardOf(linkIndex);
    if (card !== undefined) this.#watch.filtered(card, addresses);
  }

  send(linkIndex: number, _family: Family, bytes: Uint8Array): void {
    const card = this.#cardOf(linkIndex);
    if (card !== undefined && !this.#isClosed) this.#unsent.push({ card, frame: copyOf(bytes) });
  }

  flush(untilMs = this.#limits.framesUntilMs()): void {
    const frames = this.#unsent;
    this.#unsent = [];
    const standstill = this.#stopAtSend;
    if (frames.length === 0 || standstill === undefined) return this.#transmit(frames, untilMs);
    this.#stopAtSend = undefined;
    this.#loop.stand(standstill, () => this.#transmit(frames, untilMs));
  }

  #transmit(frames: readonly UnsentFrame[], untilMs: number): void {
    if (this.#loop.nowMs() > untilMs) return;
    for (const { card, frame } of frames) {
      if (this.#capture !== undefined && macsOf(frame).destination === this.#capture.mac) {
        this.#capture.frames.push(frame);
        continue;
      }
      if (this.#isRefused()) continue;
      this.#watch.sent(card, frame);
      card.transmit(frame);
    }
  }

  discardAll(): number {
    return this.#queue.splice(0).length;
  }

  drainAll(): void {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      this.#listener(next.linkIndex, next.family, next.frame, undefined);
    }
    // Replies leave with the batch.
    this.flush(this.#limits.onBatchEnd());
  }

  join(linkIndex: number, group: Ip): void {
    const card = this.#cardOf(linkIndex);
    if (card === undefined || !isMulticast(group)) return;
    this.#joined.set(`${linkIndex} ${group}`, linkIndex);
    card.join(group);
    this.#watch.joined(card, group);
  }

  leave(linkIndex: number, group: Ip): void {
    const card = this.#cardOf(linkIndex);
    if (card === undefined || !this.#joined.delete(`${linkIndex} ${group}`)) return;
    card.leave(group);
    this.#watch.left(card, group);
  }

  /** A frame came in on a card of this machine. */
  offer(card: NetworkCard, frame: Uint8Array): void {
    if (this.#passesFilter(card, frame)) this.#queueFrame(card, frame);
  }

  #queueFrame(card: NetworkCard, frame: Uint8Array): void {
    if (this.#queue.length >= RECEIVE_QUEUE_FRAMES) return;
    const family = frame[12] === 0x08 ? 4 : 6;
    this.#queue.push({ linkIndex: card.index, family, frame });
    this.#loop.post(() => this.drainAll());
  }

  /** Offers a request of an observer who is not there, and gives what would have been sent to him. */
  ask(card: NetworkCard, frame: Uint8Array): readonly Uint8Array[] {
    const { source, destination } = macsOf(frame);
    if (this.#loop.isStanding || this.#loop.isOver || !card.accepts(destination)) return [];
    // Most machines answer nothing: the kernel's filter is asked before anything is made ready.
    if (!this.#passesFilter(card, frame)) return [];
    const frames: Uint8Array[] = [];
    this.#capture = { mac: source, frames };
    this.#queueFrame(card, frame);
    this.#capture = undefined;
    return frames;
  }

  /** The process is gone, or its machine's buffers are: nothing queued is read. */
  forgetQueued(): void {
    this.#queue = [];
    this.#unsent = [];
  }

  close(): void {
    this.#isClosed = true;
    this.forgetQueued();
    this.#openLinks.clear();
    for (const key of this.#joined.keys()) {
      const [linkIndex = "", group = ""] = key.split(" ");
      this.#cardOf(Number(linkIndex))?.groups.delete(multicastMacOf(group as Ip));
    }
    this.#joined.clear();
  }

  #passesFilter(card: NetworkCard, frame: Uint8Array): boolean {
    if (this.#isClosed || !this.#openLinks.has(card.index)) return false;
    const filter = this.#filters.get(card.index);
    const read = readFrame(frame);
    if (filter === undefined || read === undefined) return false;
    if (filter(read.targetIp)) return true;
    const isArp = read.form === "arp-request" || read.form === "arp-reply";
    return isArp && filter(read.senderIp);
  }

  #cardOf(linkIndex: number): NetworkCard | undefined {
    return this.#cards.find(({ index }) => index === linkIndex);
  }
}
