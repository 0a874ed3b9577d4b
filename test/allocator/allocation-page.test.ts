/** docs/allocation.md names every reason for which a Service gets no address. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";

const ROOT = join(import.meta.dirname, "../../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

describe("docs/allocation.md", () => {
  it("has a row for each reason of src/allocator/refusal.ts, and for no other", () => {
    const reasons = [...read("src/allocator/refusal.ts").matchAll(/readonly reason: "([a-z-]+)"/g)].map((match) =>
      (match[1] ?? "").replace(/(^|-)([a-z])/g, (_match, _dash, letter: string) => letter.toUpperCase()),
    );
    expect(reasons).to.have.length.greaterThan(20);
    const rows = [...read("docs/allocation.md").matchAll(/^\| `([A-Z]\w+)` +\|/gm)].map((match) => match[1]);
    expect(rows).to.have.members(["Allocated", ...new Set(reasons)]);
  });
});
