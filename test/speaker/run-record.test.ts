import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { RunRecord } from "../../speaker/run-record.ts";

const NOW_MS = Date.parse("2026-03-01T12:00:00Z");
const RESTART = { kind: "restart", ageMs: 0 };

describe("RunRecord", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "arpeggio-run-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function troublesAt(wallMs: number, inFolder: string | undefined = folder) {
    return new RunRecord(inFolder, wallMs).pastTroubles(wallMs);
  }

  it("remembers starts that followed no leave", () => {
    expect(troublesAt(NOW_MS)).to.deep.equal([]);
    expect(troublesAt(NOW_MS + 1_000)).to.deep.equal([RESTART]);
    const third = new RunRecord(folder, NOW_MS + 5_000);
    third.markLeft();
    expect(troublesAt(NOW_MS + 6_000)).to.deep.equal([
      { kind: "restart", ageMs: 5_000 },
      { kind: "restart", ageMs: 1_000 },
    ]);
  });

  it("remembers deaths that were refuted, and that the node went on after them", () => {
    const record = new RunRecord(folder, NOW_MS);
    record.addRefutedDeath(NOW_MS + 500);
    expect(troublesAt(NOW_MS + 2_000)).to.deep.equal([{ kind: "refuted-death", ageMs: 1_500 }, RESTART]);
  });

  it("takes nothing that lies ahead for true after the wall clock was set back", () => {
    new RunRecord(folder, NOW_MS).addRefutedDeath(NOW_MS);
    const record = new RunRecord(folder, NOW_MS - 60_000);
    expect(record.pastTroubles(NOW_MS - 60_000).map(({ ageMs }) => ageMs)).to.deep.equal([0, 0]);
  });

  it("makes its folder, starts anew after a broken file, and reads the file of a version that only counted", () => {
    const inner = join(folder, "deep");
    expect(troublesAt(NOW_MS, inner)).to.deep.equal([]);
    writeFileSync(join(inner, "run.json"), "{");
    expect(troublesAt(NOW_MS, inner)).to.deep.equal([]);
    writeFileSync(join(inner, "run.json"), '{"restarts":7,"hasLeft":false}');
    expect(troublesAt(NOW_MS, inner)).to.deep.equal([RESTART]);
    writeFileSync(join(inner, "run.json"), '{"troubles":[1,{"kind":"x","atMs":1}],"hasLeft":true}');
    expect(troublesAt(NOW_MS, inner)).to.deep.equal([]);
  });

  it("knows whether there was a run before, and takes what peers remember of it", () => {
    const first = new RunRecord(folder, NOW_MS);
    expect(first.isFirstRun).to.equal(true);
    first.remember([{ kind: "restart", ageMs: 30_000 }], NOW_MS + 500);
    const second = new RunRecord(folder, NOW_MS + 1_000);
    expect(second.isFirstRun).to.equal(false);
    expect(second.pastTroubles(NOW_MS + 1_000)).to.deep.equal([{ kind: "restart", ageMs: 30_500 }, RESTART]);
    expect(new RunRecord(undefined, NOW_MS).isFirstRun).to.equal(true);
  });

  it("remembers nothing without a cache folder", () => {
    new RunRecord(undefined, NOW_MS).addRefutedDeath(NOW_MS);
    expect(troublesAt(NOW_MS, undefined)).to.deep.equal([]);
  });
});
