import { expect } from "chai";
import { mergeDecision } from "../../cli/merge-decision.ts";
import { addressesOf, mergeServiceDecision } from "../../cli/merge-service.ts";
import type { AddressReading, StatusReading } from "../../cli/readings.ts";
import type { Ip } from "../../src/net/ip.ts";
import { AT } from "../http/example-documents.ts";
import { answered, decisionOf, ledByNobody, seenBy, silent, statusOf } from "./documents.ts";

const WEB = "default/web";

function problemsOf(readings: readonly StatusReading[], ...decisions: readonly (readonly [Ip, AddressReading[]])[]) {
  const merged = decisions.map(([address, found]) => mergeDecision(address, found, AT));
  return mergeServiceDecision(WEB, readings, merged, AT).problems;
}

describe("addressesOf", () => {
  it("are all that any speaker knows, led or not, each once, IPv4 first", () => {
    const readings = [
      answered(
        statusOf("n1", {
          addresses: [seenBy("n1", "2001:db8::100"), seenBy("n1", "192.0.2.100"), ledByNobody("192.0.2.9", "no-pool")],
        }),
      ),
      answered(statusOf("n2", { addresses: [seenBy("n2", "192.0.2.100"), seenBy("n2", "192.0.2.101")] })),
      silent("n3", "nothing listens on its port 17472"),
    ];
    expect(addressesOf(WEB, readings)).to.deep.equal(["192.0.2.9", "192.0.2.100", "192.0.2.101", "2001:db8::100"]);
    expect(addressesOf("default/we", readings)).to.deep.equal([]);
  });
});

describe("mergeServiceDecision", () => {
  const good = answered(statusOf("n1"));

  it("says who gives no answer, and who is not ready, when no address is known", () => {
    const starting = answered(
      statusOf("n2", { ready: { isReady: false, reason: "reading-sources", since: AT }, addresses: [] }),
    );
    expect(problemsOf([silent("n3", "its pod is Pending"), starting])).to.deep.equal([
      "n3 gives no answer: its pod is Pending",
      "n2 is not ready: reading-sources",
      "Service default/web has no address: so says n2. Is there such a Service, of type LoadBalancer, with an address in its status?",
    ]);
    expect(problemsOf([silent("n3", "its pod is Pending")])).to.have.length(1);
  });

  it("says once what is so for every address, and of which address the rest is", () => {
    const split = [decisionOf("n1"), decisionOf("n2", { leader: "n2", state: "leading" })];
    const away: AddressReading = { reached: { node: "n3" }, answer: { ok: false, reason: "its pod is Pending" } };
    const problems = problemsOf(
      [good],
      ["192.0.2.100" as Ip, [decisionOf("n1"), decisionOf("n2"), away]],
      ["2001:db8::100" as Ip, [...split, away]],
    );
    expect(problems).to.deep.equal([
      "n3 gives no answer: its pod is Pending",
      "2001:db8::100: the speakers disagree: n1 says n1, n2 says n2",
    ]);
  });
});
