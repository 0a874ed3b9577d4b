#!/usr/bin/env node
/** The controller's process: reads options, then runs; every fault ends it with a sentence and an exit code. */
import { createLog } from "../src/base/log.ts";
import { processHost } from "../src/daemon/process-host.ts";
import { endOnFault } from "../src/sys/end-on-fault.ts";
import { formatHelp, formatVersion } from "./help.ts";
import { parseOptions } from "./options.ts";
import { runController } from "./run.ts";

/** Options are wrong. */
const EXIT_INVALID = 2;

const invocation = parseOptions(process.argv.slice(2), process.env, processHost());
switch (invocation.kind) {
  case "help":
    process.stdout.write(formatHelp());
    break;
  case "version":
    process.stdout.write(formatVersion());
    break;
  case "invalid":
    for (const problem of invocation.problems) process.stderr.write(`controller: ${problem}\n`);
    process.exitCode = EXIT_INVALID;
    break;
  case "run": {
    const fail = endOnFault("controller");
    const { options, notes } = invocation;
    const log = createLog(options.logLevel, (line) => void process.stderr.write(line), Date.now);
    for (const note of notes) log.warn(note);
    await runController(options, log, fail).catch(fail);
    break;
  }
  default:
    invocation satisfies never;
}
