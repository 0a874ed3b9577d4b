/** Mocha's spec reporter, and as the very last line one that a machine can read: `N passed, N failed, N skipped`. */
import Mocha from "mocha";

export default class Reporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.once("end", () => {
      process.once("exit", () => {
        const { passes = 0, failures = 0, pending = 0 } = runner.stats ?? {};
        process.stdout.write(`${passes} passed, ${failures} failed, ${pending} skipped\n`);
      });
    });
  }
}
