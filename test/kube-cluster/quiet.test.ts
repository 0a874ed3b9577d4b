import { expect } from "chai";
import { formatQuiet, summarizeQuiet } from "../../hack/kube-cluster/audit/quiet.ts";
import { auditRequest } from "./audit-request.ts";

const START_MS = Date.parse("2026-11-29T23:40:00.000Z");

function at(seconds: number, verb: string, resource: string | undefined, path = "/") {
  return auditRequest({ verb, resource, path, atMs: START_MS + 1_000 * seconds });
}

describe("summarizeQuiet", () => {
  it("tells watches and the lists of kinds that are not there from everything else", () => {
    const quiet = summarizeQuiet(
      [
        at(-1, "create", "events"),
        at(0, "watch", "pods"),
        at(1, "watch", "pods"),
        at(2, "list", "bgppeers"),
        at(3, "watch", "bgppeers"),
        at(4, "list", "pods"),
        at(5, "get", "configurationstates"),
        at(6, "get", undefined, "/openapi/v3"),
        at(7, "patch", "servicel2statuses/status"),
        at(8, "deletecollection", "events"),
      ],
      START_MS,
    );
    expect(quiet).to.include({ watches: 3, bgpLists: 1, others: 3, writes: 2 });
    expect(formatQuiet(quiet)).to.include("watch             pods                      2\n");
    expect(formatQuiet(quiet)).to.include("get               /openapi/v3               1\n");
  });

  it("is all noughts where nothing was asked", () => {
    expect(summarizeQuiet([], START_MS)).to.deep.equal({ watches: 0, bgpLists: 0, writes: 0, others: 0, rows: [] });
  });
});
