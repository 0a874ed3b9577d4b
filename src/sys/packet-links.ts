/**
 * The packet sockets of a speaker: one for ARP and one for IPv6 on every wanted link. Each lives and fails for itself:
 * one that does not open, or whose link went away under it, is opened again every second until its link is unwanted.
 */
import type { Clock, Timer } from "../base/clock.ts";
import { errnoOf } from "../base/errors.ts";
import { type AddressSet, NO_ADDRESSES } from "../net/address-set.ts";
import type { Family, Ip } from "../net/ip.ts";
import type { Prefix } from "../net/prefix.ts";
import { buildPacketFilter, encodeFilter, type FilterPrecision, MAX_FILTER_INSTRUCTIONS } from "../packet/filter.ts";
import { FilterInForce } from "../packet/filter-in-force.ts";
import type { PacketStatistics } from "./addon.ts";
import { type FrameBatch, openPacketSocket, type PacketSocket } from "./packet-socket.ts";

const FAMILIES: readonly Family[] = [4, 6];
const RETRY_DELAY_MS = 1_000;
/** Below this many instructions a refused filter is not a matter of memory. */
const LEAST_INSTRUCTIONS = 64;

export interface PacketLinksOptions {
  readonly clock: Clock;
  /**
   * `frame` starts at the Ethernet header and is valid during the call only; `vlanTag` are 802.1Q's 16 bits.
   * What is sent meanwhile leaves together when the batch has been heard: no flush() is needed.
   */
  onFrame(linkIndex: number, family: Family, frame: Uint8Array, vlanTag: number | undefined): void;
  /** Before the answers to a batch leave: the receiver may discard them, and says until when they may leave, as `framesUntilMs` does. */
  onBatchEnd?(): number;
  /** Until when, by the clock, what is sent now may leave; what comes too late never does. Absent: for ever. */
  framesUntilMs?(): number;
  /** problems() says something else now. */
  onProblems?(): void;
}

/** A socket that failed lately. `isOpen` tells a passing error from a link that cannot be answered on. */
export interface PacketProblem {
  readonly linkIndex: number;
  readonly linkName: string;
  readonly family: Family;
  /** errno name: ENETDOWN, EPERM, ENODEV, ENOBUFS… */
  readonly code: string;
  readonly isOpen: boolean;
}

export interface PacketLinkStatistics extends PacketStatistics {
  readonly linkIndex: number;
  readonly linkName: string;
  readonly family: Family;
  readonly precision: FilterPrecision;
}

interface Wanted {
  addresses: AddressSet;
  poolPrefixes: readonly Prefix[];
}

interface Endpoint {
  readonly linkIndex: number;
  linkName: string;
  readonly family: Family;
  readonly wanted: Wanted;
  readonly filter: FilterInForce;
  socket: PacketSocket | undefined;
  precision: FilterPrecision;
  /** errno name of the last failure, until a retry finds the socket well. */
  problem: string | undefined;
}

const DROP_ALL = encodeFilter(buildPacketFilter({ family: 4, addresses: [], poolPrefixes: [] }).program);
const NONE: readonly Ip[] = [];
const NO_STATISTICS: PacketStatistics = { received: 0, batches: 0, dropped: 0, sent: 0, refused: 0, expired: 0 };

export class PacketLinks {
  readonly #options: PacketLinksOptions;
  /** By link index, then ARP and IPv6. */
  readonly #endpoints = new Map<number, readonly Endpoint[]>();
  /** Endpoints with frames that wait for flush(). */
  readonly #queued = new Set<Endpoint>();
  /** What each link wants to hear: also for links that are not there yet, or not now, for nobody may say it again. */
  readonly #wanted = new Map<number, Wanted>();
  /** Learned from refusals: net.core.optmem_max is one for the machine. */
  #maxInstructions = MAX_FILTER_INSTRUCTIONS;
  #discards = 0;
  /** What problems() said when it was last told of. */
  #told = "[]";
  #retry: Timer | undefined;
  #isClosed = false;

