import { expect } from "chai";
import type { Random } from "../../../src/base/random.ts";
import { deadlineOf, INITIAL_STATE, step } from "../../../src/kube/watch/reflector.ts";
import type {
  ReflectorEffect,
  ReflectorEvent,
  ReflectorSettings,
  ReflectorState,
} from "../../../src/kube/watch/reflector-state.ts";

const WATCHED: ReflectorSettings = { resource: "services", pageLimit: 500, absentEveryMs: 60_000 };
const POLLED: ReflectorSettings = { ...WATCHED, listEveryMs: 600_000, isFirstPageEnough: true, pageLimit: 1 };
/** Jitter in the middle of its range: back-off waits half of its step. */
const HALF: Random = {
  float: () => 0.5,
  below: (bound) => Math.floor(bound / 2),
  bytes: (count) => new Uint8Array(count),
};

/** A machine and its time; `did` are the effects of the last event, as text. */
class Machine {
  state: ReflectorState = INITIAL_STATE;
  nowMs = 1_000;
  did: readonly string[] = [];
  readonly #settings: ReflectorSettings;

  constructor(settings = WATCHED) {
    this.#settings = settings;
  }

  tell(event: ReflectorEvent): this {
    const { state, effects } = step(this.#settings, this.state, event, this.nowMs, HALF);
    this.state = state;
    this.did = effects.map(formatEffect);
    return this;
  }

  /** Goes to the next deadline. */
  waited(): number {
    const ms = deadlineOf(this.state) - this.nowMs;
    this.after(ms);
    return ms;
  }

  after(ms: number): this {
    this.nowMs += ms;
    return this.tell({ kind: "tick" });
  }

  /** Listed, watching from 10, and the head of the watch is there. */
  watching(): this {
    this.tell({ kind: "start" }).tell({ kind: "opened" }).tell({ kind: "page", resourceVersion: "10" });
    return this.tell({ kind: "opened" });
  }

  refused(status: number, others: { retryAfterSeconds?: number; isVersionUnknown?: boolean } = {}): this {
    const refusal = { status, message: `says ${status}`, isVersionUnknown: false, ...others };
    return this.tell({ kind: "refused", refusal });
  }
}

function formatEffect(effect: ReflectorEffect): string {
  if (effect.kind !== "request") return effect.kind;
  const { resourceVersion, continue: next } = effect.query;
  return `${effect.verb} ${resourceVersion ?? next ?? "all"}`;
}

describe("kube: reflector", () => {
  it("lists page by page, and what there is counts when the last page is there", () => {
    const machine = new Machine().tell({ kind: "start" });
    expect(machine.did).to.deep.equal(["discard", "list all"]);
    machine.tell({ kind: "opened" }).tell({ kind: "page", resourceVersion: "10", next: "token" });
    expect(machine.did).to.deep.equal(["list token"]);
    expect(machine.state.isListed).to.equal(false);
    machine.tell({ kind: "opened" }).tell({ kind: "page", resourceVersion: "10" });
    expect(machine.did).to.deep.equal(["commit", "watch 10"]);
    expect(machine.state.isListed).to.equal(true);
  });

  it("lists anew when it is told to, whatever is under way, and goes on watching from there", () => {
    const machine = new Machine().watching();
    expect([machine.state.lists, machine.state.place]).to.deep.equal([1, "10"]);
    machine.tell({ kind: "changed", object: {}, resourceVersion: "12" });
    expect(machine.state.place).to.equal("12");
    machine.tell({ kind: "relist" });
    expect(machine.did).to.deep.equal(["discard", "list all"]);
    machine.tell({ kind: "opened" }).tell({ kind: "page", resourceVersion: "20", next: "token" });
    // A list that began before counts no more.
    machine.tell({ kind: "relist" });
    expect(machine.did).to.deep.equal(["discard", "list all"]);
    expect([machine.state.lists, machine.state.place, machine.state.isListed]).to.deep.equal([1, "12", true]);
    machine.tell({ kind: "opened" }).tell({ kind: "page", resourceVersion: "21" });
    expect(machine.did).to.deep.equal(["commit", "watch 21"]);
    expect([machine.state.lists, machine.state.place]).to.deep.equal([2, "21"]);
    // Nor does it wait for what had failed.
    machine.refused(500).tell({ kind: "relist" });
    expect(machine.did).to.deep.equal(["discard", "list all"]);
  });

  it("asks with a limit and without resourceVersion, and watches with bookmarks and an end between 290 and 590 s", () => {
    const started = step(WATCHED, INITIAL_STATE, { kind: "start" }, 0, HALF);
    expect(started.effects[1]).to.deep.equal({ kind: "request", verb: "list", query: { limit: "500" } });
    const listed = step(WATCHED, started.state, { kind: "page", resourceVersion: "10" }, 0, HALF);
    expect(listed.effects[1]).to.deep.equal({
      kind: "request",
      verb: "watch",
      query: { watch: "true", allowWatchBookmarks: "true", resourceVersion: "10", timeoutSeconds: "440" },
    });
    for (const [drawn, seconds] of [
      [0, 290],
      [300, 590],
    ] as const) {
      const random = { ...HALF, below: (bound: number) => Math.min(drawn, bound - 1) };
      const { effects } = step(WATCHED, started.state, { kind: "page", resourceVersion: "10" }, 0, random);
      expect(effects[1]).to.have.nested.property("query.timeoutSeconds", String(seconds));
    }
  });

  it("applies events, goes on from the last of them, and ignores one that it has seen", () => {
    const machine = new Machine().watching();
    const changed = { kind: "changed", object: {}, resourceVersion: "11" } as const;
    expect(machine.tell(changed).did).to.deep.equal(["apply"]);
    expect(machine.tell(changed).did).to.deep.equal([]);
    expect(machine.tell({ kind: "deleted", object: {}, resourceVersion: "12" }).did).to.deep.equal(["remove"]);
    expect(machine.tell({ kind: "bookmark", resourceVersion: "20" }).did).to.deep.equal([]);
    machine.tell({ kind: "ended" }).waited();
    expect(machine.did).to.deep.equal(["watch 20"]);
  });

  describe("errors while watching", () => {
    for (const { name, fail, waitsMs, next } of [
      {
        name: "410 as HTTP status or ERROR event: full list at once",
        fail: (m: Machine) => m.refused(410),
        waitsMs: 0,
        next: "list all",
      },
      {
        name: "404: a list at once, which says whether the kind is gone",
        fail: (m: Machine) => m.refused(404),
        waitsMs: 0,
        next: "list all",
      },
      { name: "400: full list at once", fail: (m: Machine) => m.refused(400), waitsMs: 0, next: "list all" },
      {
        name: "a version from the future: full list",
        fail: (m: Machine) => m.refused(504, { isVersionUnknown: true }),
        waitsMs: 0,
        next: "list all",
      },
      {
        name: "bytes that are no JSON: full list at once",
        fail: (m: Machine) => m.tell({ kind: "garbage" }),
        waitsMs: 0,
        next: "list all",
      },
      {
        name: "429: after what it says and a bit",
        fail: (m: Machine) => m.refused(429, { retryAfterSeconds: 7 }),
        waitsMs: 7_500,
        next: "watch 10",
      },
      {
        name: "429 without a time: after a second and a bit",
        fail: (m: Machine) => m.refused(429),
        waitsMs: 1_500,
        next: "watch 10",
      },
      { name: "403: after 1 s, with a list", fail: (m: Machine) => m.refused(403), waitsMs: 1_000, next: "list all" },
      {
        name: "500: backs off, from where it was",
        fail: (m: Machine) => m.refused(500),
        waitsMs: 125,
        next: "watch 10",
      },
      {
        name: "503 with a time: not before it",
        fail: (m: Machine) => m.refused(503, { retryAfterSeconds: 3 }),
        waitsMs: 3_000,
        next: "watch 10",
      },
      {
        name: "its end, as the server has it every few minutes: within 1 s",
        fail: (m: Machine) => m.tell({ kind: "ended" }),
        waitsMs: 500,
        next: "watch 10",
      },
      {
        name: "a cut connection: within 1 s",
        fail: (m: Machine) => m.tell({ kind: "ended", error: "ECONNRESET" }),
        waitsMs: 500,
        next: "watch 10",
      },
    ]) {
      it(name, () => {
        const machine = new Machine().watching();
        fail(machine);
        if (waitsMs > 0) {
          expect(machine.did).to.include("cancel");
          expect(machine.waited()).to.equal(waitsMs);
        }
        expect(machine.did.at(-1)).to.equal(next);
        expect(machine.did).to.not.include("commit");
        expect(machine.state.isListed).to.equal(true);
      });
    }

    it("401: reads the token anew and tries at once, then backs off", () => {
      const machine = new Machine().watching().refused(401);
      expect(machine.did).to.deep.equal(["refresh-credentials", "watch 10"]);
      machine.refused(401);
      expect(machine.did).to.deep.equal(["refresh-credentials", "cancel"]);
      expect(machine.waited()).to.equal(125);
      expect(machine.did).to.deep.equal(["watch 10"]);
      // A token that was good in between may be refused again, with the same grace.
      machine.tell({ kind: "opened" }).refused(401);
      expect(machine.did).to.deep.equal(["refresh-credentials", "watch 10"]);
    });

    it("a watch that was open never doubles its wait, one that does not open does, up to 30 s", () => {
      const machine = new Machine().watching();
      for (let count = 0; count < 5; count++) {
        machine.tell({ kind: "ended", error: "ECONNRESET" });
        expect(machine.waited()).to.equal(500);
        machine.tell({ kind: "opened" });
      }
      machine.tell({ kind: "ended", error: "ECONNRESET" }).waited();
      const waits = Array.from({ length: 10 }, () => machine.tell({ kind: "ended", error: "ECONNREFUSED" }).waited());
      expect(waits).to.deep.equal([125, 250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
    });

    it("10 s of health make the next failure the first", () => {
      const machine = new Machine().watching();
      for (let count = 0; count < 4; count++) machine.refused(500).waited();
      machine.tell({ kind: "opened" }).after(9_999).refused(500);
      expect(machine.waited()).to.equal(2_000);
      machine.tell({ kind: "opened" }).after(10_000).refused(500);
      expect(machine.waited()).to.equal(125);
    });

    it("410 again and again is not answered with one list after the other", () => {
      const machine = new Machine().watching().refused(410);
      expect(machine.did).to.deep.equal(["discard", "list all"]);
      machine.tell({ kind: "page", resourceVersion: "11" }).tell({ kind: "opened" }).refused(410);
      expect(machine.did).to.include("cancel");
      expect(machine.waited()).to.equal(125);
      expect(machine.did).to.deep.equal(["discard", "list all"]);
    });

    it("90 s of silence: reconnects without a list, and lists when that is silent too", () => {
      const machine = new Machine().watching();
      machine.after(30_000).tell({ kind: "heard" });
      expect(machine.waited()).to.equal(90_000);
      expect(machine.did).to.deep.equal(["watch 10"]);
      machine.tell({ kind: "opened" }).after(90_000);
      expect(machine.did).to.deep.equal(["discard", "list all"]);
    });

    it("silences with anything in between are no two in a row", () => {
      const machine = new Machine().watching();
      machine.waited();
      machine.tell({ kind: "opened" }).tell({ kind: "heard" });
      machine.waited();
      expect(machine.did).to.deep.equal(["watch 10"]);
    });
  });

  describe("errors while listing", () => {
    for (const { name, fail, waitsMs } of [
      { name: "410 on a continue token: page one at once", fail: (m: Machine) => m.refused(410), waitsMs: 0 },
      { name: "no list at all: page one at once", fail: (m: Machine) => m.tell({ kind: "garbage" }), waitsMs: 0 },
      { name: "500", fail: (m: Machine) => m.refused(500), waitsMs: 125 },
      { name: "429", fail: (m: Machine) => m.refused(429, { retryAfterSeconds: 7 }), waitsMs: 7_500 },
      { name: "403", fail: (m: Machine) => m.refused(403), waitsMs: 1_000 },
      { name: "404", fail: (m: Machine) => m.refused(404), waitsMs: 60_000 },
      {
        name: "a page that breaks off",
        fail: (m: Machine) => m.tell({ kind: "ended", error: "cut off" }),
        waitsMs: 125,
      },
      { name: "no answer", fail: (m: Machine) => m.tell({ kind: "ended", error: "ECONNREFUSED" }), waitsMs: 125 },
    ]) {
      it(`${name}: what was held stands, the pages so far are forgotten`, () => {
        const machine = new Machine().tell({ kind: "start" });
        machine.tell({ kind: "page", resourceVersion: "10", next: "token" });
        fail(machine);
        expect(machine.did).to.include("discard").and.not.include("commit");
        if (waitsMs > 0) expect(machine.waited()).to.equal(waitsMs);
        expect(machine.did).to.deep.equal(["discard", "list all"]);
      });
    }

    it("a page that stands still is given up after 45 s", () => {
      const machine = new Machine().tell({ kind: "start" });
      machine.after(40_000).tell({ kind: "heard" });
      expect(machine.waited()).to.equal(45_000);
      expect(machine.did).to.deep.equal(["cancel", "discard"]);
      expect(machine.state.lastError).to.equal("list services: nothing was heard for too long");
    });

    it("says that a kind is absent as long as it is, and asks as often as it is told to", () => {
      const machine = new Machine({ ...WATCHED, absentEveryMs: 5_000 }).tell({ kind: "start" }).refused(404);
      expect(machine.state.isAbsent).to.equal(true);
      expect(machine.waited()).to.equal(5_000);
      expect(machine.state.lastError).to.equal("list services: 404 says 404");
      machine.tell({ kind: "page", resourceVersion: "1" });
      expect(machine.state.isAbsent).to.equal(false);
    });

    it("finds nothing wrong with an optional kind that is absent", () => {
      const machine = new Machine({ ...WATCHED, isOptional: true }).tell({ kind: "start" }).refused(500).refused(404);
      expect(machine.state.isAbsent).to.equal(true);
      expect(machine.state.lastError).to.equal(undefined);
      expect(machine.waited()).to.equal(60_000);
    });
  });

  it("says verb, resource and what the server said, until the watch is well again", () => {
    const machine = new Machine().watching().refused(403);
    expect(machine.state.lastError).to.equal("watch services: 403 says 403");
    machine.waited();
    machine.tell({ kind: "page", resourceVersion: "11" });
    expect(machine.state.lastError).to.be.a("string");
    machine.tell({ kind: "opened" });
    expect(machine.state).to.not.have.property("lastError");
  });

  it("asks for what stays forbidden less and less often, each minute at last", () => {
    const machine = new Machine().watching();
    const waits = Array.from({ length: 5 }, () => machine.refused(403).waited());
    expect(waits).to.deep.equal([1_000, 4_000, 16_000, 60_000, 60_000]);
  });

  it("asks for a watch that was never open each minute, with a list", () => {
    const machine = new Machine().tell({ kind: "start" });
    for (let time = 0; time < 3; time++) {
      machine.tell({ kind: "page", resourceVersion: "10" }).refused(403);
      expect(machine.waited()).to.equal(60_000);
      expect(machine.did).to.deep.equal(["discard", "list all"]);
    }
  });

  it("counts reconnects and full lists after the first", () => {
    const machine = new Machine().watching();
    expect(machine.state).to.include({ reconnects: 0, relists: 0 });
    machine.tell({ kind: "ended", error: "ECONNRESET" }).waited();
    expect(machine.state).to.include({ reconnects: 1, relists: 0 });
    machine.refused(410);
    expect(machine.state).to.include({ reconnects: 1, relists: 1 });
  });

  it("with listEveryMs lists the first page again and again, and never watches", () => {
    const machine = new Machine(POLLED).tell({ kind: "start" }).tell({ kind: "opened" });
    machine.tell({ kind: "page", resourceVersion: "10", next: "token" });
    expect(machine.did[0]).to.equal("commit");
    expect(machine.waited()).to.equal(600_000);
    expect(machine.did).to.deep.equal(["discard", "list all"]);
    expect(machine.state.relists).to.equal(0);
  });

  it("a tick before its time does nothing", () => {
    const machine = new Machine().watching();
    const { state } = machine;
    machine.after(1_000);
    expect(machine.did).to.deep.equal([]);
    expect(machine.state).to.equal(state);
  });
});
