import { expect } from "chai";
import { Gates } from "../../controller/gates.ts";
import { Leadership } from "../../controller/leadership.ts";
import { VirtualClock } from "../../src/base/clock.ts";

class Candidate {
  readonly clock = new VirtualClock(0);
  readonly deeds: string[] = [];
  closedBecause: string | undefined = "nobody holds the Lease yet";
  isFresh = false;
  term = "c1_ab/4";
  readonly leadership: Leadership;

  constructor(settleMs = 0) {
    const gates = new Gates();
    gates.add({ closedBecause: () => this.closedBecause });
    this.leadership = new Leadership({
      gates,
      clock: this.clock,
      relist: () => {
        this.isFresh = false;
        this.deeds.push("relist");
      },
      isFresh: () => this.isFresh,
      tell: (event) => this.deeds.push(event.kind === "lead" ? `lead ${event.fence}` : event.kind),
      stopWriting: () => this.deeds.push("stop writing"),
      term: () => this.term,
      settleMs,
    });
  }

  open(): void {
    this.closedBecause = undefined;
    this.leadership.check();
  }

  shut(): void {
    this.closedBecause = "c2 holds the Lease";
    this.leadership.check();
  }

  read(): void {
    this.isFresh = true;
    this.leadership.check();
  }

  /** What was done since the last call. */
  done(): readonly string[] {
    return this.deeds.splice(0);
  }
}

describe("Leadership", () => {
  it("reads everything anew after the last gate has opened, and leads when that is read: what was read before does not count", () => {
    const candidate = new Candidate();
    candidate.read();
    expect([candidate.leadership.state, candidate.done()]).to.deep.equal(["standing-by", []]);
    candidate.open();
    expect([candidate.leadership.state, candidate.done()]).to.deep.equal(["reading-anew", ["relist"]]);
    candidate.leadership.check();
    expect(candidate.done()).to.deep.equal([]);
    candidate.read();
    expect([candidate.leadership.state, candidate.done()]).to.deep.equal(["allocating", ["lead c1_ab/4"]]);
    candidate.read();
    expect(candidate.done()).to.deep.equal([]);
  });

  it("stops writing before it stands by, when a gate shuts", () => {
    const candidate = new Candidate();
    candidate.open();
    candidate.read();
    candidate.done();
    candidate.shut();
    expect([candidate.leadership.state, candidate.done()]).to.deep.equal(["standing-by", ["stop writing", "stand-by"]]);
    candidate.shut();
    expect(candidate.done()).to.deep.equal([]);
  });

  it("has nothing to stop when the gate shuts while it reads", () => {
    const candidate = new Candidate();
    candidate.open();
    candidate.shut();
    candidate.read();
    expect([candidate.leadership.state, candidate.done()]).to.deep.equal(["standing-by", ["relist"]]);
  });

  it("has a name of its own for each turn of one term, so that each fence changes what it is written on", () => {
    const candidate = new Candidate();
    const lead = (): readonly string[] => {
      candidate.open();
      candidate.read();
      candidate.shut();
      return candidate.done().filter((deed) => deed.startsWith("lead"));
    };
    expect([lead(), lead()]).to.deep.equal([["lead c1_ab/4"], ["lead c1_ab/4.2"]]);
    candidate.term = "c1_ab/6";
    expect(lead()).to.deep.equal(["lead c1_ab/6"]);
  });

  it("without conditions waits for what a former holder sent to arrive, and reads only then", () => {
    const candidate = new Candidate(5_000);
    candidate.open();
    candidate.read();
    candidate.clock.advance(4_999);
    expect(candidate.done()).to.deep.equal([]);
    candidate.clock.advance(1);
    expect([candidate.leadership.state, candidate.done()]).to.deep.equal(["reading-anew", ["relist"]]);
    candidate.read();
    expect(candidate.done()).to.deep.equal(["lead c1_ab/4"]);
  });

  it("begins to wait anew when the gate was shut meanwhile", () => {
    const candidate = new Candidate(5_000);
    candidate.open();
    candidate.clock.advance(3_000);
    candidate.shut();
    candidate.clock.advance(3_000);
    candidate.open();
    candidate.clock.advance(4_999);
    expect(candidate.done()).to.deep.equal([]);
    candidate.clock.advance(1);
    expect(candidate.done()).to.deep.equal(["relist"]);
  });
});
