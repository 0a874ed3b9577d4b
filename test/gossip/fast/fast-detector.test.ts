/** The fast detector against a leader that lives, dies, hangs, or cannot be heard. */
import { expect } from "chai";
import fc from "fast-check";
import { LEADER, SELF, Watching } from "./watching.ts";

/** Watched for 2 s, in which all is well. */
function watching(
  nodes: number,
  ...rest: [change?: ConstructorParameters<typeof Watching>[1], self?: string]
): Watching {
  const scene = new Watching(nodes, ...rest);
  scene.run(2_000);
  return scene;
}

describe("fast detector: a leader that lives", () => {
  it("is pinged every 100 ms, connected to once, and asked nothing else", () => {
    const scene = watching(3);
    const pings = scene.of("ping");
    expect(pings.map(({ atMs }) => atMs - 10_000)).to.deep.equal(
      Array.from({ length: 20 }, (_, index) => 50 + 100 * index),
    );
    expect(scene.of("tcp-ping").length).to.equal(1);
    expect(scene.of("ask-helpers").concat([]).length).to.equal(0);
    expect(scene.of("ask-neighbour").length).to.equal(0);
  });

  it("is asked by every way 50 ms after a ping without an answer", () => {
    const scene = watching(3);
    scene.killHost();
    const sinceMs = scene.nowMs;
    scene.run(110);
    const [ping] = scene.of("ping", sinceMs);
    for (const kind of ["ask-helpers", "ask-neighbour", "tcp-ping"] as const) {
      expect(
        scene.of(kind, sinceMs).map(({ atMs }) => atMs - (ping?.atMs ?? 0)),
        kind,
      ).to.deep.equal([50]);
    }
  });

  it("lives, as long as helpers reach it", () => {
    const scene = watching(3);
    scene.killHost();
    scene.answers.helpers = true;
    scene.run(60_000);
    expect(scene.of("suspect")).to.deep.equal([]);
  });

  it("is not watched by one who is not chosen, and not any more by one who is relieved", () => {
    const scene = new Watching(5, {}, "n9");
    scene.run(1_000);
    expect(scene.told).to.deep.equal([]);
    const relieved = watching(3);
    relieved.view(3, { leaders: [] });
    const sinceMs = relieved.nowMs;
    relieved.run(1_000);
    expect(relieved.of("ping", sinceMs)).to.deep.equal([]);
    expect(relieved.detector.watched(LEADER, relieved.nowMs)).to.equal(undefined);
  });
});

