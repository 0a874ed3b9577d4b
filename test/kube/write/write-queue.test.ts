import { expect } from "chai";
import fc from "fast-check";
import { SeededRandom } from "../../../src/base/random.ts";
import { WriteQueue } from "../../../src/kube/write/write-queue.ts";

const LIMITS = { perSecond: 20, burst: 50, atOnce: 4 };

function queueOf(limits = LIMITS): WriteQueue {
  return new WriteQueue(limits, new SeededRandom(1));
}

describe("WriteQueue", () => {
  it("what was written goes on before what waits", () => {
    const queue = queueOf();
    for (const name of ["a", "b"]) queue.mark(name, 0);
    expect(queue.take(0)).to.equal("a");
    queue.progressed("a", true);
    expect(queue.take(0)).to.equal("a");
    queue.idle("a", 0);
    expect(queue.take(0)).to.equal("b");
  });

  it("a name that is under way is not taken twice", () => {
    const queue = queueOf();
    queue.mark("a", 0);
    queue.take(0);
    queue.mark("a", 0);
    expect(queue.take(0)).to.equal(undefined);
    expect(queue.nextMs(0)).to.equal(undefined);
  });

  it("looks that write nothing cost nothing", () => {
    const queue = queueOf();
    for (let index = 0; index < 1_000; index++) {
      queue.mark(`${index}`, 0);
      expect(queue.take(0)).to.equal(`${index}`);
      queue.idle(`${index}`, 0);
    }
    expect(queue.size).to.equal(0);
  });

  it("an earlier mark counts, a later one does not put off", () => {
    const queue = queueOf();
    queue.mark("a", 0, 5_000);
    queue.mark("a", 0, 1_000);
    queue.mark("a", 0, 9_000);
    expect(queue.nextMs(0)).to.equal(1_000);
    expect(queue.take(999)).to.equal(undefined);
    expect(queue.take(1_000)).to.equal("a");
  });

  it("failures: at once, then doubling from 0.25 s to 5 min; a mark does not shorten it; others go on", () => {
    const queue = queueOf();
    queue.mark("a", 0);
    let nowMs = 0;
    const delays: number[] = [];
    for (let round = 0; round < 14; round++) {
      expect(queue.take(nowMs)).to.equal("a");
      queue.failed("a", nowMs);
      queue.mark("a", nowMs);
      const nextMs = queue.nextMs(nowMs) ?? Number.NaN;
      delays.push(nextMs - nowMs);
      nowMs = nextMs;
    }
    expect(delays[0]).to.equal(0);
    expect(delays[1]).to.be.within(250, 350);
    expect(delays[5]).to.be.within(4_000, 4_100);
    expect(delays.slice(-2).every((delayMs) => delayMs >= 300_000 && delayMs < 300_200)).to.equal(true);
    queue.mark("b", nowMs - 1);
    expect(queue.take(nowMs - 1)).to.equal("b");
  });

  it("no answer: one name alone tries again, with full jitter up to 30 s; the first answer opens it for all", () => {
    const queue = queueOf();
    for (const name of ["a", "b", "c"]) queue.mark(name, 0);
    const names = [queue.take(0), queue.take(0)];
    for (const name of names) queue.postponed(name ?? "", 0);
    let nowMs = 0;
    const delays: number[] = [];
    for (let round = 0; round < 100; round++) {
      const nextMs = queue.nextMs(nowMs) ?? Number.NaN;
      delays.push(nextMs - nowMs);
      nowMs = nextMs;
      const name = queue.take(nowMs) ?? "";
      expect(queue.take(nowMs)).to.equal(undefined);
      queue.postponed(name, nowMs);
    }
    expect(delays[0]).to.be.within(1, 251);
    expect(Math.max(...delays)).to.be.within(20_000, 30_001);
    nowMs = queue.nextMs(nowMs) ?? Number.NaN;
    const name = queue.take(nowMs) ?? "";
    queue.progressed(name, true);
    expect([queue.take(nowMs), queue.take(nowMs), queue.take(nowMs)]).to.have.members(["a", "b", "c"]);
  });

  it("Retry-After is kept to", () => {
    const queue = queueOf();
    queue.mark("a", 0);
    queue.take(0);
    queue.postponed("a", 0, 7_000);
    expect(queue.nextMs(0)).to.equal(7_000);
    expect(queue.take(6_999)).to.equal(undefined);
    expect(queue.take(7_000)).to.equal("a");
  });

  it("never more than burst and rate allow, never more than four at once, and every name has its turn", () => {
    const steps = fc.array(fc.tuple(fc.nat(30), fc.nat(400), fc.constantFrom("progressed", "failed", "postponed")));
    fc.assert(
      fc.property(steps, fc.nat(1_000), (rounds, seed) => {
        const queue = new WriteQueue(LIMITS, new SeededRandom(seed));
        const waiting = new Set<string>();
        let nowMs = 0;
        let taken = 0;
        for (const [number, passMs, outcome] of rounds) {
          queue.mark(`${number}`, nowMs);
          waiting.add(`${number}`);
          nowMs += passMs;
          const names: string[] = [];
          for (let name = queue.take(nowMs); name !== undefined; name = queue.take(nowMs)) names.push(name);
          expect(names.length).to.be.at.most(LIMITS.atOnce);
          taken += names.length;
          expect(taken).to.be.at.most(LIMITS.burst + (nowMs * LIMITS.perSecond) / 1_000);
          for (const name of names) {
            if (outcome === "progressed") queue.progressed(name, true);
            else queue[outcome](name, nowMs);
          }
        }
        for (let nextMs = queue.nextMs(nowMs); nextMs !== undefined; nextMs = queue.nextMs(nowMs)) {
          nowMs = Math.max(nowMs, nextMs);
          const name = queue.take(nowMs);
          if (name === undefined) continue;
          waiting.delete(name);
          queue.idle(name, nowMs);
          nowMs += 1;
        }
        expect([...waiting]).to.deep.equal([]);
        expect(queue.size).to.equal(0);
      }),
    );
  });
});
