/** Expected texts are written by hand from docs/cli.md; the decision itself is that of `/status/addresses/:ip`. */
import { expect } from "chai";
import { ClusterDecisionSchema } from "../../api/cluster-decision.ts";
import { formatClusterDecision } from "../../cli/decision-text.ts";
import { mergeDecision } from "../../cli/merge-decision.ts";
import type { AddressReading } from "../../cli/readings.ts";
import { formatAddress } from "../../src/http/address-text.ts";
import { compileCheck } from "../../src/http/document-check.ts";
import type { Ip } from "../../src/net/ip.ts";
import { ADDRESS, AT, VIEWS_DIFFER } from "../http/example-documents.ts";
import { decisionOf, ignorant } from "./documents.ts";

const IP = "2001:db8::100" as Ip;
const check = compileCheck("cluster decision", ClusterDecisionSchema);

function textOf(readings: readonly AddressReading[]): string {
  const merged = mergeDecision(IP, readings, AT);
  check(merged);
  return formatClusterDecision(merged);
}

describe("arpeggio why", () => {
  it("prints the leader's decision whole: candidates with rank and tier, refusals with their sentence", () => {
    const text = textOf(["n3", "n2", "n1"].map((node) => decisionOf(node)));
    expect(text).to.equal(`${formatAddress(ADDRESS)}\nall 3 speakers say the same\n`);
    expect(text).to.include("\n1     n1    1     50     any        abababababab\n");
    expect(text).to.include("\nn4       not-selected: no advertisement selects the node\n");
  });

  it("shows what each speaker says when they differ, and tells the decision that most follow", () => {
    const readings = [
      decisionOf("n1"),
      decisionOf("n2"),
      decisionOf("n3", { leader: "n3", state: "leading", reason: "only-candidate" }),
      ignorant("n4"),
      ignorant("n5", false),
      { reached: { node: "n6", pod: "speaker-n6" }, answer: { ok: false, reason: "its pod is Pending" } } as const,
    ];
    const [head = "", ...rest] = textOf(readings).split("\nNODE");
    expect(head).to.equal(formatAddress(ADDRESS));
    expect(`NODE${rest.join("")}`).to.equal(
      [
        "NODE  POD         SAYS             HERE          REASON",
        "n1    speaker-n1  n1               leading       best-tier",
        "n2    speaker-n2  n1               follower      best-tier",
        "n3    speaker-n3  n3               leading       only-candidate",
        "n4    speaker-n4  no such address  -             -",
        "n5    speaker-n5  no such address  -, not ready  -",
        "n6    speaker-n6  no answer        -             -",
        "",
        "! n5 is not ready",
        "! n6 gives no answer: its pod is Pending",
        "! the speakers disagree: n1 says n1, n3 says n3, n4 says that no Service has the address",
        "",
      ].join("\n"),
    );
  });

  it("shows both views when two nodes hold themselves elected, and what decided", () => {
    const viewsDiffer = VIEWS_DIFFER;
    const text = textOf([
      decisionOf("n1", { viewsDiffer }),
      decisionOf("n2"),
      decisionOf("n3", { leader: "n3", state: "views-differ", viewsDiffer }),
    ]);
    const sentence =
      "n1 answers, and n3 would, too, in its own view; the view of the API, by revision, of n1 is the better one: 4711, not 4242";
    expect(text).to.include(`\nviews    differ: ${sentence}\n`);
    expect(text).to.include(
      [
        "",
        "VIEW OF  RULE        TERM  FRESHNESS  TIER  SCORE  ENDPOINTS  HASH",
        "n1       arpeggio-1  0     4711       2     50     any        abababababab",
        "n3       arpeggio-1  0     4242       1     0      any        cdcdcdcdcdcd",
        "",
      ].join("\n"),
    );
    expect(text).to.include("\nn3    speaker-n3  n3    views-differ  best-tier\n");
    expect(text).to.include(`\n! views differ: ${sentence}\n`);
    expect(text).not.to.include("does not answer");
  });

  it("says the sentence when nobody leads", () => {
    const { leader: _, ...nobody } = ADDRESS;
    const reading = (node: string): AddressReading => ({
      reached: { node },
      answer: {
        ok: true,
        value: { node, isReady: true, document: { ...nobody, node, state: "nobody", reason: "no-serving-endpoint" } },
      },
    });
    const text = textOf([reading("n1"), reading("n2")]);
    expect(text).to.include("leader   nobody for 3m4s, before that n2\n");
    expect(text).to.include("reason   no-serving-endpoint: no endpoint of the Service serves\n");
    expect(text.endsWith("\nall 2 speakers say the same\n")).to.equal(true);
  });

  it("says it when no Service has the address", () => {
    expect(textOf([ignorant("n1"), ignorant("n2")])).to.equal(
      "! no Service has the address 2001:db8::100: so say n1 and n2\n",
    );
  });

  it("says that an elected leader does not answer", () => {
    const readings = [decisionOf("n1", { state: "follower" }), decisionOf("n2")];
    expect(textOf(readings)).to.include("! n1 is elected for 2001:db8::100, but does not answer\n");
  });

  it("lets another stand in for a leader that gives no answer", () => {
    const merged = mergeDecision(
      IP,
      [decisionOf("n3"), decisionOf("n2"), { reached: { node: "n1" }, answer: { ok: false, reason: "it is away" } }],
      AT,
    );
    expect(merged.decision?.node).to.equal("n2");
    expect(merged.problems).to.deep.equal(["n1 gives no answer: it is away"]);
  });
});
