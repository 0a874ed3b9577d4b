import { expect } from "chai";
import type { Trouble } from "../../src/election/damping.ts";
import type { MemberView } from "../../src/election/decision.ts";
import { RETURN_TIMING } from "../../src/election/return-timing.ts";
import {
  flagsOf,
  initialStanding,
  JOIN_SILENCE_MS,
  mayJoin,
  readyReasonOf,
  readySecondsOf,
  type StandingEvent,
  type StandingOptions,
  type StandingState,
  stand,
  standingDeadlineMs,
} from "../../src/election/standing.ts";
import type { WordFlag } from "../../src/election/word.ts";
import { node } from "../desired/facts.ts";
import { goMember, member } from "./views.ts";

type Step = readonly [number, StandingEvent];

const OPTIONS: StandingOptions = { name: "n1", ignoresCordon: false, ignoresExcludeLabel: false, troubles: [] };
const OPENED: readonly Step[] = [
  [0, { kind: "snapshot-complete" }],
  [0, { kind: "sockets-open" }],
];
const FOUNDED: readonly Step[] = [...OPENED, [0, { kind: "join-begun", knownPeers: 0 }]];

function run(steps: readonly Step[], options: Partial<StandingOptions> = {}): StandingState {
  return steps.reduce((state, [atMs, event]) => stand(state, event, atMs), initialStanding({ ...OPTIONS, ...options }));
}

function flagsAfter(steps: readonly Step[], nowMs: number, options?: Partial<StandingOptions>): readonly WordFlag[] {
  return flagsOf(run(steps, options), nowMs);
}

/** Ready for so many seconds. */
function old(...names: readonly string[]): MemberView[] {
  return names.map((name) => member(name, ["ready"], { readySeconds: 10 }));
}

function young(...names: readonly string[]): MemberView[] {
  return names.map((name) => member(name, ["ready"], { readySeconds: 0 }));
}

function meets(atMs: number, ...others: readonly MemberView[]): Step {
  return [atMs, { kind: "members", others }];
}

describe("standing: ready", () => {
  it("needs the snapshot and the sockets before it may join", () => {
    expect(mayJoin(run([]))).to.equal(false);
    expect(mayJoin(run(OPENED.slice(0, 1)))).to.equal(false);
    expect(mayJoin(run(OPENED))).to.equal(true);
  });

  it("says what it waits for", () => {
    expect(readyReasonOf(run([]))).to.equal("reading-sources");
    expect(readyReasonOf(run(OPENED.slice(0, 1)))).to.equal("opening-sockets");
    expect(readyReasonOf(run(OPENED))).to.equal("joining-peers");
    expect(readyReasonOf(run(FOUNDED))).to.equal("ready");
  });

  it("is ready at once when no peer is known", () => expect(flagsAfter(FOUNDED, 0)).to.deep.equal(["ready"]));

  for (const kind of ["join-done", "join-refused"] as const) {
    it(`is ready at ${kind}`, () => {
      const steps: readonly Step[] = [...OPENED, [0, { kind: "join-begun", knownPeers: 2 }]];
      expect(flagsAfter(steps, 400)).to.deep.equal([]);
      expect(flagsAfter([...steps, [400, { kind }]], 400)).to.deep.equal(["ready"]);
    });
  }

  it("is ready after 500 ms of silence, and says so as its deadline", () => {
    const steps: readonly Step[] = [...OPENED, [0, { kind: "join-begun", knownPeers: 2 }]];
    expect(standingDeadlineMs(run(steps), 0)).to.equal(JOIN_SILENCE_MS);
    expect(flagsAfter([...steps, [JOIN_SILENCE_MS - 1, { kind: "tick" }]], JOIN_SILENCE_MS)).to.deep.equal([]);
    expect(flagsAfter([...steps, [JOIN_SILENCE_MS, { kind: "tick" }]], JOIN_SILENCE_MS)).to.deep.equal(["ready"]);
  });

  it("is not ready without sockets, whatever the peers say", () => {
    const steps: readonly Step[] = [
      [0, { kind: "snapshot-complete" }],
      [0, { kind: "join-begun", knownPeers: 0 }],
      [1, { kind: "join-done" }],
    ];
    expect(flagsAfter(steps, 9_999)).to.deep.equal([]);
  });

  it("counts its ready time in coarse steps, each of them a deadline", () => {
    const state = run(FOUNDED);
    expect([0, 4_999, 5_000, 29_999, 86_400_000].map((nowMs) => readySecondsOf(state, nowMs))).to.deep.equal([
      0, 0, 5, 10, 86_400,
    ]);
    expect(standingDeadlineMs(state, 5_000)).to.equal(10_000);
    expect(standingDeadlineMs(state, 86_400_000)).to.equal(undefined);
  });
});

