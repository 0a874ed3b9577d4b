import { expect } from "chai";
import fc from "fast-check";
import {
  initialLease,
  isHolder,
  type LeaseEffect,
  type LeaseEvent,
  type LeaseState,
  leaseDeadlineMs,
  stepLease,
} from "../../../src/kube/lease/lease.ts";
import { buildLease, formatMicroTime, type LeaseObject, readLease } from "../../../src/kube/lease/lease-object.ts";

const WALL_MS = Date.parse("2026-01-02T03:04:05.678Z");

class Candidate {
  state: LeaseState;

  constructor(identity: string) {
    this.state = initialLease(identity);
  }

  /** What it does about it. */
  step(event: LeaseEvent, nowMs: number): readonly LeaseEffect[] {
    const { state, effects } = stepLease(this.state, event, { nowMs, wallMs: WALL_MS + nowMs });
    this.state = state;
    return effects;
  }
}

function leaseOf(holder: string, resourceVersion = "7", renewedAt = "r1"): LeaseObject {
  return { resourceVersion, record: { holder, durationSeconds: 15, renewedAt, acquiredAt: "a", transitions: 3 } };
}

/** Holds since 0. */
function holding(): Candidate {
  const one = new Candidate("a_1");
  one.step({ kind: "observed", lease: undefined }, 0);
  one.step({ kind: "written", lease: leaseOf("a_1", "8") }, 10);
  return one;
}

describe("the Lease of the controllers", () => {
  it("is created when there is none, with six digits after the second", () => {
    const one = new Candidate("a_1");
    const renewedAt = "2026-01-02T03:04:05.678000Z";
    expect(one.step({ kind: "observed", lease: undefined }, 0)).to.deep.equal([
      {
        kind: "write",
        record: { holder: "a_1", durationSeconds: 15, acquiredAt: renewedAt, renewedAt, transitions: 0 },
      },
    ]);
    expect(isHolder(one.state, 5)).to.equal(false);
    one.step({ kind: "written", lease: leaseOf("a_1") }, 10);
    expect(isHolder(one.state, 10)).to.equal(true);
  });

  it("does nothing before it was read", () => {
    const one = new Candidate("a_1");
    expect(one.step({ kind: "tick" }, 60_000)).to.deep.equal([]);
    expect(leaseDeadlineMs(one.state)).to.equal(undefined);
  });

  it("is left to whoever holds it until its text stood still for 15 s", () => {
    const one = new Candidate("a_1");
    one.step({ kind: "observed", lease: leaseOf("b_1", "7", "r1") }, 1_000);
    one.step({ kind: "observed", lease: leaseOf("b_1", "8", "r2") }, 9_000);
    // Read again, and still the same: that is no renewal.
    one.step({ kind: "observed", lease: leaseOf("b_1", "8", "r2") }, 20_000);
    expect(leaseDeadlineMs(one.state)).to.equal(24_000);
    expect(one.step({ kind: "tick" }, 23_999)).to.deep.equal([]);
    const [effect] = one.step({ kind: "tick" }, 24_000);
    expect(effect).to.deep.include({ kind: "write", resourceVersion: "8" });
    expect(effect?.kind === "write" && effect.record).to.include({ holder: "a_1", transitions: 4 });
  });

  it("is taken at once when it was given back", () => {
    const one = new Candidate("a_1");
    one.step({ kind: "observed", lease: leaseOf("b_1") }, 0);
    expect(one.step({ kind: "observed", lease: leaseOf("", "9") }, 1_000)).to.have.lengthOf(1);
  });

  it("is renewed every 2 s, and not counted as another transition", () => {
    const one = holding();
    expect(one.step({ kind: "tick" }, 1_999)).to.deep.equal([]);
    const [effect] = one.step({ kind: "tick" }, 2_000);
    expect(effect?.kind === "write" && effect.record).to.include({ holder: "a_1", transitions: 3, acquiredAt: "a" });
  });

  it("is over for its holder 10 s after the renewal that succeeded last was sent", () => {
    const one = holding();
    one.step({ kind: "tick" }, 2_000);
    one.step({ kind: "not-written", why: "failed" }, 6_000);
    expect(isHolder(one.state, 9_999)).to.equal(true);
    expect(isHolder(one.state, 10_000)).to.equal(false);
    expect(leaseDeadlineMs(one.state)).to.equal(8_000);
  });

  it("counts an answer that comes late from when its request was sent", () => {
    const one = holding();
    one.step({ kind: "tick" }, 2_000);
    one.step({ kind: "written", lease: leaseOf("a_1", "9", "r2") }, 11_000);
    expect(isHolder(one.state, 11_999)).to.equal(true);
    expect(isHolder(one.state, 12_000)).to.equal(false);
  });

  for (const why of ["conflict", "absent"] as const) {
    it(`is lost at once when a renewal is answered with ${why}, and read anew`, () => {
      const one = holding();
      one.step({ kind: "tick" }, 2_000);
      expect(one.step({ kind: "not-written", why }, 2_100)).to.deep.equal([{ kind: "read" }]);
      expect(isHolder(one.state, 2_100)).to.equal(false);
    });
  }

  it("is lost at once when somebody else is seen to hold it, but not by what a watch says late", () => {
    const one = holding();
    one.step({ kind: "observed", lease: leaseOf("b_1", "7") }, 500);
    expect(isHolder(one.state, 500)).to.equal(true);
    one.step({ kind: "observed", lease: leaseOf("b_1", "9") }, 600);
    expect(isHolder(one.state, 600)).to.equal(false);
  });

  it("is given back with an empty holder, and no more is done in its name from then on", () => {
    const one = holding();
    const [effect] = one.step({ kind: "release" }, 3_000);
    expect(effect?.kind === "write" && effect.record).to.include({ holder: "", durationSeconds: 1 });
    expect(isHolder(one.state, 3_000)).to.equal(false);
    expect(one.step({ kind: "written", lease: leaseOf("", "9") }, 3_010)).to.deep.equal([]);
    expect(one.step({ kind: "tick" }, 60_000)).to.deep.equal([]);
  });

  it("is given back after the renewal that is out was answered", () => {
    const one = holding();
    one.step({ kind: "tick" }, 2_000);
    expect(one.step({ kind: "release" }, 2_100)).to.deep.equal([]);
    const [effect] = one.step({ kind: "written", lease: leaseOf("a_1", "9", "r2") }, 2_200);
    expect(effect?.kind === "write" && effect.record.holder).to.equal("");
  });

  it("is read from whatever stands there", () => {
    const object = leaseOf("a_1");
    expect(readLease(buildLease({ namespace: "n", name: "l" }, object.record, "7"))).to.deep.equal(object);
    for (const nothing of [undefined, null, "x", {}, { metadata: { resourceVersion: 7 } }]) {
      expect(readLease(nothing)).to.equal(undefined);
    }
    expect(readLease({ metadata: { resourceVersion: "1" }, spec: { holderIdentity: 7 } })?.record).to.deep.equal({
      holder: "",
      durationSeconds: 0,
      transitions: 0,
    });
    expect(formatMicroTime(WALL_MS)).to.equal("2026-01-02T03:04:05.678000Z");
  });
});

