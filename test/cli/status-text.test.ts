/** Expected texts are written by hand from docs/cli.md. */
import { expect } from "chai";
import fc from "fast-check";
import { ClusterStatusSchema } from "../../api/cluster-status.ts";
import type { StatusDocument } from "../../api/status.ts";
import { mergeStatus } from "../../cli/merge-status.ts";
import type { StatusReading } from "../../cli/readings.ts";
import { formatClusterStatus } from "../../cli/status-text.ts";
import { compileCheck } from "../../src/http/document-check.ts";
import { AT, VIEWS_DIFFER } from "../http/example-documents.ts";
import { answered, ledByNobody, member, seenBy, silent, statusOf } from "./documents.ts";

const NODES = ["n1", "n2", "n3"];

function textOf(readings: readonly StatusReading[]): string {
  return formatClusterStatus(mergeStatus(readings, AT));
}

/** Three speakers, one of which says something else. */
function withOneOf(node: string, changes: Partial<StatusDocument>): StatusReading[] {
  return NODES.map((name) => answered(statusOf(name, name === node ? changes : {})));
}

function problemsOf(readings: readonly StatusReading[]): readonly string[] {
  return mergeStatus(readings, AT).problems;
}

describe("arpeggio status", () => {
  it("prints speakers, addresses and that all is well", () => {
    expect(textOf(NODES.map((node) => answered(statusOf(node))))).to.equal(
      [
        "NODE  POD         READY  RULE        MEMBERS  SOURCES",
        "n1    speaker-n1  yes    arpeggio-1  3 alive  kubernetes current",
        "n2    speaker-n2  yes    arpeggio-1  3 alive  kubernetes current",
        "n3    speaker-n3  yes    arpeggio-1  3 alive  kubernetes current",
        "",
        "ADDRESS      LEADER  REASON       FOR   BEFORE  DISAGREE  SERVICES",
        "192.0.2.100  n1      lowest-hash  3m4s  n2      -         default/web",
        "",
        "all 3 speakers answer and agree",
        "",
      ].join("\n"),
    );
  });

  it("says plainly what is wrong", () => {
    const problem = "IPAddressPool lan: spec.addresses[0] is no prefix";
    const readings = [
      answered(
        statusOf("n1", {
          members: [
            member("n1"),
            member("n2", { state: "suspect" }),
            member("n3", { state: "dead" }),
            member("n4", { isGo: true }),
          ],
          sources: [{ kind: "kubernetes", state: "stale", objects: {}, problems: [problem] }],
          addresses: [
            seenBy("n1", "192.0.2.100"),
            seenBy("n1", "192.0.2.20", { leader: "n3", state: "follower" }),
            ledByNobody("2001:db8::100", "no-serving-endpoint"),
          ],
        }),
      ),
      answered(
        statusOf("n2", {
          ready: { isReady: false, reason: "joining-peers", since: AT },
          sources: [{ kind: "kubernetes", state: "current", objects: {}, problems: [problem, "another"] }],
          addresses: [],
        }),
      ),
      answered(
        statusOf("n3", {
          election: { rule: "metallb-1", reason: "member-can-less", since: AT },
          gossip: { isOn: false, detection: "api-server", isEncrypted: false },
          members: [],
          addresses: [seenBy("n3", "192.0.2.100", { leader: "n3", state: "leading" })],
        }),
      ),
      silent("n4", "its pod is Pending"),
    ];
    expect(textOf(readings)).to.equal(
      [
        "NODE  POD         READY              RULE        MEMBERS                                   SOURCES",
        "n1    speaker-n1  yes                arpeggio-1  2 alive, 1 suspect, 1 dead, 1 of MetalLB  kubernetes stale (1 problem)",
        "n2    speaker-n2  no: joining-peers  arpeggio-1  3 alive                                   kubernetes current (2 problems)",
        "n3    speaker-n3  yes                metallb-1   gossip is off                             kubernetes current",
        "n4    speaker-n4  no answer          -           -                                         -",
        "",
        "ADDRESS        LEADER  REASON               FOR   BEFORE  DISAGREE     SERVICES",
        "192.0.2.20     n3      lowest-hash          3m4s  -       n3: unknown  default/web",
        "192.0.2.100    n1      lowest-hash          3m4s  -       n3: n3       default/web",
        "2001:db8::100  -       no-serving-endpoint  3m4s  -       n3: unknown  default/web",
        "",
        "n1 and n2: IPAddressPool lan: spec.addresses[0] is no prefix",
        "n2: another",
        "",
        "! n1 cannot read its source now: kubernetes is stale",
        "! n2 is not ready: joining-peers",
        "! n4 gives no answer: its pod is Pending",
        "! the speakers follow different election rules: arpeggio-1 (n1), metallb-1 (n3)",
        "! the speakers disagree about 192.0.2.20, 192.0.2.100 and 2001:db8::100",
        "",
      ].join("\n"),
    );
  });

  it("without Kubernetes it names the URLs, and knows no node of one that is silent", () => {
    const readings: StatusReading[] = [
      { reached: { url: "http://192.0.2.11" }, answer: { ok: true, value: statusOf("n1", { addresses: [] }) } },
      { reached: { url: "http://192.0.2.12" }, answer: { ok: false, reason: "connection refused" } },
    ];
    expect(textOf(readings)).to.equal(
      [
        "NODE  URL                READY      RULE        MEMBERS  SOURCES",
        "-     http://192.0.2.12  no answer  -           -        -",
        "n1    http://192.0.2.11  yes        arpeggio-1  3 alive  kubernetes current",
        "",
        "no addresses",
        "",
        "! http://192.0.2.12 gives no answer: connection refused",
        "",
      ].join("\n"),
    );
  });

  it("tells no address from nobody knows", () => {
    expect(textOf([silent("n1", "connection refused")])).to.not.include("no addresses");
    expect(textOf([answered(statusOf("n1", { addresses: [] }))])).to.include("\nno addresses\n");
  });

  for (const { name, readings, problem } of [
    {
      name: "a speaker that does not hear another",
      readings: withOneOf("n2", { members: [member("n1"), member("n2"), member("n3", { state: "dead" })] }),
      problem: "n2 does not hear n3",
    },
    {
      name: "a leader that does not answer for its address",
      readings: withOneOf("n1", { addresses: [seenBy("n1", "192.0.2.100", { state: "follower" })] }),
      problem: "n1 is elected for 192.0.2.100, but does not answer",
    },
    {
      name: "a Service that one speaker has not seen",
      readings: withOneOf("n3", { addresses: [] }),
      problem: "the speakers disagree about 192.0.2.100",
    },
    {
      name: "a source that cannot be read",
      readings: withOneOf("n3", {
        sources: [{ kind: "kubernetes", state: "not-available", objects: {}, problems: [] }],
      }),
      problem: "n3 cannot read its source now: kubernetes is not-available",
    },
    {
      name: "an address that two hold themselves elected for",
      readings: withOneOf("n1", {
        addresses: [seenBy("n1", "192.0.2.100", { previousLeader: "n2", viewsDiffer: VIEWS_DIFFER })],
      }),
      problem:
        "views of 192.0.2.100 differ: n1 answers, and n3 would, too, in its own view; the view of the API, by revision, of n1 is the better one: 4711, not 4242",
    },
  ]) {
    it(`${name} is a problem`, () => expect(problemsOf(readings)).to.deep.equal([problem]));
  }

  for (const { name, readings } of [
    {
      name: "an address that nobody leads",
      readings: NODES.map((node) =>
        answered(
          statusOf(node, {
            addresses: [ledByNobody("192.0.2.9", "no-pool")],
          }),
        ),
      ),
    },
    {
      name: "an old leader that answers until the new one is heard",
      readings: withOneOf("n2", { addresses: [seenBy("n2", "192.0.2.100", { state: "handing-over" })] }),
    },
  ]) {
    it(`${name} is none`, () => expect(problemsOf(readings)).to.deep.equal([]));
  }

  it("shows what a watch complains of", () => {
    const watch = { kind: "Node", objects: 3, reconnects: 0, relists: 0 } as const;
    const watches = [
      { ...watch, state: "watching", lastError: "may not watch nodes" },
      { ...watch, state: "watching" },
    ] as const;
    const text = textOf(
      withOneOf("n2", { sources: [{ kind: "kubernetes", state: "current", objects: {}, problems: [], watches }] }),
    );
    expect(text).to.include("kubernetes current (1 problem)\n");
    expect(text).to.include("\nn2: Node: may not watch nodes\n");
  });

  it("shows what keeps a speaker from writing to the API server", () => {
    const writes = { pending: 1, written: 0, failed: 2, isApiAway: false, missingRights: [] };
    const text = textOf(
      withOneOf("n2", {
        sources: [{ kind: "kubernetes", state: "current", objects: {}, problems: [] }],
        writtenBack: {
          objects: { ...writes, isApiAway: true, lastError: "ECONNREFUSED" },
          events: { ...writes, missingRights: ["may not create events in every namespace"], dropped: 0 },
          ledServices: 1,
          droppedFields: ["spec.interfaces of L2Advertisement"],
        },
      }),
    );
    for (const line of [
      "n2: the API server takes no writes: ECONNREFUSED",
      "n2: may not create events in every namespace",
      "n2: the installed CRDs drop spec.interfaces of L2Advertisement",
    ]) {
      expect(text).to.include(`\n${line}\n`);
    }
  });

  it("counts what it does not list", () => {
    const addresses = Array.from({ length: 1_000 }, (_, i) => `192.0.2.${i}`);
    const readings = withOneOf("n3", { addresses: addresses.map((address) => seenBy("n3", address)) });
    const text = problemsOf(readings).join("\n");
    expect(text).to.match(/ and 99[0-9] more$/);
    expect(text.length).to.be.lessThan(200);
  });

  it("does not depend on the order in which speakers answer, and fits its schema", () => {
    const check = compileCheck("cluster status", ClusterStatusSchema);
    const someReadings = fc.uniqueArray(
      fc.record({
        node: fc.constantFrom("n1", "n2", "n3", "n4"),
        isReady: fc.boolean(),
        leader: fc.constantFrom("n1", "n2", "n3", undefined),
        knows: fc.boolean(),
        answers: fc.boolean(),
      }),
      { selector: ({ node }) => node, minLength: 1 },
    );
    fc.assert(
      fc.property(someReadings, (speakers) => {
        const readings = speakers.map(({ node, isReady, leader, knows, answers }) => {
          const { leader: _, ...rest } = seenBy(node, "192.0.2.100", {
            state: leader === node ? "leading" : "follower",
          });
          const seen = leader === undefined ? rest : { ...rest, leader };
          const ready = { isReady, reason: isReady ? "ready" : "reading-sources", since: AT } as const;
          return answers
            ? answered(statusOf(node, { ready, addresses: knows ? [seen] : [] }))
            : silent(node, "it is away");
        });
        const merged = mergeStatus(readings, AT);
        check(merged);
        expect(mergeStatus(readings.toReversed(), AT)).to.deep.equal(merged);
      }),
    );
  });
});