const joinsAt = (...others: readonly MemberView[]): readonly Step[] => [
  ...OPENED,
  [0, { kind: "join-begun", knownPeers: 1 }],
  meets(100, ...others),
  [100, { kind: "join-done" }],
];

describe("standing: settling", () => {
  it("lasts 10 s after joining a cluster with a member ready for 5 s", () => {
    const steps = joinsAt(...old("n2"));
    expect(flagsAfter(steps, 100 + RETURN_TIMING.settleMs - 1)).to.deep.equal(["ready", "settling"]);
    expect(flagsAfter(steps, 100 + RETURN_TIMING.settleMs)).to.deep.equal(["ready"]);
  });

  it("does not happen to founders", () => {
    expect(flagsAfter(joinsAt(...young("n2", "n3")), 100)).to.deep.equal(["ready"]);
    expect(flagsAfter(joinsAt(goMember("go")), 100)).to.deep.equal(["ready"]);
    const unready = member("n2", [], { readySeconds: 10 });
    expect(flagsAfter(joinsAt(unready), 100)).to.deep.equal(["ready"]);
  });

  it("does not begin when somebody joins us, or founders grow old together", () => {
    const founders = [...joinsAt(...young("n2")), meets(6_000, ...old("n2"))];
    expect(flagsAfter(founders, 6_000)).to.deep.equal(["ready"]);
    expect(flagsAfter([...founders, meets(7_000, ...old("n2"), ...young("n3"))], 7_000)).to.deep.equal(["ready"]);
    const joined = [...founders, meets(7_000, ...old("n2"), ...young("n3")), meets(13_000, ...old("n2", "n3"))];
    expect(flagsAfter(joined, 13_000)).to.deep.equal(["ready"]);
  });

  it("happens to a node that founded alone and meets the cluster a moment later", () => {
    expect(flagsAfter([...FOUNDED, meets(2_000, ...old("n2"))], 2_000)).to.deep.equal(["ready", "settling"]);
  });

  it("does not happen to founders who lose one of theirs for a moment and meet it again, but to that one", () => {
    const founded = joinsAt(...young("n2", "n3"));
    const survivor = [...founded, meets(1_000, ...young("n2")), meets(4_900, ...young("n2"), ...old("n3"))];
    expect(flagsAfter(survivor, 4_900)).to.deep.equal(["ready"]);
    const lost = [...founded, meets(1_000), meets(4_900, ...old("n2", "n3"))];
    expect(flagsAfter(lost, 4_900)).to.deep.equal(["ready", "settling"]);
  });

  it("does not last longer because the cluster is heard of in pieces", () => {
    const steps = [...joinsAt(...old("n2")), meets(2_000, ...old("n2", "n3"))];
    expect(flagsAfter(steps, 100 + RETURN_TIMING.settleMs)).to.deep.equal(["ready"]);
  });

  it("lasts as long as another number says", () => {
    const timing = { ...RETURN_TIMING, settleMs: 3_000 };
    const steps = joinsAt(...old("n2"));
    const state = steps.reduce((so, [atMs, event]) => stand(so, event, atMs), initialStanding(OPTIONS, timing));
    expect(flagsOf(state, 3_099)).to.deep.equal(["ready", "settling"]);
    expect(flagsOf(state, 3_100)).to.deep.equal(["ready"]);
  });

  it("lasts 10 s after a refuted death", () => {
    const steps: readonly Step[] = [...FOUNDED, [60_000, { kind: "refuted-death" }]];
    expect(flagsAfter(steps, 60_000 + RETURN_TIMING.settleMs - 1)).to.deep.equal(["ready", "settling"]);
    expect(flagsAfter(steps, 60_000 + RETURN_TIMING.settleMs)).to.deep.equal(["ready"]);
    expect(standingDeadlineMs(run(steps), 60_001)).to.equal(70_000);
  });
});