/** An API server that takes each request and each answer as late as it is told, or loses them, and refuses old versions. */
class SlowServer {
  #version = 0;
  #stored: LeaseObject | undefined;
  #post: { readonly atMs: number; readonly run: () => void }[] = [];
  readonly candidates: readonly Candidate[];
  readonly #delays: Iterator<number, undefined>;
  /** No event reaches it before. */
  readonly frozenUntilMs = new Map<Candidate, number>();
  nowMs = 0;

  constructor(candidates: readonly Candidate[], delays: Iterator<number, undefined>) {
    this.candidates = candidates;
    this.#delays = delays;
  }

  tell(candidate: Candidate, event: LeaseEvent): void {
    for (const effect of candidate.step(event, this.nowMs)) this.#send(candidate, effect);
  }

  #later(run: () => void): void {
    this.#post.push({ atMs: this.nowMs + (this.#delays.next().value ?? 0), run });
  }

  #answer(candidate: Candidate, event: LeaseEvent): void {
    this.#later(() => {
      this.tell(candidate, event);
    });
  }

  #send(candidate: Candidate, effect: LeaseEffect): void {
    this.#later(() => {
      if (effect.kind === "read") this.#answer(candidate, { kind: "observed", lease: this.#stored });
      else if (effect.resourceVersion !== this.#stored?.resourceVersion)
        this.#answer(candidate, { kind: "not-written", why: "conflict" });
      else {
        this.#version += 1;
        const lease = { resourceVersion: String(this.#version), record: effect.record };
        this.#stored = lease;
        this.#answer(candidate, { kind: "written", lease });
        for (const other of this.candidates) if (other !== candidate) this.#answer(other, { kind: "observed", lease });
      }
    });
  }

  /** One step of 100 ms. */
  run(): void {
    this.nowMs += 100;
    const due = this.#post.filter(({ atMs }) => atMs <= this.nowMs);
    this.#post = this.#post.filter(({ atMs }) => atMs > this.nowMs);
    for (const { run } of due) run();
    for (const candidate of this.candidates) {
      if ((this.frozenUntilMs.get(candidate) ?? 0) > this.nowMs) continue;
      const deadlineMs = leaseDeadlineMs(candidate.state);
      if (deadlineMs !== undefined && deadlineMs <= this.nowMs) this.tell(candidate, { kind: "tick" });
    }
  }
}

describe("the Lease of the controllers, whatever is late", () => {
  const scenes = fc.record({
    delays: fc.array(fc.oneof(fc.nat(200), fc.nat(200), fc.nat(12_000)), { minLength: 20, maxLength: 200 }),
    frozen: fc.array(fc.record({ who: fc.nat(2), atMs: fc.nat(100_000), forMs: fc.nat(40_000) }), { maxLength: 5 }),
  });

  it("has never two holders, and somebody holds it again when all is well", () => {
    fc.assert(
      fc.property(scenes, ({ delays, frozen }) => {
        const candidates = ["a_1", "b_2", "c_3"].map((name) => new Candidate(name));
        const server = new SlowServer(candidates, delays.values());
        for (const candidate of candidates) server.tell(candidate, { kind: "observed", lease: undefined });
        for (let step = 0; step < 1_400; step++) {
          for (const { who, atMs, forMs } of frozen) {
            const candidate = candidates[who];
            if (candidate && Math.floor(atMs / 100) === step) server.frozenUntilMs.set(candidate, server.nowMs + forMs);
          }
          server.run();
          const holders = candidates.filter(({ state }) => isHolder(state, server.nowMs));
          expect(holders.map(({ state }) => state.identity)).to.have.lengthOf.below(2);
        }
        // By now the list of delays is used up.
        expect(candidates.filter(({ state }) => isHolder(state, server.nowMs))).to.have.lengthOf(1);
      }),
      { numRuns: 40 },
    );
  }).timeout(60_000);
});