describe("fast detector: a leader that is gone", () => {
  it("is accused 450 ms after its last sign of life, to it, the other watchers and the seconds, five times 20 ms apart", () => {
    const scene = watching(4);
    const lastMs = scene.of("ping").at(-1)?.atMs ?? 0;
    scene.killHost();
    scene.run(700);
    expect(scene.of("suspect").map(({ atMs, incarnation }) => [atMs - lastMs, incarnation])).to.deep.equal([[450, 1]]);
    const said = scene.of("tell-suspect");
    expect(said.map(({ atMs }) => atMs - lastMs)).to.deep.equal([450, 470, 490, 510, 530]);
    expect([...(said[0]?.to ?? [])].toSorted()).to.deep.equal([LEADER, "n3", "n4"]);
    expect(scene.of("dead")).to.deep.equal([]);
  });

  it("is dead when a second accuses the same incarnation, whoever was first", () => {
    for (const accusedAfterMs of [300, 600]) {
      const scene = watching(3);
      scene.killHost();
      scene.run(accusedAfterMs);
      scene.accuse("n3");
      scene.run(700 - accusedAfterMs);
      expect(scene.of("dead").length, String(accusedAfterMs)).to.equal(1);
    }
  });

  it("is not dead by its own voice, by ours as others repeat it, of another incarnation, or before it was heard last", () => {
    const scene = watching(3);
    scene.accuse("n3");
    scene.run(100);
    scene.killHost();
    scene.accuse("n3", 2);
    scene.accuse(SELF);
    scene.accuse(LEADER);
    scene.run(2_000);
    expect(scene.of("suspect").length).to.equal(1);
    expect(scene.of("dead")).to.deep.equal([]);
  });

  it("is accused at once when its port refuses that had accepted", () => {
    const scene = watching(3);
    scene.killProcess();
    const sinceMs = scene.nowMs;
    scene.run(200);
    expect(scene.of("suspect").map(({ atMs }) => atMs - sinceMs)).to.deep.equal([100]);
    expect(scene.detector.counters().accusations).to.deep.equal({ silent: 0, hung: 0, refused: 1 });
  });

  it("is not accused by a port that never accepted", () => {
    const scene = new Watching(3);
    scene.isPortClosed = true;
    scene.run(5_000);
    scene.answers.process = false;
    const sinceMs = scene.nowMs;
    scene.run(440);
    expect(scene.of("suspect", sinceMs)).to.deep.equal([]);
  });

  it("gets 1,000 ms while its host answers", () => {
    const scene = watching(3);
    const lastMs = scene.of("ping").at(-1)?.atMs ?? 0;
    scene.answers.process = false;
    scene.run(1_500);
    expect(scene.of("suspect").map(({ atMs }) => atMs - lastMs)).to.deep.equal([1_000]);
    expect(scene.detector.counters().accusations.hung).to.equal(1);
  });

  it("counts a Go member's suspicion as one of the two", () => {
    const scene = watching(2, { goMembers: ["go1"] });
    scene.killHost();
    scene.run(3_000);
    expect(scene.of("dead")).to.deep.equal([]);
    scene.accuse("go1");
    expect(scene.of("dead").length).to.equal(1);
  });

  it("is judged by one alone where no second could be", () => {
    for (const { what, kill, leastMs, mostMs } of [
      { what: "host", kill: (scene: Watching) => scene.killHost(), leastMs: 550, mostMs: 600 },
      { what: "process", kill: (scene: Watching) => scene.killProcess(), leastMs: 100, mostMs: 200 },
      { what: "hang", kill: (scene: Watching) => void (scene.answers.process = false), leastMs: 950, mostMs: 1_000 },
    ]) {
      const scene = watching(2);
      kill(scene);
      const sinceMs = scene.nowMs;
      scene.run(1_500);
      const [dead] = scene.of("dead", sinceMs);
      expect((dead?.atMs ?? 0) - sinceMs, what).to.be.within(leastMs, mostMs);
    }
  });

  it("brings at most one verdict in 2 s of three members, and the next one after that", () => {
    const leaders = [LEADER, "n3"].map((node) => ({ node, seconds: [SELF] }));
    const scene = new Watching(4, { leaders });
    scene.run(2_000);
    scene.killHost();
    scene.answers.others = true;
    scene.run(500);
    for (const node of [LEADER, "n3"]) scene.observe({ kind: "accused", node, incarnation: 1, by: "n4" });
    scene.run(3_000);
    const [first, second] = scene.of("dead");
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).to.equal(2_000);
    expect(scene.detector.counters().verdictsBraked).to.equal(1);
  });
});

describe("fast detector: what is the watcher's own fault", () => {
  it("a watcher that stood while the leader died takes its own standstill out once, however much it reads when it goes on", () => {
    const scene = watching(3);
    scene.answers.process = false;
    scene.nowMs += 300;
    // Its sockets are read before deadlines are judged.
    for (let read = 0; read < 10; read++) scene.observe({ kind: "answered", node: "n3" });
    scene.observe({ kind: "tick" });
    const goesOnMs = scene.nowMs;
    scene.run(3_000);
    const [suspect] = scene.of("suspect");
    expect((suspect?.atMs ?? Number.POSITIVE_INFINITY) - goesOnMs).to.be.within(850, 1_100);
  });

  it("a watcher whose loop stood accuses nobody for it", () => {
    const scene = watching(3);
    scene.killHost();
    scene.run(300);
    scene.stand(5_000);
    expect(scene.of("suspect")).to.deep.equal([]);
    scene.run(300);
    expect(scene.of("suspect").length).to.equal(1);
  });

  it("a watcher that nobody answers accuses nobody, neither then nor afterwards", () => {
    const scene = watching(3);
    scene.answers.process = false;
    scene.answers.host = false;
    scene.answers.others = false;
    scene.run(10_000);
    scene.answers.others = true;
    scene.run(101);
    scene.answers.process = true;
    scene.answers.host = true;
    scene.run(5_000);
    expect(scene.of("suspect")).to.deep.equal([]);
  });

  it("a node without a link accuses nobody, and begins anew with the link", () => {
    const scene = watching(2);
    scene.killHost();
    scene.view(2, { hasLink: false });
    scene.run(5_000);
    scene.view(2);
    const sinceMs = scene.nowMs;
    scene.run(590);
    expect(scene.of("dead")).to.deep.equal([]);
    scene.run(100);
    expect(scene.of("dead", sinceMs).length).to.equal(1);
  });

  it("waits twice as long as the longest silence that ended well", () => {
    const scene = watching(3);
    scene.killHost();
    scene.run(300);
    Object.assign(scene.answers, { process: true, host: true });
    scene.run(1_000);
    const own = scene.detector.watched(LEADER, scene.nowMs)?.own;
    expect(own?.longestSilenceMs).to.equal(400);
    expect(own?.deadlineMs).to.equal(800);
    const lastMs = scene.of("ping").at(-1)?.atMs ?? 0;
    scene.killHost();
    scene.run(2_000);
    expect((scene.of("suspect")[0]?.atMs ?? 0) - lastMs).to.equal(own?.deadlineMs);
  });
});

