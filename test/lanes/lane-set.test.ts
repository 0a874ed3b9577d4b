import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { LaneSet } from "../../hack/lanes/lane-set.ts";
import type { Lane } from "../../hack/lanes/lanes.ts";

const SILENCE_LIMIT_MS = 1_500;
const GOOD = "echo as it should be; echo 2 passed, 0 failed, 1 skipped";

describe("LaneSet", () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "arpeggio-lanes-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  it("counts all lanes in the very last line, and shows one after the other", async () => {
    const { text, code } = await run({ first: `sleep 0.3; ${GOOD}; sleep 0.3`, second: GOOD.replace("it", "this") });
    expect(code).to.equal(0);
    expect(text).to.match(/as it should be\n.*as this should be\n.*\n4 passed, 0 failed, 2 skipped\n$/s);
  });

  it("fails when a test does, and says so before the other lanes have ended", async () => {
    const failing = "echo 5 passed, 2 failed, 0 skipped; exit 2";
    const { text, code } = await run({ slow: `sleep 0.5; ${GOOD}`, failing });
    expect(code).to.equal(1);
    expect(text.indexOf("(meanwhile) lane failing: 5 passed, 2 failed")).to.be.within(0, text.indexOf("as it should"));
    expect(text).to.match(/\n7 passed, 2 failed, 1 skipped\n$/);
  });

  it("says at the end again what failed, after all that passed elsewhere", async () => {
    const list = "1) a promise\\n       is kept:\\n     AssertionError: expected 2 to equal 1";
    const failing = `printf '\\n  1 passing (1s)\\n  1 failing\\n\\n  ${list}\\n\\n  slowest files\\n 1.0 s  a.ts\\n'; echo 1 passed, 1 failed, 0 skipped; exit 1`;
    const { text } = await run({ failing, slow: `sleep 0.3; ${GOOD}` });
    const again = text.slice(text.indexOf("as it should be"));
    expect(again).to.match(
      /\n=== failed in lane failing\n\n {2}1\) a promise\n {7}is kept:\n {5}AssertionError: expected 2 to/,
    );
    expect(again).to.not.include("a.ts");
  });

  for (const { name, script, says } of [
    { name: "crashes", script: "echo alive; kill -SEGV $$", says: "was ended by SIGSEGV" },
    { name: "ends too soon", script: "echo alive; exit 0", says: "ended with exit code 0 before its tests did" },
    { name: "ends badly", script: `echo alive; ${GOOD}; exit 1`, says: "exit code 1 though no test failed" },
    { name: "hangs", script: "echo alive; sleep 600", says: "wrote nothing for too long and was ended" },
    { name: "hangs after its end", script: `echo alive; ${GOOD}; sleep 600`, says: "wrote nothing for too long" },
    { name: "cannot be started", script: undefined, says: "ended with exit code 127" },
  ]) {
    it(`fails when a lane ${name}, with what it wrote`, async () => {
      const { text, code } = await run({ bad: script, good: GOOD });
      expect(code).to.equal(1);
      if (script !== undefined) expect(text).to.contain("alive\n");
      expect(text).to.contain(says);
      expect(text).to.match(/\n[24] passed, 1 failed, [12] skipped\n$/);
    });
  }

  it("begins a lane when those before it have ended", async () => {
    const mark = join(folder, "mark");
    const lanes = [lane("first"), { ...lane("second"), after: ["first"] }];
    const { code } = await run({ first: `sleep 0.3; touch ${mark}; ${GOOD}`, second: `ls ${mark} && ${GOOD}` }, lanes);
    expect(code).to.equal(0);
  });

  it("ends what its lanes started when it is told to end", async () => {
    const set = setOf({ first: "sleep 600" }, [lane("first"), { ...lane("second"), after: ["first"] }]);
    setTimeout(() => set.signal("SIGTERM"), 100);
    expect(await set.run()).to.equal(1);
  });

  const written: string[] = [];

  function setOf(
    scripts: Readonly<Record<string, string | undefined>>,
    lanes: readonly Lane[] = Object.keys(scripts).map(lane),
  ): LaneSet {
    written.length = 0;
    return new LaneSet({
      lanes,
      argvOf: ({ name }) => ["env", ...(scripts[name] === undefined ? ["no-such-tool"] : ["sh", "-c", scripts[name]])],
      logFolder: folder,
      silenceLimitMs: SILENCE_LIMIT_MS,
      planeIsBuilt: () => Promise.resolve(),
      write: (text) => written.push(Buffer.from(text).toString()),
    });
  }

  async function run(
    scripts: Readonly<Record<string, string | undefined>>,
    lanes?: readonly Lane[],
  ): Promise<{ readonly text: string; readonly code: number }> {
    const code = await setOf(scripts, lanes).run();
    return { text: written.join(""), code };
  }
});

function lane(name: string): Lane {
  return { name, niceness: 0, after: [], needsPlane: false, files: [] };
}
