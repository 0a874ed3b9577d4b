import { expect } from "chai";
import { leaderlessSentence, refusedSentence } from "../../speaker/service-sentence.ts";
import type { RefusedService } from "../../src/desired/group.ts";
import type { Decision } from "../../src/election/decision.ts";
import { ip } from "../election/views.ts";

const WEB = { namespace: "shop", name: "web", addresses: [ip("192.0.2.1")] };

describe("refusedSentence", () => {
  for (const [refused, sentence] of [
    [{ reason: "no-advertisement", pool: "main", advertisements: [] }, "no advertisement selects pool main"],
    [
      { reason: "no-advertisement", pool: "main", advertisements: ["a", "b"] },
      "no advertisement of pool main selects the Service by its labels: a, b",
    ],
    [{ reason: "no-pool" }, "no pool holds 192.0.2.1"],
    [
      { reason: "no-pool", addresses: [ip("192.0.2.1"), ip("2001:db8::1")] },
      "no pool holds all of 192.0.2.1, 2001:db8::1",
    ],
    [
      { reason: "not-admitted-by-pool", pool: "main" },
      "pool main does not admit the Service: its serviceAllocation names other namespaces than shop, or other labels",
    ],
    [
      { reason: "shared-address-with-service-selector", pool: "main", advertisements: ["a"] },
      "the address may be shared (annotation allow-shared-ip), and advertisements of pool main have serviceSelectors: a",
    ],
    [{ reason: "invalid-address" }, "status.loadBalancer.ingress has an entry that is no IP address"],
    [{ reason: "not-load-balancer" }, undefined],
    [{ reason: "other-load-balancer-class" }, undefined],
    [{ reason: "being-deleted" }, undefined],
    [{ reason: "no-address" }, undefined],
  ] as readonly (readonly [Partial<RefusedService> & Pick<RefusedService, "reason">, string | undefined])[]) {
    it(`of ${refused.reason} is ${sentence ?? "nobody's business"}`, () => {
      expect(refusedSentence({ ...WEB, ...refused })).to.equal(sentence);
    });
  }
});

describe("leaderlessSentence", () => {
  const many = Array.from({ length: 12 }, (_, index) => `n${index + 1}`);
  for (const [reason, refusals, sentence] of [
    [
      "excluded",
      { excluded: ["n1", "n2"] },
      "every candidate excluded by label node.kubernetes.io/exclude-from-external-load-balancers: n1, n2",
    ],
    ["no-serving-endpoint", { "no-serving-endpoint": ["n1"], excluded: ["n2"] }, "no serving endpoint"],
    [
      "no-local-endpoint",
      { excluded: ["n1"], "no-local-endpoint": ["n2", "n3"] },
      "no candidate is left; excluded by label node.kubernetes.io/exclude-from-external-load-balancers: n1; " +
        "without a serving endpoint of its own under externalTrafficPolicy Local: n2, n3",
    ],
    [
      "endpoint-without-node",
      { "endpoint-without-node": ["n1"] },
      "every candidate without a serving endpoint of its own under externalTrafficPolicy Local, where an endpoint has no nodeName: n1",
    ],
    [
      "not-selected",
      { "not-selected": many },
      "every candidate selected by no advertisement: n1, n2, n3, n4, n5, n6, n7, n8, n9, n10 and 2 more",
    ],
    ["no-members", {}, "no speaker is alive"],
  ] as readonly (readonly [Decision["reason"], Partial<Record<string, readonly string[]>>, string])[]) {
    it(`of ${reason} with ${JSON.stringify(refusals)}`, () => {
      const list = Object.entries(refusals).flatMap(([why, nodes]) =>
        (nodes ?? []).map((node) => ({ node, reason: why as Decision["refusals"][number]["reason"] })),
      );
      expect(leaderlessSentence({ reason, refusals: list })).to.equal(sentence);
    });
  }
});