describe("fast detector: what is taken back", () => {
  it("an accusation ends with a sign of life, and is counted as overruled", () => {
    const scene = watching(3);
    scene.killHost();
    scene.run(500);
    expect(scene.detector.watched(LEADER, scene.nowMs)?.own?.isAccused).to.equal(true);
    Object.assign(scene.answers, { process: true, host: true });
    scene.run(200);
    expect(scene.detector.watched(LEADER, scene.nowMs)?.own?.isAccused).to.equal(false);
    scene.accuse("n3");
    scene.run(1_000);
    expect(scene.of("dead")).to.deep.equal([]);
    expect(scene.detector.counters().accusationsOverruled).to.equal(1);
  });

  it("a verdict that its victim refutes within 10 s is counted", () => {
    const scene = watching(3);
    scene.killHost();
    scene.run(500);
    scene.accuse("n3");
    scene.observe({ kind: "member", node: LEADER, incarnation: 1, isPresent: false });
    scene.run(1_000);
    scene.observe({ kind: "member", node: LEADER, incarnation: 2, isPresent: true });
    expect(scene.detector.counters()).to.include({ verdicts: 1, verdictsOverruled: 1 });
  });
});

/** It leads itself, and is watched by the two others. */
function leading(): Watching {
  const scene = new Watching(3, { leaders: [{ node: SELF, seconds: [LEADER] }] });
  scene.run(1_000);
  return scene;
}

describe("fast detector: a leader and its watchers", () => {
  it("says once that no watcher is heard, 500 ms after the last, and has asked them before", () => {
    const scene = leading();
    scene.observe({ kind: "pinged", by: "n3" });
    Object.assign(scene.answers, { process: false, others: false });
    const sinceMs = scene.nowMs;
    scene.run(5_000);
    expect(scene.of("ping", sinceMs).map(({ node, atMs }) => [node, atMs - sinceMs])).to.have.deep.members([
      ["n1", 350],
      ["n3", 350],
    ]);
    expect(scene.of("unwatched").map(({ atMs }) => atMs - sinceMs)).to.deep.equal([500]);
  });

  it("is content when one of them answers", () => {
    const scene = leading();
    scene.observe({ kind: "pinged", by: "n3" });
    scene.run(5_000);
    expect(scene.of("unwatched")).to.deep.equal([]);
  });

  it("is not troubled when it never had one, or hears from another than a watcher", () => {
    const scene = leading();
    Object.assign(scene.answers, { process: false, others: false });
    scene.run(2_000);
    expect(scene.of("unwatched")).to.deep.equal([]);
    scene.observe({ kind: "pinged", by: "n3" });
    scene.run(400);
    scene.observe({ kind: "pinged", by: "n7" });
    scene.run(200);
    expect(scene.of("unwatched").length).to.equal(1);
  });
});

describe("fast detector: whatever happens", () => {
  it("never declares dead without two accusers where two could accuse, nor whom it has just heard", () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ what: fc.constant("run" as const), ms: fc.integer({ min: 1, max: 700 }) }),
        fc.record({ what: fc.constant("stand" as const), ms: fc.integer({ min: 1, max: 700 }) }),
        fc.record({ what: fc.constantFrom("process", "host", "others", "helpers" as const), ms: fc.nat(1) }),
        fc.record({ what: fc.constant("accuse" as const), ms: fc.integer({ min: 1, max: 2 }) }),
      ),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(steps, (story) => {
        const scene = watching(3);
        let accusedMs = Number.NEGATIVE_INFINITY;
        for (const { what, ms } of story) {
          const before = scene.told.length;
          if (what === "run") scene.run(ms);
          else if (what === "stand") scene.stand(ms);
          else if (what === "accuse") {
            if (ms === scene.incarnation) accusedMs = scene.nowMs;
            scene.accuse("n3", ms);
          } else scene.answers[what as "process"] = ms === 1;
          for (const { effect, atMs } of scene.told.slice(before)) {
            if (effect.kind !== "dead") continue;
            expect(atMs - accusedMs).to.be.at.most(5_000);
            expect(atMs - (scene.detector.watched(LEADER, atMs)?.own?.lastProofMs ?? 0)).to.be.at.least(100);
          }
        }
      }),
    );
  });
});
