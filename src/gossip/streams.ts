/** The driver's connections: one request and one answer each, with a time limit, and then they are closed. */
import type { Clock, Timer } from "../base/clock.ts";
import type { Codec } from "./codec.ts";
import type { GossipDrop } from "./drop.ts";
import type { StreamMessage } from "./message.ts";
import type { GossipStream, StreamHandler, Transport, Turns } from "./ports.ts";
import { errorTextOf } from "./stream.ts";
import type { DialFailure, SwimEffect, SwimEvent } from "./swim-event.ts";

/** memberlist serves as many push/pulls at a time (net.go:314). */
const MAX_ACCEPTED = 127;

export interface StreamsOptions {
  readonly codec: Codec;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly turns: Turns;
  readonly handle: (event: SwimEvent) => void;
  /** Something was read. */
  readonly read: () => void;
  readonly drop: (reason: GossipDrop) => void;
  /** Calls back once sockets are empty: no time limit is judged before. */
  readonly afterDrain: (callback: () => void) => void;
  /** From accept to the last byte of the request. */
  readonly requestTimeoutMs: number;
}

interface Accepted {
  readonly stream: GossipStream;
  readonly timer: Timer;
}

export class Streams {
  readonly #options: StreamsOptions;
  readonly #accepted = new Map<number, Accepted>();
  readonly #dialled = new Set<{ end(): void }>();
  /** Push/pulls that were read and wait for their turn. */
  readonly #unread: SwimEvent[] = [];
  #connection = 0;

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  /** Something has been read that is handled in a later turn only. */
  get hasUnread(): boolean {
    return this.#unread.length > 0;
  }

  accept(stream: GossipStream): StreamHandler {
    this.#options.read();
    if (this.#accepted.size >= MAX_ACCEPTED) {
      stream.close();
      return { data: () => {}, closed: () => {} };
    }
    const connection = ++this.#connection;
    const timer = this.#after(this.#options.requestTimeoutMs, () => this.end(connection));
    this.#accepted.set(connection, { stream, timer });
    const reader = this.#options.codec.openStream(false);
    return {
      data: (bytes) => {
        this.#options.read();
        if (!this.#accepted.has(connection)) return;
        const step = reader.push(bytes);
        if (step.kind === "message") {
          this.#hand({ kind: "request", connection, from: stream.remote, message: step.message });
        } else if (step.kind === "drop") {
          this.#options.drop(step.reason);
          this.answer(connection, { kind: "error", text: errorTextOf(step.reason) });
        }
      },
      closed: () => {
        this.#options.read();
        this.end(connection);
      },
    };
  }

  /** The answer, and the end of the connection: the dialer closes as well, but we do not rely on it. */
  answer(connection: number, message: StreamMessage): void {
    const accepted = this.#accepted.get(connection);
    if (accepted === undefined) return;
    for (const bytes of this.#options.codec.sealStream(message, false)) accepted.stream.write(bytes);
    this.end(connection);
  }

  end(connection: number): void {
    const accepted = this.#accepted.get(connection);
    if (accepted === undefined) return;
    this.#accepted.delete(connection);
    accepted.timer.cancel();
    accepted.stream.close();
  }

  dial({ dial, to, request, timeoutMs }: Extract<SwimEffect, { kind: "dial" }>): void {
    const { codec, transport, handle, read, drop } = this.#options;
    const reader = codec.openStream(true);
    let isOver = false;
    // Filled in below: a handler may be called before `dial` returns.
    let stream: GossipStream | undefined;
    const over = { end: () => finish() };
    const finish = (event?: SwimEvent): void => {
      if (isOver) return;
      isOver = true;
      timer.cancel();
      this.#dialled.delete(over);
      stream?.close();
      if (event !== undefined) this.#hand(event);
    };
    const fail = (failure: DialFailure): void => finish({ kind: "dial-failed", dial, failure });
    const timer = this.#after(timeoutMs, () => fail("silent"));
    this.#dialled.add(over);
    stream = transport.dial(to, {
      // Not before: a state of many members need not be written for an address where nobody listens.
      opened: () => {
        read();
        if (isOver) return;
        for (const bytes of codec.sealStream(request, true)) stream?.write(bytes);
        handle({ kind: "dial-opened", dial });
      },
      data: (bytes) => {
        read();
        if (isOver) return;
        const step = reader.push(bytes);
        if (step.kind === "message") return finish({ kind: "response", dial, message: step.message });
        if (step.kind === "need-more") return;
        drop(step.reason);
        fail("undecodable");
      },
      closed: (failure) => {
        read();
        fail(failure);
      },
    });
    if (isOver) stream.close();
  }

  /**
   * All that a peer knows is much to open, and much to merge and to decide upon: each push/pull is handled in a turn of its own. Nothing
   * is late by that, for no deadline is judged before.
   */
  #hand(event: SwimEvent): void {
    const { handle, turns } = this.#options;
    if (!("message" in event) || event.message.kind !== "push-pull") return handle(event);
    // Reads are before the end of a turn: this one's is waited for first.
    if (this.#unread.push(event) === 1) turns.afterReads(() => this.#handleNext());
  }

  #handleNext(): void {
    const { handle, read, turns } = this.#options;
    turns.afterReads(() => {
      const event = this.#unread.shift();
      if (event === undefined) return;
      read();
      handle(event);
      if (this.hasUnread) this.#handleNext();
    });
  }

  #after(delayMs: number, callback: () => void): Timer {
    return this.#options.clock.schedule(delayMs, () => this.#options.afterDrain(callback));
  }

  close(): void {
    this.#unread.length = 0;
    for (const connection of this.#accepted.keys()) this.end(connection);
    for (const dialled of this.#dialled) dialled.end();
  }
}
