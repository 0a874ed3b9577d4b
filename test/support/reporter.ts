/**
 * Mocha's spec reporter, then the slowest files, and as the very last line one that a machine can read: `N passed, N failed, N skipped`.
 * A test that leaves a socket, timer or process open would keep this process for ever: after a minute it says which kinds are open, and fails.
 */
import Mocha from "mocha";
import { timeFiles } from "./slowest-files.ts";

const LINGER_MS = 60_000;

export default class Reporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const slowestFiles = timeFiles(runner);
    runner.once("end", () => {
      process.stdout.write(slowestFiles());
      process.once("exit", () => {
        const { passes = 0, failures = 0, pending = 0 } = runner.stats ?? {};
        process.stdout.write(`${passes} passed, ${failures} failed, ${pending} skipped\n`);
      });
      setTimeout(() => {
        process.stdout.write(
          `still open a minute after the last test: ${process.getActiveResourcesInfo().join(", ")}\n`,
        );
        process.exit(1);
      }, LINGER_MS).unref();
    });
  }
}
