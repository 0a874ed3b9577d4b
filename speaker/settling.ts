/**
 * When everything is derived anew, and how much of it in one turn of the event loop (DESIGN D16). What settling itself brings about
 * (own metadata is news, too) is settled after it, never within it; what the budget leaves goes on after sockets were read.
 */
import type { Ip } from "../src/net/ip.ts";

/**
 * What is decided in one turn, in the unit of `Election`: two to three milliseconds with all that follows from it. What else falls into a
 * turn must fit beside it into ten: collections of young objects, and interrupts or a hypervisor, which were seen to take up to eight.
 */
const TURN_BUDGET = 300;
/**
 * Code that has seldom run takes several times as long: a turn decides so much, or this share of all that was decided before it, if that
 * is more. Among 10,000 addresses the one after the first decision is cold, too.
 */
const FIRST_BUDGET = 200;
const SHARE_OF_BEFORE = 1 / 32;

export interface SettlingPorts {
  /** All of it once, with what is left of the turn's budget; gives what is left then. */
  readonly settleOnce: (nowMs: number, budget: number, asked: ReadonlySet<Ip>) => number;
  readonly isDeciding: () => boolean;
  /** The time, and the fence is judged, as at every entry. */
  readonly enter: () => number;
  readonly afterReads: (callback: () => void) => void;
  /** The turn is over. */
  readonly settled: (nowMs: number) => void;
}

const NOTHING_ASKED: ReadonlySet<Ip> = new Set();

export class Settling {
  readonly #ports: SettlingPorts;
  readonly #turnBudget: number;
  #hasNews = false;
  #isSettling = false;
  #isGoingOn = false;
  #isClosed = false;
  #settledMs = Number.NEGATIVE_INFINITY;
  #spent = 0;

  constructor(ports: SettlingPorts, turnBudget = TURN_BUDGET) {
    this.#ports = ports;
    this.#turnBudget = turnBudget;
  }

  /** Deadlines up to this time were judged. */
  get settledMs(): number {
    return this.#settledMs;
  }

  /** If something is to be settled that was not yet. `fillsTurn`: reading the news was much already, and it is decided upon in the next turn. */
  settleNews(nowMs: number, fillsTurn: boolean): void {
    if (!this.#hasNews) return;
    if (fillsTurn) this.#settle(nowMs, 0, NOTHING_ASKED);
    else this.settle(nowMs);
  }

  /** It is settled when the event that brought the news is over. */
  newsCame(): void {
    this.#hasNews = true;
  }

  settle(nowMs: number): void {
    // Several events may be read in one turn: what is to go on anyway goes on after them, once.
    this.#settle(nowMs, this.#isGoingOn ? 0 : this.#budget, NOTHING_ASKED);
  }

  /** Only what cannot wait: whoever answers a claim by what it led a moment ago contests what it would give away in its next turn. */
  settleFor(asked: ReadonlySet<Ip>, nowMs: number): void {
    this.#settle(nowMs, 0, asked);
  }

  close(): void {
    this.#isClosed = true;
  }

  get #budget(): number {
    return Math.min(this.#turnBudget, Math.max(FIRST_BUDGET, SHARE_OF_BEFORE * this.#spent));
  }

  #settle(nowMs: number, budget: number, asked: ReadonlySet<Ip>): void {
    this.#hasNews = true;
    this.#settledMs = nowMs;
    if (this.#isSettling) return;
    this.#isSettling = true;
    let left = budget;
    while (this.#hasNews && !this.#isClosed) {
      this.#hasNews = false;
      left = this.#ports.settleOnce(nowMs, left, asked);
    }
    this.#spent += Math.min(budget, budget - left);
    this.#isSettling = false;
    this.#ports.settled(nowMs);
    if (this.#ports.isDeciding()) this.#goOnLater();
  }

  #goOnLater(): void {
    if (this.#isGoingOn) return;
    this.#isGoingOn = true;
    this.#ports.afterReads(() => {
      this.#isGoingOn = false;
      if (!this.#isClosed && this.#ports.isDeciding()) this.settle(this.#ports.enter());
    });
  }
}
