import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { NODE_ANNOTATIONS, NODE_LABELS, NODE_TAINTS } from "../../api/annotations.ts";
import { SIGNALS } from "../../api/signals.ts";
import { formatSignals } from "../../hack/signals-page.ts";

const ROOT = join(import.meta.dirname, "../../..");

describe("signals", () => {
  it("stand in docs/signals.md as they are; `node hack/readme.ts signals` writes it", () => {
    expect(readFileSync(join(ROOT, "docs/signals.md"), "utf8")).to.equal(formatSignals());
  });

  it("name every label, taint and annotation of a Node that is read", () => {
    const read = [
      NODE_LABELS.excludeFromLoadBalancers,
      ...Object.values(NODE_TAINTS),
      ...Object.values(NODE_ANNOTATIONS),
    ];
    const text = SIGNALS.map(({ signal, effect }) => `${signal} ${effect}`).join("\n");
    for (const key of read) expect(text).to.include(key);
  });
});
