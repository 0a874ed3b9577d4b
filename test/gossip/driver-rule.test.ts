/**
 * Invariant 28: no deadline is judged before sockets that were readable at that turn are empty. The fake below turns as
 * libuv does: due timers, then a bounded read of each readable socket, then the check phase (setImmediate).
 */
import { expect } from "chai";
import fc from "fast-check";
import type { Clock, Timer } from "../../src/base/clock.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { createCodec } from "../../src/gossip/codec.ts";
import { GossipDriver } from "../../src/gossip/driver.ts";
import type { Endpoint } from "../../src/gossip/message.ts";
import { encodeMessage } from "../../src/gossip/message-codec.ts";
import type { GossipStream, Transport, TransportHandler, Turns } from "../../src/gossip/ports.ts";
import { suspicionLimits, suspicionMs } from "../../src/gossip/suspicion.ts";
import type { SwimNews } from "../../src/gossip/swim-event.ts";
import { TIMING_PRESETS } from "../../src/gossip/timing.ts";
import { aliveOf, endpointOf, ME, pushPullOf, recordOf } from "./single-swim.ts";

const READS_PER_TURN = 32;
const PLAIN = { ...TIMING_PRESETS.lan, compresses: false };

const CODEC = createCodec({ label: "", timing: PLAIN, random: new SeededRandom(1) });
/** A flood is cut off after this many turns, or the test would never end; the driver gives up before. */
const MAX_TURNS = 300;

interface Waiting {
  readonly arrivedMs: number;
  readonly bytes: Uint8Array;
}

class FakeStream implements GossipStream {
  readonly remote = endpointOf(2);

  write(): void {}

  close(): void {}
}

