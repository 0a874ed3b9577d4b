/** Where the time goes: seconds of each test file, its hooks included, the slowest first. */
import { relative, resolve } from "node:path";
import Mocha from "mocha";

const DIST = resolve(import.meta.dirname, "../..");
const LINES = 100;
const WORTH_A_LINE_MS = 1_000;

/** Listens to the runner; the text is of what has ended when it is called. */
export function timeFiles(runner: Mocha.Runner): () => string {
  const { EVENT_SUITE_BEGIN, EVENT_SUITE_END } = Mocha.Runner.constants;
  const spentMs = new Map<string, number>();
  let beganMs = 0;
  runner.on(EVENT_SUITE_BEGIN, (suite) => {
    if (isOutermost(suite)) beganMs = performance.now();
  });
  runner.on(EVENT_SUITE_END, (suite) => {
    if (!isOutermost(suite) || suite.file === undefined) return;
    const file = relative(DIST, suite.file).replace(/\.js$/, ".ts");
    spentMs.set(file, (spentMs.get(file) ?? 0) + performance.now() - beganMs);
  });
  return () => {
    const slowest = [...spentMs].filter(([, ms]) => ms >= WORTH_A_LINE_MS).toSorted(([, a], [, b]) => b - a);
    const lines = slowest.slice(0, LINES).map(([file, ms]) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${file}\n`);
    return lines.length === 0 ? "" : `  slowest files\n${lines.join("")}\n`;
  };
}

function isOutermost(suite: Mocha.Suite): boolean {
  return suite.parent?.root === true;
}
