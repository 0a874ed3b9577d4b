/**
 * The shell of the swim machine: one transport, one timer. The driver rule (DESIGN D16): a timer callback only marks;
 * sockets are read until empty first, and then, once, deadlines are judged. A process that stood still so finds the acks
 * that waited in its sockets before it accuses anybody.
 */
import type { Clock, Timer } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Codec } from "./codec.ts";
import type { SwimCounters } from "./core.ts";
import type { GossipDrop } from "./drop.ts";
import type { FastPart } from "./fast/fast-part.ts";
import type { FastTiming } from "./fast/fast-timing.ts";
import type { Endpoint } from "./message.ts";
import type { StreamHandler, Transport, Turns } from "./ports.ts";
import { Streams } from "./streams.ts";
import { Swim } from "./swim.ts";
import type { Member, SwimCommand, SwimEffect, SwimEvent, SwimNews } from "./swim-event.ts";
import type { Timing } from "./timing.ts";

export interface GossipOptions {
  readonly name: string;
  /** What peers are told to send to; the transport's own address unless it is bound to a wildcard. */
  readonly endpoint: Endpoint;
  readonly timing: Timing;
  readonly random: Random;
  readonly codec: Codec;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly turns: Turns;
  /** Leaders are watched closely (DESIGN D7); false: memberlist's own detection alone. */
  readonly detectsFast?: boolean;
  /** Other numbers than DESIGN D7's: for simulations of what they would cost. */
  readonly fastTiming?: FastTiming;
  /** Called within the event that caused it; commands may be given from inside. */
  readonly tell: (news: SwimNews, nowMs: number) => void;
  /** All news of one event, and of the commands given from inside, have been told: what they mean together can be judged now. */
  readonly settled?: (nowMs: number, event: SwimEvent["kind"]) => void;
}

/** Counts for metrics. */
export interface GossipCounters extends SwimCounters {
  readonly drops: ReadonlyMap<GossipDrop, number>;
  readonly datagramsReceived: number;
  readonly datagramsSent: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
}

/**
 * Turns in which sockets may stay readable before deadlines are judged all the same, so that a flood cannot stop the
 * machine: at 32 datagrams a turn more than a receive buffer of 2 MiB holds when the timer marks.
 */
const MAX_TURNS = 256;

export class GossipDriver {
  readonly #options: GossipOptions;
  readonly #swim: Swim;
  readonly #streams: Streams;
  readonly #drops = new Map<GossipDrop, number>();
  readonly #afterDrain: (() => void)[] = [];
  readonly #traffic = { datagramsReceived: 0, datagramsSent: 0, bytesReceived: 0, bytesSent: 0 };
  #timer: { readonly atMs: number; readonly timer: Timer } | undefined;
  #isDraining = false;
  #readsInTurn = 0;
  #isClosed = false;
  #depth = 0;