describe("standing: damped", () => {
  it("is a node that was held dead for the third time in 10 min, for 60 s", () => {
    const deaths = [10_000, 240_000, 480_000].map((atMs): Step => [atMs, { kind: "refuted-death" }]);
    expect(flagsAfter([...FOUNDED, ...deaths.slice(0, 2)], 250_001)).to.deep.equal(["ready"]);
    expect(flagsAfter([...FOUNDED, ...deaths], 539_999)).to.deep.equal(["ready", "damped"]);
    expect(standingDeadlineMs(run([...FOUNDED, ...deaths]), 500_000)).to.equal(540_000);
    expect(flagsAfter([...FOUNDED, ...deaths], 540_000)).to.deep.equal(["ready"]);
  });

  it("is none whose predecessor was held dead, however often", () => {
    const deaths = [100, 200, 9_999].map((atMs): Step => [atMs, { kind: "refuted-death" }]);
    expect(flagsAfter([...FOUNDED, ...deaths], 30_000)).to.deep.equal(["ready"]);
  });

  it("is one that crashed three times, from its start on", () => {
    const troubles = [-200_000, -100_000, 0].map((atMs): Trouble => ({ kind: "restart", atMs }));
    expect(flagsAfter(FOUNDED, 59_999, { troubles })).to.deep.equal(["ready", "damped"]);
    expect(flagsAfter(FOUNDED, 60_000, { troubles })).to.deep.equal(["ready"]);
  });
});

/** This node has been ready for a minute with `ours`; then others come in pieces. */
function mergedAfter(name: string, ours: readonly string[], pieces: readonly (readonly string[])[]) {
  const steps: Step[] = [...FOUNDED, meets(100, ...young(...ours)), meets(60_000, ...old(...ours))];
  let known = ours;
  for (const [index, piece] of pieces.entries()) {
    known = [...known, ...piece];
    steps.push(meets(61_000 + 200 * index, ...old(...known)));
  }
  return flagsAfter(steps, 62_000, { name });
}

describe("standing: merges", () => {
  for (const { title, name, ours, theirs, settles } of [
    { title: "the larger side", name: "n1", ours: ["n2", "n3"], theirs: [["n4", "n5"]], settles: false },
    { title: "the smaller side", name: "n5", ours: ["n4"], theirs: [["n1", "n2", "n3"]], settles: true },
    {
      title: "the smaller side, piece by piece",
      name: "n1",
      ours: ["n2"],
      theirs: [["n3"], ["n4"], ["n5"]],
      settles: true,
    },
    {
      title: "the larger side, piece by piece",
      name: "n5",
      ours: ["n4", "n3"],
      theirs: [["n1"], ["n2"]],
      settles: false,
    },
    {
      title: "equal sides, ours with the lowest name",
      name: "n3",
      ours: ["n1"],
      theirs: [["n2"], ["n4"]],
      settles: false,
    },
    {
      title: "equal sides, theirs with the lowest name",
      name: "n3",
      ours: ["n2"],
      theirs: [["n4"], ["n1"]],
      settles: true,
    },
  ]) {
    it(`${title} ${settles ? "settles" : "does not settle"}`, () => {
      expect(mergedAfter(name, ours, theirs)).to.deep.equal(settles ? ["ready", "settling"] : ["ready"]);
    });
  }

  it("settles no longer than 10 s from the first meeting", () => {
    const steps = [...FOUNDED, meets(60_000, ...old("n0")), meets(69_000, ...old("n0", "n2"))];
    expect(flagsAfter(steps, 60_000 + RETURN_TIMING.settleMs - 1)).to.deep.equal(["ready", "settling"]);
    expect(flagsAfter(steps, 60_000 + RETURN_TIMING.settleMs)).to.deep.equal(["ready"]);
  });
});