/** An event loop, its clock and its one socket, all of which may stand still. */
class FakeLoop implements Clock, Turns, Transport {
  readonly local = ME;
  readonly socket: Waiting[] = [];
  /** What peers say on connections of their own, each with all that it says. */
  readonly calls: Uint8Array[] = [];
  readonly sent: { readonly to: Endpoint; readonly bytes: Uint8Array }[] = [];
  #nowMs = 0;
  #timers: { readonly atMs: number; callback: () => void; isOver: boolean }[] = [];
  #checks: (() => void)[] = [];
  #handler: TransportHandler | undefined;

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#nowMs;
  }

  schedule(delayMs: number, callback: () => void): Timer {
    const timer = { atMs: this.#nowMs + delayMs, callback, isOver: false };
    this.#timers.push(timer);
    return { cancel: () => void (timer.isOver = true) };
  }

  afterReads(callback: () => void): void {
    this.#checks.push(callback);
  }

  listen(handler: TransportHandler): void {
    this.#handler = handler;
  }

  sendDatagram(to: Endpoint, bytes: Uint8Array): void {
    this.sent.push({ to, bytes });
  }

  dial(): GossipStream {
    return new FakeStream();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Time passes; the process may be anywhere, or stopped. */
  pass(durationMs: number): void {
    this.#nowMs += durationMs;
  }

  arrive(bytes: Uint8Array): void {
    this.socket.push({ arrivedMs: this.#nowMs, bytes });
  }

  /** Turns until nothing is due. */
  turn(): void {
    for (let turns = 0; turns < MAX_TURNS; turns++) {
      const due = this.#timers.filter(({ atMs, isOver }) => !isOver && atMs <= this.#nowMs);
      this.#timers = this.#timers.filter(({ atMs, isOver }) => !isOver && atMs > this.#nowMs);
      for (const { callback } of due) callback();
      const read = this.socket.splice(0, READS_PER_TURN);
      for (const { bytes } of read) this.#handler?.datagram(endpointOf(2), bytes);
      for (const bytes of this.calls.splice(0)) this.#handler?.accepted(new FakeStream()).data(bytes);
      const checks = this.#checks.splice(0);
      for (const check of checks) check();
      if (due.length === 0 && read.length === 0 && checks.length === 0) return;
    }
  }

  /** Sequence number of the last ping to n2. */
  lastPing(): number {
    for (const { bytes } of this.sent.toReversed()) {
      for (const message of CODEC.openDatagram(bytes).messages) if (message.kind === "ping") return message.seqNo;
    }
    return 0;
  }
}

function started(seed: number): { readonly loop: FakeLoop; readonly driver: GossipDriver; readonly told: SwimNews[] } {
  const loop = new FakeLoop();
  const random = new SeededRandom(seed);
  const told: SwimNews[] = [];
  const driver = new GossipDriver({
    name: "n1",
    endpoint: ME,
    timing: PLAIN,
    random,
    codec: CODEC,
    transport: loop,
    clock: loop,
    turns: loop,
    tell: (news) => told.push(news),
  });
  driver.start();
  driver.command({ kind: "open" });
  loop.arrive(encodeMessage(aliveOf(2)));
  loop.turn();
  return { loop, driver, told };
}

const NOISE = encodeMessage({ kind: "user", payload: Uint8Array.of(1) });
const isSuspected = (told: readonly SwimNews[]) =>
  told.some((news) => news.kind === "member-changed" && news.change === "suspected");

describe("the driver rule", () => {
  it("an ack that waits in the socket behind any backlog is read before its deadline is judged", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1_000 }),
        fc.integer({ min: 0, max: 600 }),
        // When the process goes on after the ping: on time, late within the tolerance, or after a standstill.
        fc.integer({ min: 0, max: 1_240 }),
        (seed, backlog, standstillMs) => {
          const { loop, told } = started(seed);
          while (loop.lastPing() === 0) {
            loop.pass(1);
            loop.turn();
          }
          // The whole backlog and the ack arrive while the process does not run.
          loop.pass(1);
          for (let index = 0; index < backlog; index++) loop.arrive(NOISE);
          loop.arrive(encodeMessage({ kind: "ack", seqNo: loop.lastPing(), payload: new Uint8Array(0) }));
          loop.pass(standstillMs);
          loop.turn();
          expect(loop.socket).to.have.length(0);
          // No one was asked for help, and nobody is suspected, however late the reading was.
          expect(isSuspected(told)).to.equal(false);
          loop.pass(1);
          loop.turn();
          expect(isSuspected(told)).to.equal(false);
        },
      ),
      { numRuns: 20 },
    );
  });

  it("each push/pull is handled in a turn of its own, after the one that read it", () => {
    const { loop, driver } = started(1);
    for (const number of [3, 4]) loop.calls.push(...CODEC.sealStream(pushPullOf(recordOf(number)), true));
    const membersByTurn: number[] = [];
    const watch = (): void => {
      if (membersByTurn.push(driver.members().length) < 4) loop.afterReads(watch);
    };
    loop.afterReads(watch);
    loop.turn();
    // As each turn's reads are done, before anything else of its end.
    expect(membersByTurn).to.deep.equal([2, 2, 3, 4]);
  });

  it("a word that a push/pull brought is heard before the suspicion that it refutes is judged", () => {
    const { loop, driver, told } = started(1);
    const isDead = () => told.some((news) => news.kind === "member-changed" && news.change === "dead");
    while (!isSuspected(told)) {
      loop.pass(50);
      loop.turn();
    }
    const { sinceMs } = driver.members().find(({ name }) => name === "n2") ?? { sinceMs: 0 };
    const deadlineMs = sinceMs + suspicionMs(suspicionLimits(PLAIN, 2), 0);
    while (loop.nowMs() < deadlineMs - 50) {
      loop.pass(50);
      loop.turn();
    }
    loop.pass(deadlineMs - loop.nowMs());
    loop.calls.push(...CODEC.sealStream(pushPullOf({ ...recordOf(2), incarnation: 5 }), true));
    loop.turn();
    expect(isDead()).to.equal(false);
    expect(driver.members().find(({ name }) => name === "n2")?.state).to.equal("alive");
  });

  it("without an ack the deadline is judged, though strangers keep the socket readable for ever", () => {
    const { loop, told } = started(7);
    const flood = (): void => {
      loop.arrive(NOISE);
      loop.afterReads(flood);
    };
    flood();
    for (let step = 0; step < 12 && !isSuspected(told); step++) {
      loop.pass(240);
      loop.turn();
    }
    expect(isSuspected(told)).to.equal(true);
  });

  it("every event carries the time at which it was read", () => {
    const { loop, driver } = started(1);
    loop.arrive(encodeMessage(aliveOf(3)));
    loop.pass(123);
    loop.turn();
    expect(driver.members().find(({ name }) => name === "n3")?.sinceMs).to.equal(123);
  });

  it("afterDrain calls back when what was readable has been handled, and not before", () => {
    const { loop, driver } = started(1);
    for (let index = 0; index < 100; index++) loop.arrive(NOISE);
    loop.arrive(encodeMessage(aliveOf(4)));
    const seen: number[] = [];
    driver.afterDrain(() => seen.push(driver.members().length));
    expect(seen).to.deep.equal([]);
    loop.turn();
    expect(seen).to.deep.equal([3]);
  });
});
