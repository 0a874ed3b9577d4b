/** The state that the parts of the swim machine share: who we are, the time of the event, who is known, what goes out. */
import type { Random } from "../base/random.ts";
import { Awareness } from "./awareness.ts";
import { BroadcastQueue, PART_OVERHEAD_BYTES, transmitLimit } from "./broadcast-queue.ts";
import type { FastTiming } from "./fast/fast-timing.ts";
import { MemberTable } from "./member-table.ts";
import type { Alive, DatagramMessage, Endpoint, Ping, PingSource, StreamMessage } from "./message.ts";
import { encodeMessage } from "./message-codec.ts";
import type { Member, SwimEffect } from "./swim-event.ts";
import type { Timing } from "./timing.ts";
import { OWN_VERSIONS } from "./verify-protocol.ts";

export interface SwimOptions {
  /** At most 253 bytes of UTF-8. */
  readonly name: string;
  /** What peers are told to send to: never a wildcard. */
  readonly endpoint: Endpoint;
  readonly timing: Timing;
  readonly random: Random;
  /** Label and encryption around a datagram. */
  readonly overheadBytes: number;
  /** Leaders are watched closely (DESIGN D7); false: memberlist's own detection alone. */
  readonly detectsFast?: boolean;
  readonly fastTiming?: FastTiming;
}

/** Monotonic counts since the start, for metrics; never read by the machine. */
export interface SwimCounters {
  readonly aliveMessages: number;
  readonly suspectMessages: number;
  readonly deadMessages: number;
  readonly probes: number;
  /** Probes begun with a health score above 0. */
  readonly probesDegraded: number;
  readonly probesFailed: number;
  readonly suspicionsExpired: number;
  /** Of those, how many had fewer confirmations than wanted. */
  readonly suspicionsUnconfirmed: number;
  readonly refutes: number;
  readonly nameConflicts: number;
  readonly pushPulls: number;
  readonly pushPullsFailed: number;
  /** Messages that a bound or a check refused: malformed, for another node, the table full. */
  readonly messagesRefused: number;
}

/** First field of a compound: type byte and count; also taken off where a message goes bare, as memberlist does. */
const COMPOUND_HEADER_BYTES = 2;
const PMAX_WITH_CRC = 5;
const MAX_SEQ_NO = 0xffff_ffff;

export class Core {
  readonly options: SwimOptions;
  readonly timing: Timing;
  readonly random: Random;
  readonly table: MemberTable;
  readonly queue = new BroadcastQueue();
  readonly awareness: Awareness;
  readonly counters: { -readonly [Name in keyof SwimCounters]: number } = {
    aliveMessages: 0,
    suspectMessages: 0,
    deadMessages: 0,
    probes: 0,
    probesDegraded: 0,
    probesFailed: 0,
    suspicionsExpired: 0,
    suspicionsUnconfirmed: 0,
    refutes: 0,
    nameConflicts: 0,
    pushPulls: 0,
    pushPullsFailed: 0,
    messagesRefused: 0,
  };
  /** Time of the event under judgement. */
  nowMs = 0;
  isOpen = false;
  isLeaving = false;
  self: Member;
  #effects: SwimEffect[] = [];
  #seqNo: number;
  #dial = 0;

  constructor(options: SwimOptions) {
    this.options = options;
    this.timing = options.timing;
    this.random = options.random;
    this.table = new MemberTable(options.random);
    this.awareness = new Awareness(options.timing.awarenessMaxMultiplier);
    // Not from 1: a late ack to the process that had our name before must not pass for one to us.
    this.#seqNo = options.random.below(MAX_SEQ_NO);
    this.self = {
      name: options.name,
      endpoint: options.endpoint,
      state: "alive",
      incarnation: 1,
      meta: new Uint8Array(0),
      versions: OWN_VERSIONS,
      sinceMs: 0,
    };
  }

  emit(effect: SwimEffect): void {
    this.#effects.push(effect);
  }

  takeEffects(): SwimEffect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  /** Changes our own record, in the table too. */
  putSelf(change: Partial<Member>): void {
    this.self = { ...this.self, ...change };
    this.table.put(this.self);
  }

  isSelf(name: string): boolean {
    return name === this.options.name;
  }

  nextSeqNo(): number {
    this.#seqNo = this.#seqNo >= MAX_SEQ_NO ? 1 : this.#seqNo + 1;
    return this.#seqNo;
  }

  source(): PingSource {
    return { endpoint: this.self.endpoint, node: this.self.name };
  }

  pingOf(node: string, seqNo: number): Ping {
    return { kind: "ping", seqNo, node, source: this.source() };
  }

  aliveOf(member: Member): Alive {
    const { incarnation, name, endpoint, meta, versions } = member;
    return { kind: "alive", incarnation, node: name, endpoint, meta, versions };
  }

  /** Queues a message for gossip under a name that replaces an older one. */
  broadcast(name: string, message: DatagramMessage, finished?: () => void): void {
    const bytes = encodeMessage(message);
    // What fits no datagram would stay queued for ever.
    if (bytes.length + PART_OVERHEAD_BYTES > this.partsBudgetBytes) finished?.();
    else this.queue.add(name, bytes, finished);
  }

  /** Bytes for the parts of one datagram, and 2 more for each part. */
  get partsBudgetBytes(): number {
    return this.timing.udpBufferBytes - COMPOUND_HEADER_BYTES - this.options.overheadBytes;
  }

  takeBroadcasts(budgetBytes: number): Uint8Array[] {
    return this.queue.take(budgetBytes, transmitLimit(this.timing.retransmitMult, this.table.size));
  }

  /** One message and as many queued broadcasts as fit beside it. */
  sendWithBroadcasts(to: Endpoint, message: DatagramMessage): void {
    const bytes = encodeMessage(message);
    const broadcasts = this.takeBroadcasts(this.partsBudgetBytes - bytes.length - PART_OVERHEAD_BYTES);
    this.emit({ kind: "send-datagram", to, parts: [bytes, ...broadcasts], withCrc: false });
  }

  /** These messages alone, to an address. */
  send(to: Endpoint, ...messages: readonly DatagramMessage[]): void {
    this.emit({ kind: "send-datagram", to, parts: messages.map(encodeMessage), withCrc: false });
  }

  /** Encoded messages to a member, with a checksum where it understands one. */
  sendParts(member: Member, parts: readonly Uint8Array[]): void {
    const withCrc = member.versions.protocolMax >= PMAX_WITH_CRC;
    this.emit({ kind: "send-datagram", to: member.endpoint, parts, withCrc });
  }

  /** Returns the number that `response` and `dial-failed` will carry. */
  dial(to: Endpoint, request: StreamMessage, timeoutMs: number): number {
    const dial = ++this.#dial;
    this.emit({ kind: "dial", dial, to, request, timeoutMs });
    return dial;
  }
}