  constructor(options: GossipOptions) {
    this.#options = options;
    this.#swim = new Swim({ ...options, overheadBytes: options.codec.overheadBytes });
    this.#streams = new Streams({
      ...options,
      handle: (event) => this.#handle(event),
      read: () => void this.#readsInTurn++,
      drop: (reason) => this.#count(reason),
      afterDrain: (callback) => this.afterDrain(callback),
      requestTimeoutMs: options.timing.tcpTimeoutMs,
    });
  }

  /** Listens; nothing is answered before the command `open`. */
  start(): void {
    this.#options.transport.listen({
      datagram: (from, bytes) => this.#datagram(from, bytes),
      sendFailed: (to) => {
        this.#readsInTurn++;
        this.#handle({ kind: "send-failed", to });
      },
      accepted: (stream): StreamHandler => this.#streams.accept(stream),
    });
  }

  command(command: SwimCommand): void {
    this.#handle(command);
  }

  members(): readonly Member[] {
    return this.#swim.members();
  }

  get self(): Member {
    return this.#swim.self;
  }

  healthScore(): number {
    return this.#swim.healthScore();
  }

  /** The fast detector; undefined when it is off. */
  get fast(): FastPart | undefined {
    return this.#swim.fast;
  }

  /** Members that are alive by hearsay, and do not count before they have answered us. */
  get unproven(): ReadonlySet<string> {
    return this.#swim.unproven;
  }

  counters(): GossipCounters {
    return { ...this.#swim.counters(), ...this.#traffic, drops: this.#drops };
  }

  /** Calls back once what is readable now has been read and handled: the fence drains gossip this way (DESIGN D7). */
  afterDrain(callback: () => void): void {
    this.#afterDrain.push(callback);
    this.#drain();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.timer.cancel();
    this.#streams.close();
    await this.#options.transport.close();
  }

  #datagram(from: Endpoint, bytes: Uint8Array): void {
    this.#readsInTurn++;
    this.#traffic.datagramsReceived++;
    this.#traffic.bytesReceived += bytes.length;
    const { messages, drops } = this.#options.codec.openDatagram(bytes);
    for (const reason of drops) this.#count(reason);
    if (messages.length > 0) this.#handle({ kind: "datagram", from, messages });
  }

  #handle(event: SwimEvent): void {
    if (this.#isClosed) return;
    const nowMs = this.#options.clock.nowMs();
    this.#depth++;
    for (const effect of this.#swim.handle(event, nowMs)) this.#perform(effect, nowMs);
    this.#depth--;
    if (this.#depth === 0) this.#options.settled?.(nowMs, event.kind);
    this.#arm();
  }

  #perform(effect: SwimEffect, nowMs: number): void {
    switch (effect.kind) {
      case "send-datagram": {
        const bytes = this.#options.codec.sealDatagram(effect.parts, effect.withCrc);
        this.#traffic.datagramsSent++;
        this.#traffic.bytesSent += bytes.length;
        this.#options.transport.sendDatagram(effect.to, bytes);
        return;
      }
      case "dial":
        return this.#streams.dial(effect);
      case "answer":
        return this.#streams.answer(effect.connection, effect.message);
      case "close":
        return this.#streams.end(effect.connection);
      case "member-changed":
      case "user-message":
      case "user-state":
      case "push-pull-done":
      case "first-contact":
      case "heard-again":
      case "ack-view":
      case "ask-neighbour":
      case "unwatched":
      case "proved-alive":
      case "name-conflict":
      case "refuted":
      case "left":
        return this.#options.tell(effect, nowMs);
    }
  }

  /** Keeps one timer, at the machine's next deadline. */
  #arm(): void {
    const atMs = this.#swim.nextDeadlineMs();
    if (this.#isClosed || this.#isDraining || this.#timer?.atMs === atMs) return;
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    if (atMs === undefined) return;
    const delayMs = Math.max(0, atMs - this.#options.clock.nowMs());
    const timer = this.#options.clock.schedule(delayMs, () => {
      this.#timer = undefined;
      this.#drain();
    });
    this.#timer = { atMs, timer };
  }

  /** Turns of the event loop until one brings nothing to read; then, and only then, deadlines are judged. */
  #drain(): void {
    if (this.#isDraining || this.#isClosed) return;
    this.#isDraining = true;
    this.#turn(MAX_TURNS);
  }

  #turn(turnsLeft: number): void {
    this.#readsInTurn = 0;
    this.#options.turns.afterReads(() => {
      if (this.#isClosed) return;
      const hasMore = this.#readsInTurn > 0 || this.#options.transport.hasUnread === true || this.#streams.hasUnread;
      if (hasMore && turnsLeft > 1) return this.#turn(turnsLeft - 1);
      this.#isDraining = false;
      for (const callback of this.#afterDrain.splice(0)) callback();
      const deadlineMs = this.#swim.nextDeadlineMs();
      if (deadlineMs !== undefined && deadlineMs <= this.#options.clock.nowMs()) this.#handle({ kind: "tick" });
      else this.#arm();
    });
  }

  #count(reason: GossipDrop): void {
    this.#drops.set(reason, (this.#drops.get(reason) ?? 0) + 1);
  }
}
