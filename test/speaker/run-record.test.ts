import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { RunRecord } from "../../speaker/run-record.ts";

describe("RunRecord", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "arpeggio-run-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("counts starts that followed no leave", () => {
    expect(new RunRecord(folder).restarts).to.equal(0);
    expect(new RunRecord(folder).restarts).to.equal(1);
    const third = new RunRecord(folder);
    expect(third.restarts).to.equal(2);
    third.markLeft();
    expect(new RunRecord(folder).restarts).to.equal(2);
  });

  it("makes its folder, and starts anew after a broken file", () => {
    const inner = join(folder, "deep");
    expect(new RunRecord(inner).restarts).to.equal(0);
    writeFileSync(join(inner, "run.json"), "{");
    expect(new RunRecord(inner).restarts).to.equal(0);
  });

  it("counts nothing without a cache folder", () => {
    expect(new RunRecord(undefined).restarts).to.equal(0);
  });
});