  constructor(options: PacketLinksOptions) {
    this.#options = options;
  }

  /** The complete list of links to listen on. A link that was re-created is opened again, also under its old index. */
  setLinks(links: readonly { readonly index: number; readonly name: string }[]): void {
    const wanted = new Set(links.map((link) => link.index));
    for (const [index, endpoints] of this.#endpoints) {
      if (wanted.has(index)) continue;
      for (const endpoint of endpoints) endpoint.socket?.close();
      this.#endpoints.delete(index);
    }
    for (const { index, name } of links) this.#setLink(index, name);
    this.#noteProblems();
  }

  /** Which packets wake us on this link: ARP and NDP about these addresses; see `PacketPort`. Until it is called, none. */
  setFilter(linkIndex: number, addresses: AddressSet, poolPrefixes: readonly Prefix[], come: readonly Ip[]): void {
    const wanted = this.#wantedOn(linkIndex);
    wanted.addresses = addresses;
    wanted.poolPrefixes = poolPrefixes;
    for (const endpoint of this.#endpoints.get(linkIndex) ?? []) this.#applyFilter(endpoint, come);
    this.#noteProblems();
  }

  /** Queues a frame until flush(). Without an open socket it is lost, as on a link that is down. */
  send(linkIndex: number, family: Family, bytes: Uint8Array): void {
    const endpoint = this.#endpoints.get(linkIndex)?.[family === 4 ? 0 : 1];
    if (endpoint?.socket === undefined) return;
    endpoint.socket.send(bytes);
    this.#queued.add(endpoint);
  }

  flush(untilMs?: number): void {
    if (this.#queued.size === 0) return;
    const queued = [...this.#queued];
    this.#queued.clear();
    for (const endpoint of queued) endpoint.socket?.flush(untilMs);
  }

  /** Drops what is queued in both directions, and from inside onFrame the rest of its batch; the number of frames unread. */
  discardAll(): number {
    let frames = 0;
    this.#discards++;
    this.#queued.clear();
    for (const endpoint of this.#all()) {
      endpoint.socket?.discardQueued();
      frames += endpoint.socket?.discard() ?? 0;
    }
    return frames;
  }

  /** Reads every socket until it is empty, through onFrame; the number of frames. */
  drainAll(): number {
    let frames = 0;
    for (const endpoint of this.#all()) frames += endpoint.socket?.drain() ?? 0;
    return frames;
  }

  problems(): readonly PacketProblem[] {
    return this.#all().flatMap(({ linkIndex, linkName, family, problem, socket }) =>
      problem === undefined ? [] : [{ linkIndex, linkName, family, code: problem, isOpen: socket !== undefined }],
    );
  }

  failedLinks(): ReadonlySet<number> {
    return new Set(this.problems().flatMap(({ linkIndex, isOpen }) => (isOpen ? [] : [linkIndex])));
  }

  statistics(): readonly PacketLinkStatistics[] {
    return this.#all().map(({ linkIndex, linkName, family, precision, socket }) => ({
      ...(socket?.statistics() ?? NO_STATISTICS),
      linkIndex,
      linkName,
      family,
      precision,
    }));
  }

  close(): void {
    this.#isClosed = true;
    this.#retry?.cancel();
    for (const endpoint of this.#all()) endpoint.socket?.close();
    this.#endpoints.clear();
  }

  #all(): Endpoint[] {
    return [...this.#endpoints.values()].flat();
  }

  #wantedOn(linkIndex: number): Wanted {
    const known = this.#wanted.get(linkIndex);
    if (known !== undefined) return known;
    const wanted: Wanted = { addresses: NO_ADDRESSES, poolPrefixes: [] };
    this.#wanted.set(linkIndex, wanted);
    return wanted;
  }

