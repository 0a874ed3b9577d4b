/** The program that runs the tests for hack/test: `main.js all|quick|kube`, after everything is built. */
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { findPlane } from "../kube-cluster/plane.ts";
import { LaneSet } from "./lane-set.ts";
import { lanesOf, type Part } from "./lanes.ts";

const TESTS = resolve(import.meta.dirname, "../../test");
/** No test may take longer, and mocha says of each when it has ended. */
const SILENCE_LIMIT_MS = 25 * 60_000;

const [, , part = "all"] = process.argv;
const files = readdirSync(TESTS, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".test.js"));
const lanes = new LaneSet({
  lanes: lanesOf(files, part as Part),
  argvOf: ({ niceness, files: own }) => [
    "nice",
    "-n",
    `${niceness}`,
    "mocha",
    ...own.map((file) => `dist/test/${file}`),
  ],
  logFolder: ".cache/log",
  silenceLimitMs: SILENCE_LIMIT_MS,
  // Whatever is wrong with it: the tests ask for it again, and say so.
  planeIsBuilt: () => findPlane().catch(() => undefined),
  write: (text) => process.stdout.write(text),
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => lanes.signal(signal));
process.exitCode = await lanes.run();