describe("standing: other flags", () => {
  const source = "kubernetes";
  for (const { facts, flag } of [
    { facts: { isUnschedulable: true }, flag: "cordoned" },
    { facts: { taintKeys: ["ToBeDeletedByClusterAutoscaler"] }, flag: "cordoned" },
    { facts: { taintKeys: ["karpenter.sh/disrupted"] }, flag: "cordoned" },
    { facts: { taintKeys: ["node.kubernetes.io/out-of-service"] }, flag: "out-of-service" },
    { facts: { isNetworkUnavailable: true }, flag: "network-unavailable" },
    { facts: { isUnschedulable: true, wantsStepDown: true, ignoresCordon: true }, flag: "stepping-down" },
    { facts: { wantsStepDown: true }, flag: "stepping-down" },
    { facts: { labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "" } }, flag: "excluded" },
  ] as const) {
    it(`${JSON.stringify(facts)} is ${flag}, until the Node says otherwise`, () => {
      const told: readonly Step[] = [...FOUNDED, [1, { kind: "node-facts", node: node("n1", facts), source }]];
      expect(flagsAfter(told, 1)).to.deep.equal(["ready", flag]);
      expect(flagsAfter([...told, [2, { kind: "node-facts", node: node("n1"), source }]], 2)).to.deep.equal(["ready"]);
      expect(flagsAfter([...told, [2, { kind: "node-facts", node: undefined, source: "files" }]], 2)).to.deep.equal([
        "ready",
      ]);
    });
  }

  it("says that it has no Node object, which it must have; a document it need not have", () => {
    const missing: readonly Step[] = [...FOUNDED, [1, { kind: "node-facts", node: undefined, source }]];
    expect(flagsAfter(missing, 1)).to.deep.equal(["ready", "no-node-object"]);
    const back: Step = [2, { kind: "node-facts", node: node("n1"), source }];
    expect(flagsAfter([...missing, back], 2)).to.deep.equal(["ready"]);
    const undocumented: Step = [1, { kind: "node-facts", node: undefined, source: "files" }];
    expect(flagsAfter([...FOUNDED, undocumented], 1)).to.deep.equal(["ready"]);
  });

  it("does not count a cordon that the Node says does not count", () => {
    const facts = node("n1", { isUnschedulable: true, ignoresCordon: true });
    const told: readonly Step[] = [...FOUNDED, [1, { kind: "node-facts", node: facts, source }]];
    expect(flagsAfter(told, 1)).to.deep.equal(["ready"]);
  });

  it("does not say what it was told to ignore", () => {
    const facts = node("n1", {
      isUnschedulable: true,
      labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "" },
    });
    const told: readonly Step[] = [...FOUNDED, [1, { kind: "node-facts", node: facts, source }]];
    expect(flagsAfter(told, 1, { ignoresCordon: true, ignoresExcludeLabel: true })).to.deep.equal(["ready"]);
  });

  it("steps down and comes back when asked locally", () => {
    const asked: readonly Step[] = [...FOUNDED, [1, { kind: "step-down", isWanted: true }]];
    expect(flagsAfter(asked, 1)).to.deep.equal(["ready", "stepping-down"]);
    expect(flagsAfter([...asked, [2, { kind: "step-down", isWanted: false }]], 2)).to.deep.equal(["ready"]);
  });

  it("stays ready while it leaves", () => {
    expect(flagsAfter([...FOUNDED, [1, { kind: "leave" }]], 1)).to.deep.equal(["ready", "leaving"]);
  });
});

describe("standing: what peers remember", () => {
  const run3 = { restarts: 2, refutes: 0, ageSeconds: 30, hasLeft: false };
  const JOINS: readonly Step[] = [...OPENED, [0, { kind: "join-begun", knownPeers: 1 }]];

  it("counts the restarts before this one and this one, and damps", () => {
    const steps: readonly Step[] = [...JOINS, [10, { kind: "remembered", run: run3 }], [10, { kind: "join-done" }]];
    const state = run(steps, { isFirstRun: true });
    expect(state.troubles.map(({ kind }) => kind)).to.deep.equal(["restart", "restart", "restart"]);
    expect(flagsOf(state, 20)).to.include("damped");
  });

  it("counts no restart after a goodbye", () => {
    const state = run([...JOINS, [10, { kind: "remembered", run: { ...run3, hasLeft: true } }]], { isFirstRun: true });
    expect(state.troubles).to.have.length(2);
    expect(flagsOf(state, 20)).not.to.include("damped");
  });

  for (const { name, steps, options } of [
    { name: "of a node with a record of its own", steps: JOINS, options: {} },
    { name: "once it is ready: that is itself", steps: FOUNDED, options: { isFirstRun: true } },
    {
      name: "a second time",
      steps: [...JOINS, [5, { kind: "remembered", run: { ...run3, restarts: 0 } }] as Step],
      options: { isFirstRun: true },
    },
  ]) {
    it(`does not count ${name}`, () => {
      const before = run(steps, options);
      expect(stand(before, { kind: "remembered", run: run3 }, 10).troubles).to.equal(before.troubles);
    });
  }

  it("is bounded, whatever a peer says", () => {
    const run255 = { restarts: 255, refutes: 255, ageSeconds: 0, hasLeft: false };
    const state = run([...JOINS, [10, { kind: "remembered", run: run255 }]], { isFirstRun: true });
    expect(state.troubles).to.have.length(16);
  });
});
