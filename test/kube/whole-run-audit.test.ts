/**
 * What all tests on the cluster made our programs do, beside api/rbac.ts: every verb that is granted is used, none is that is not
 * granted, and none is refused. By its name this file comes last.
 */
import { readdirSync } from "node:fs";
import { basename } from "node:path";
import { expect } from "chai";
import { compareOnCluster } from "../../hack/kube-cluster/audit/cluster-audit.ts";
import { type Comparison, unusedOf } from "../../hack/kube-cluster/audit/compare-rights.ts";
import { formatComparison, formatRight, summaryOf } from "../../hack/kube-cluster/audit/rights-report.ts";
import { useCluster } from "../support/kube.ts";

/** Read again when somebody else has written in between, which no test can be sure of. */
const ONLY_AFTER_CONFLICTS: readonly string[] = [
  "arpeggio-controller: get configurationstates (metallb.io) in metallb-system",
];

describe("the whole run", () => {
  const kube = useCluster();
  let comparisons: readonly Comparison[] = [];

  before(async () => {
    // One of the tests grants what components/prometheus does.
    const more = { speakerMetrics: true, controllerMetrics: false };
    comparisons = await compareOnCluster(kube().cluster, more, kube().refusals);
  });

  it("was refused nothing, and did nothing that is not granted", () => {
    for (const comparison of comparisons) {
      expect([...comparison.refused, ...comparison.beyond], formatComparison(comparison)).to.deep.equal([]);
    }
  });

  it("used every verb that is granted", function () {
    const root = this.test?.parent?.parent;
    const files = new Set(root?.suites.map(({ file }) => basename(file ?? "")));
    const missing = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".test.js") && !files.has(name));
    if (missing.length > 0) {
      process.stdout.write(`    skipped: not the whole run, ${missing.join(", ")} did not run\n`);
      this.skip();
    }
    expect(root?.suites.at(-1)?.title, "this file is the last").to.equal("the whole run");
    for (const comparison of comparisons) {
      process.stdout.write(`    ${comparison.serviceAccount}: ${summaryOf(comparison)}\n`);
      const unused = unusedOf(comparison).map(formatRight);
      expect(
        unused.filter((right) => !ONLY_AFTER_CONFLICTS.includes(`${comparison.serviceAccount}: ${right}`)),
      ).to.deep.equal([]);
    }
  });
});
