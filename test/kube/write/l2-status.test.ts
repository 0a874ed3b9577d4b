import { expect } from "chai";
import type { WatchedL2Status } from "../../../src/kube/watched.ts";
import { type L2StatusQuestion, l2StatusName, planL2Status } from "../../../src/kube/write/l2-status.ts";
import { labelValue } from "../../../src/kube/write/label-value.ts";
import { LEADING, NAMESPACE } from "./writer-bench.ts";

const NAME = l2StatusName("default/web", "n2");
const OWNER = { apiVersion: "v1", kind: "Pod", name: "speaker-b", uid: "uid-pod-b" };
const MINE: WatchedL2Status = {
  namespace: NAMESPACE,
  name: NAME,
  uid: "uid-mine",
  resourceVersion: "7",
  labels: { "metallb.io/node": "n2", "metallb.io/service-name": "web", "metallb.io/service-namespace": "default" },
  annotations: {
    "arpeggio.dev/since": "2026-01-01T00:00:00.000Z",
    "arpeggio.dev/reason": "lowest-hash",
    "arpeggio.dev/previous-node": "n1",
    "arpeggio.dev/mac": "eth0=02:00:00:00:00:01",
    "arpeggio.dev/rank": "1/3",
    "example.org/foreign": "stays",
  },
  owners: [OWNER],
  status: { node: "n2", serviceName: "web", serviceNamespace: "default" },
};
const THEIRS: WatchedL2Status = {
  ...MINE,
  name: "l2-x7k2p",
  uid: "uid-theirs",
  labels: { ...MINE.labels, "metallb.io/node": "n1" },
  status: { ...MINE.status, node: "n1" },
};
const QUESTION: L2StatusQuestion = {
  service: "default/web",
  node: "n2",
  owner: OWNER,
  report: LEADING,
  isServiceGone: false,
  statuses: [MINE],
  notLeadingSinceMs: 0,
  createNotBeforeMs: 0,
  rankSinceMs: 0,
  nowMs: 100_000,
};
const NOBODY = { kind: "no-link", addresses: ["192.0.2.10"] } as const;

function kinds(question: Partial<L2StatusQuestion>): string[] {
  return planL2Status({ ...QUESTION, ...question }).writes.map(({ kind, name }) => `${kind} ${name}`);
}

function againAtOf(question: Partial<L2StatusQuestion>): number | undefined {
  return planL2Status({ ...QUESTION, ...question }).againAtMs;
}

describe("planL2Status", () => {
  it("the name is ten digits of sha256(namespace/name/node), by sha256sum", () => {
    expect(NAME).to.equal("l2-c4145526ad");
  });

  for (const { fact, question, expected } of [
    { fact: "all is as it should be", question: {}, expected: [] },
    { fact: "nothing is there", question: { statuses: [] }, expected: [`create ${NAME}`, `status ${NAME}`] },
    {
      fact: "another leader's is there",
      question: { statuses: [THEIRS] },
      expected: [`create ${NAME}`, `status ${NAME}`, "delete l2-x7k2p"],
    },
    {
      fact: "a former process of this node left one under another name",
      question: { statuses: [{ ...THEIRS, labels: MINE.labels }, MINE] },
      expected: ["delete l2-x7k2p"],
    },
    {
      fact: "its status is not written yet",
      question: { statuses: [{ ...MINE, status: {} }] },
      expected: [`status ${NAME}`],
    },
    {
      fact: "a former pod owns it, before anything else",
      question: { statuses: [{ ...MINE, owners: [{ ...OWNER, uid: "uid-old" }], status: {} }, THEIRS] },
      expected: [`metadata ${NAME}`, `status ${NAME}`, "delete l2-x7k2p"],
    },
    {
      fact: "the own Pod is unknown: owners stay",
      question: { owner: undefined, statuses: [{ ...MINE, owners: [{ ...OWNER, uid: "uid-old" }] }] },
      expected: [],
    },
    {
      fact: "somebody wrote another node into mine",
      question: { statuses: [{ ...MINE, status: { ...MINE.status, node: "n1" } }] },
      expected: [`delete ${NAME}`],
    },
    {
      fact: "the links are restricted",
      question: { report: { ...LEADING, restrictedTo: ["eth1", "eth0"] } },
      expected: [`status ${NAME}`],
    },
    {
      fact: "the links are restricted as they were, in another order",
      question: {
        report: { ...LEADING, restrictedTo: ["eth1", "eth0"] },
        statuses: [{ ...MINE, status: { ...MINE.status, interfaces: ["eth0", "eth1"] } }],
      },
      expected: [],
    },
    {
      fact: "a MAC changed",
      question: { report: { ...LEADING, links: [{ name: "eth0", mac: "02:00:00:00:00:02" }] } },
      expected: [`metadata ${NAME}`],
    },
    {
      fact: "nobody led before",
      question: { report: { ...LEADING, previousNode: undefined } },
      expected: [`metadata ${NAME}`],
    },
    {
      fact: "the rank changed 30 s ago",
      question: { report: { ...LEADING, candidates: 2 }, rankSinceMs: 70_000 },
      expected: [`metadata ${NAME}`],
    },
    {
      fact: "the rank changed just now",
      question: { report: { ...LEADING, candidates: 2 }, rankSinceMs: 70_001 },
      expected: [],
    },
    { fact: "mine was deleted a moment ago", question: { statuses: [], createNotBeforeMs: 100_001 }, expected: [] },
    {
      fact: "another leads for less than 10 s",
      question: { report: undefined, notLeadingSinceMs: 90_001 },
      expected: [],
    },
    {
      fact: "another leads for 10 s",
      question: { report: undefined, notLeadingSinceMs: 90_000 },
      expected: [`delete ${NAME}`],
    },
    {
      fact: "another leads: theirs is not ours to delete",
      question: { report: undefined, statuses: [THEIRS] },
      expected: [],
    },
    {
      fact: "nobody leads for 2 s",
      question: { report: NOBODY, notLeadingSinceMs: 98_000 },
      expected: [`delete ${NAME}`],
    },
    {
      fact: "the Service is gone",
      question: { report: undefined, isServiceGone: true, notLeadingSinceMs: 100_000 },
      expected: [`delete ${NAME}`],
    },
  ] as { fact: string; question: Partial<L2StatusQuestion>; expected: string[] }[]) {
    it(`${fact}: ${expected.join(", ") || "nothing"}`, () => expect(kinds(question)).to.deep.equal(expected));
  }

  it("says when to look again", () => {
    expect(againAtOf({ report: undefined, notLeadingSinceMs: 99_000 })).to.equal(109_000);
    expect(againAtOf({ report: { ...LEADING, rank: 2 }, rankSinceMs: 99_000 })).to.equal(129_000);
    expect(againAtOf({ statuses: [], createNotBeforeMs: 100_500 })).to.equal(100_500);
    expect(againAtOf({})).to.equal(undefined);
  });
});

describe("labelValue", () => {
  it("a name of up to 63 characters is its own", () => expect(labelValue("n".repeat(63))).to.equal("n".repeat(63)));

  it("longer ones end in a hash, and differ", () => {
    const [one, other] = ["a", "b"].map((end) => labelValue("n".repeat(63) + end));
    expect(one).to.match(/^n{52}-[0-9a-f]{10}$/);
    expect(one).to.not.equal(other);
  });
});
