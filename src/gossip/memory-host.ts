/**
 * One process on one machine of the memory network: its clock, its event loop's turns, and what happens to both when it
 * stands still. A thawed process runs its late timers first and then reads, 32 datagrams a turn, as libuv does.
 */
import type { Clock, Timer, VirtualClock } from "../base/clock.ts";
import type { Turns } from "./ports.ts";

/** libuv reads a datagram socket at most this often before it turns to others. */
const READS_PER_TURN = 32;
/** What a socket's buffer holds; the kernel drops what comes beyond it. */
const MAX_INBOX = 4_096;

export class MemoryHost implements Clock, Turns {
  readonly #clock: VirtualClock;
  readonly #lateTimers: (() => void)[] = [];
  #inbox: (() => void)[] = [];
  #afterReads: (() => void)[] = [];
  readonly #whenKilled: (() => void)[] = [];
  #state: "running" | "frozen" | "dead" = "running";

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  get isDead(): boolean {
    return this.#state === "dead";
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  wallMs(): number {
    return this.#clock.wallMs();
  }

  schedule(delayMs: number, callback: () => void): Timer {
    let isCancelled = false;
    const run = (): void => {
      if (!isCancelled) callback();
    };
    const timer = this.#clock.schedule(delayMs, () => {
      if (this.#state === "running") run();
      else if (this.#state === "frozen") this.#lateTimers.push(run);
    });
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }

  afterReads(callback: () => void): void {
    if (this.#afterReads.push(callback) === 1) this.#clock.schedule(0, () => this.#endTurn());
  }

  /** What a socket of this process reads. */
  deliver(read: () => void): void {
    if (this.#state === "running" && this.#inbox.length === 0) read();
    else if (this.#state !== "dead" && this.#inbox.length < MAX_INBOX) this.#inbox.push(read);
  }

  /** The process stands still, as under SIGSTOP; its kernel goes on accepting connections and filling buffers. */
  freeze(): void {
    if (this.#state === "running") this.#state = "frozen";
  }

  thaw(keepsInbox = true): void {
    if (this.#state !== "frozen") return;
    this.#state = "running";
    if (!keepsInbox) this.#inbox = [];
    // In this order, because an event loop looks at its timers before it looks at its sockets.
    for (const timer of this.#lateTimers.splice(0)) timer();
    if (this.#inbox.length > 0) this.#clock.schedule(0, () => this.#turn());
  }

  /** What the kernel does when the process ends. */
  whenKilled(callback: () => void): void {
    this.#whenKilled.push(callback);
  }

  /** The process ends; nothing of it runs again. */
  kill(): void {
    if (this.isDead) return;
    this.#state = "dead";
    for (const callback of this.#whenKilled) callback();
    this.#inbox = [];
    this.#afterReads = [];
    this.#lateTimers.length = 0;
  }

  #turn(): void {
    if (this.#state !== "running") return;
    for (const read of this.#inbox.splice(0, READS_PER_TURN)) read();
    this.#runAfterReads();
    if (this.#inbox.length > 0) this.#clock.schedule(0, () => this.#turn());
  }

  #endTurn(): void {
    // While a backlog is read, the turns are the backlog's.
    if (this.#state === "running" && this.#inbox.length === 0) this.#runAfterReads();
  }

  #runAfterReads(): void {
    const callbacks = this.#afterReads;
    this.#afterReads = [];
    for (const callback of callbacks) callback();
  }
}
