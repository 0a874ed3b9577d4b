/** Two announcers that hear each other late, or not at all (SIMULATION invariants 5 and 8 in small). */
import { expect } from "chai";
import fc from "fast-check";
import type { AnnouncerEffect, Duty } from "../../src/announcer/ports.ts";
import { SeededRandom } from "../../src/base/random.ts";
import { BASIS, duty, link, mac, Rig, VIP } from "./rig.ts";

interface Delivery {
  readonly atMs: number;
  readonly deliver: () => void;
}

/** Steps of one millisecond; messages take up to `maxDelayMs` and frames one step; both are lost with `lossRate`. */
class Pair {
  readonly #random: SeededRandom;
  readonly #maxDelayMs: number;
  readonly #lossRate: number;
  readonly nodes: Readonly<Record<string, Rig>> = { n1: new Rig("n1"), n2: new Rig("n2") };
  readonly #read = new Map<string, number>();
  #deliveries: Delivery[] = [];
  nowMs = 1_000;

  constructor(seed: number, maxDelayMs: number, lossRate: number) {
    this.#random = new SeededRandom(seed);
    this.#maxDelayMs = maxDelayMs;
    this.#lossRate = lossRate;
    for (const [name, rig] of Object.entries(this.nodes)) {
      rig.on({
        kind: "members",
        members: [
          { node: "n1", macs: [macOf("n1")] },
          { node: "n2", macs: [macOf("n2")] },
        ],
      });
      rig.links(link(1, { mac: macOf(name) }));
    }
  }

  assign(name: string, one: Duty | undefined): void {
    this.#rig(name).duties(...(one === undefined ? [] : [one]));
    this.#collect();
  }

  freshen(name: string, freshness: number): void {
    this.#rig(name).on({ kind: "freshness", freshness });
    this.#collect();
  }

  step(): void {
    this.nowMs++;
    for (const rig of Object.values(this.nodes)) rig.pass(this.nowMs - rig.nowMs);
    this.#collect();
    const due = this.#deliveries.filter(({ atMs }) => atMs <= this.nowMs);
    this.#deliveries = this.#deliveries.filter(({ atMs }) => atMs > this.nowMs);
    for (const { deliver } of due) deliver();
    this.#collect();
  }

  run(durationMs: number, check: () => void = () => undefined): void {
    for (let count = 0; count < durationMs; count++) {
      this.step();
      check();
    }
  }

  answering(): string[] {
    return Object.entries(this.nodes)
      .filter(([, rig]) => rig.states().some(({ answeredOn }) => answeredOn.length > 0))
      .map(([name]) => name);
  }

  framesOf(name: string): number {
    return this.#rig(name).announcer.counters().announcedFrames;
  }

  #collect(): void {
    for (const [name, rig] of Object.entries(this.nodes)) {
      for (const { effect } of rig.done.slice(this.#read.get(name) ?? 0)) this.#send(name, effect);
      this.#read.set(name, rig.done.length);
    }
  }

  #send(from: string, effect: AnnouncerEffect): void {
    if (effect.kind === "frame") {
      const other = this.#rig(from === "n1" ? "n2" : "n1");
      const bytes = effect.bytes.slice();
      this.#later(1, () => void other.receive(1, bytes));
    }
    if (effect.kind !== "message") return;
    const { message } = effect;
    for (const to of effect.to) {
      this.#later(this.#maxDelayMs, () => void this.#rig(to).on({ kind: "messages", from, messages: [message] }));
    }
  }

  #later(maxDelayMs: number, deliver: () => void): void {
    if (this.#random.float() < this.#lossRate) return;
    this.#deliveries.push({ atMs: this.nowMs + this.#random.below(maxDelayMs), deliver });
  }

  #rig(name: string): Rig {
    return this.nodes[name] ?? expect.fail(`no node ${name}`);
  }
}

function macOf(name: string) {
  return mac(name === "n1" ? "02:00:00:00:00:a1" : "02:00:00:00:00:a2");
}

const seeds = fc.nat(1_000_000);

