/** The speaker's process: reads options, then runs; every fault ends it with a sentence and an exit code. */
import { createLog } from "../src/base/log.ts";
import { processHost } from "../src/daemon/process-host.ts";
import { endOnFault } from "../src/sys/end-on-fault.ts";
import { formatHelp, formatVersion } from "./help.ts";
import { parseOptions } from "./options.ts";
import { runSpeaker } from "./run.ts";

/** Options, environment or the files they name are wrong. */
const EXIT_INVALID = 2;

function printProblems(problems: readonly string[]): never {
  for (const problem of problems) process.stderr.write(`speaker: ${problem}\n`);
  process.exit(EXIT_INVALID);
}

const host = processHost();
if (process.argv[2] === "make-key") {
  const { runMakeKey } = await import("./make-key.ts");
  const keyHost = {
    ...host,
    environment: process.env,
    print: (text: string) => void process.stdout.write(text),
    complain: (text: string) => void process.stderr.write(text),
  };
  process.exit(await runMakeKey(process.argv.slice(3), keyHost));
}
const invocation = parseOptions(process.argv.slice(2), process.env, host);
switch (invocation.kind) {
  case "help":
    process.stdout.write(formatHelp());
    break;
  case "version":
    process.stdout.write(formatVersion());
    break;
  case "invalid":
    printProblems(invocation.problems);
    break;
  case "run": {
    const { options, notes } = invocation;
    const log = createLog(options.logLevel, (line) => void process.stderr.write(line), Date.now);
    for (const note of notes) log.warn(note);
    const fail = endOnFault("speaker");
    await runSpeaker(options, log, { fail, refuse: printProblems }).catch(fail);
    break;
  }
}