  #setLink(linkIndex: number, linkName: string): void {
    const known = this.#endpoints.get(linkIndex);
    if (known !== undefined) {
      for (const endpoint of known) {
        endpoint.linkName = linkName;
        this.#recover(endpoint);
      }
      return;
    }
    const wanted = this.#wantedOn(linkIndex);
    const endpoints = FAMILIES.map((family): Endpoint => {
      const state = { socket: undefined, problem: undefined, precision: "exact" as const };
      return { linkIndex, linkName, family, wanted, filter: new FilterInForce(), ...state };
    });
    this.#endpoints.set(linkIndex, endpoints);
    for (const endpoint of endpoints) this.#open(endpoint);
  }

  #open(endpoint: Endpoint): void {
    const { linkIndex, linkName, family } = endpoint;
    endpoint.problem = undefined;
    endpoint.filter.forget();
    try {
      endpoint.socket = openPacketSocket({
        linkIndex,
        linkName,
        family,
        filter: DROP_ALL,
        framesUntilMs: () => this.#options.framesUntilMs?.() ?? Number.POSITIVE_INFINITY,
        onBatch: (frames) => this.#onBatch(endpoint, frames),
        onError: (code) => this.#onError(endpoint, code),
      });
    } catch (error) {
      endpoint.problem = errnoOf(error);
      return;
    }
    this.#applyFilter(endpoint, NONE);
  }

  /** Opens what is not open, or was opened on a link that is gone. */
  #recover(endpoint: Endpoint): void {
    if (endpoint.socket !== undefined && !endpoint.socket.isDetached()) return;
    endpoint.socket?.close();
    endpoint.socket = undefined;
    this.#open(endpoint);
  }

  #applyFilter(endpoint: Endpoint, come: readonly Ip[]): void {
    const { family, socket, wanted } = endpoint;
    if (socket === undefined) return;
    for (;;) {
      const filter = endpoint.filter.next({ family, ...wanted, come }, this.#maxInstructions);
      if (filter === undefined) return;
      try {
        socket.setFilter(encodeFilter(filter.program));
        endpoint.precision = filter.precision;
        return;
      } catch (error) {
        endpoint.filter.forget();
        endpoint.problem = errnoOf(error);
        if (endpoint.problem !== "ENOMEM" || filter.program.length < LEAST_INSTRUCTIONS) {
          // Without its filter a socket hears nothing: it is none, and is opened anew with the next retry.
          socket.close();
          endpoint.socket = undefined;
          return;
        }
        this.#maxInstructions = filter.program.length >>> 1;
        endpoint.problem = undefined;
      }
    }
  }

  #onBatch(endpoint: Endpoint, frames: FrameBatch): void {
    const { linkIndex, family, socket } = endpoint;
    const discards = this.#discards;
    for (let index = 0; index < frames.count; index++) {
      this.#options.onFrame(linkIndex, family, frames.frame(index), frames.vlanTag(index));
      // The receiver may have closed or re-opened the socket, or want to hear no more of what was queued.
      if (endpoint.socket !== socket || this.#discards !== discards) break;
    }
    // What the receiver queued in answer leaves as one batch, too; unless so much time has passed that it says otherwise now.
    this.flush(this.#options.onBatchEnd?.());
  }

  #onError(endpoint: Endpoint, code: string): void {
    this.#recover(endpoint);
    endpoint.problem ??= code;
    this.#noteProblems();
  }

  #noteProblems(): void {
    if (this.#isClosed) return;
    const problems = this.problems();
    if (problems.length > 0 && this.#retry === undefined) {
      this.#retry = this.#options.clock.schedule(RETRY_DELAY_MS, () => this.#retryAll());
    }
    const text = JSON.stringify(problems);
    if (text === this.#told) return;
    this.#told = text;
    this.#options.onProblems?.();
  }

  #retryAll(): void {
    this.#retry = undefined;
    for (const endpoint of this.#all()) {
      if (endpoint.problem === undefined) continue;
      if (endpoint.socket !== undefined) endpoint.problem = undefined;
      this.#recover(endpoint);
      if (endpoint.problem === undefined) this.#applyFilter(endpoint, NONE);
    }
    this.#noteProblems();
  }
}