describe("two announcers", () => {
  it("leave no moment without an answer in a planned move, whoever hears of it first, with a fifth of all messages lost", () => {
    const lags = fc.tuple(seeds, fc.nat(150), fc.nat(150), fc.boolean());
    fc.assert(
      fc.property(lags, ([seed, oldLagMs, newLagMs, hasBetterBasis]) => {
        const pair = new Pair(seed, 30, 0.2);
        const basis = { ...BASIS, hash: hasBetterBasis ? "10" : "90" };
        pair.assign("n1", duty(VIP, "lead"));
        pair.run(100);
        for (let elapsedMs = 0; elapsedMs < 1_000; elapsedMs++) {
          if (elapsedMs === oldLagMs)
            pair.assign("n1", duty(VIP, "moved", { nextLeader: { node: "n2", sendsClaims: true } }));
          if (elapsedMs === newLagMs) pair.assign("n2", duty(VIP, "lead", { previousLeader: "n1", basis }));
          pair.step();
          if (pair.answering().length === 0) expect.fail(`nobody answers ${elapsedMs} ms after the start`);
        }
        pair.run(4_000);
        expect(pair.answering()).to.deep.equal(["n2"]);
      }),
      { numRuns: 40 },
    );
  });
  it("that both think they lead agree within 300 ms and two round trips, and announce one series at most", () => {
    const cases = fc.tuple(seeds, fc.constantFrom("10", "90"), fc.nat(100));
    fc.assert(
      fc.property(cases, ([seed, hash, lagMs]) => {
        const pair = new Pair(seed, 30, 0);
        pair.assign("n1", duty(VIP, "lead", { previousLeader: "n2" }));
        pair.run(lagMs);
        pair.assign("n2", duty(VIP, "lead", { previousLeader: "n1", basis: { ...BASIS, hash } }));
        pair.run(300 + 2 * 60);
        const [winner, loser] = hash < BASIS.hash ? ["n2", "n1"] : ["n1", "n2"];
        expect(pair.answering()).to.deep.equal([winner]);
        pair.run(5_000, () => {
          if (pair.answering().join() !== winner) expect.fail(`${pair.answering().join()} answer at ${pair.nowMs}`);
        });
        expect(pair.framesOf(winner)).to.equal(10);
        expect(pair.framesOf(loser)).to.be.at.most(2);
      }),
      { numRuns: 40 },
    );
  });
  it("that both think they lead agree for good while both views get fresher all the time", () => {
    const cases = fc.tuple(seeds, fc.array(fc.tuple(fc.nat(40), fc.nat(3), fc.nat(3)), { minLength: 1 }), fc.nat(100));
    fc.assert(
      fc.property(cases, ([seed, steps, lagMs]) => {
        const pair = new Pair(seed, 30, 0);
        const freshness = { n1: 100, n2: 100 };
        let elapsedMs = 0;
        const grow = (): void => {
          const [periodMs = 0, own, theirs] = steps[elapsedMs % steps.length] ?? [];
          if (elapsedMs++ % (periodMs + 1) > 0) return;
          pair.freshen("n1", (freshness.n1 += own ?? 0));
          pair.freshen("n2", (freshness.n2 += theirs ?? 0));
        };
        pair.assign("n1", duty(VIP, "lead", { previousLeader: "n2" }));
        pair.run(lagMs, grow);
        pair.assign("n2", duty(VIP, "lead", { previousLeader: "n1", basis: { ...BASIS, hash: "90" } }));
        pair.run(300 + 2 * 60, grow);
        const [winner] = pair.answering();
        expect(pair.answering()).to.have.length(1);
        pair.run(5_000, () => {
          grow();
          if (pair.answering().join() !== winner) expect.fail(`${pair.answering().join()} answer at ${pair.nowMs}`);
        });
      }),
      { numRuns: 40 },
    );
  });
  it("do not both stay silent when the winner of a contest forgets the address", () => {
    fc.assert(
      fc.property(seeds, fc.nat(400), (seed, lagMs) => {
        const pair = new Pair(seed, 30, 0.3);
        pair.assign("n1", duty(VIP, "lead"));
        pair.run(50);
        pair.assign("n2", duty(VIP, "lead", { previousLeader: "n1", basis: { ...BASIS, hash: "90" } }));
        pair.run(lagMs);
        pair.assign("n1", undefined);
        pair.run(5_000);
        expect(pair.answering()).to.deep.equal(["n2"]);
      }),
      { numRuns: 40 },
    );
  });
});
