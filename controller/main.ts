#!/usr/bin/env node
/** The controller's process: reads options, then runs; every fault ends it with a sentence and an exit code. */
import { ArpeggioError } from "../src/base/errors.ts";
import { createLog } from "../src/base/log.ts";
import { formatHelp, formatVersion } from "./help.ts";
import { parseOptions } from "./options.ts";
import { runController } from "./run.ts";

/** Options are wrong. */
const EXIT_INVALID = 2;
const EXIT_FAILED = 1;

const invocation = parseOptions(process.argv.slice(2), { workingFolder: process.cwd() });
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
    const fail = (error: unknown): never => {
      // The stack is for us; a fault that has a code explains itself to its user.
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      process.stderr.write(`controller: ${error instanceof ArpeggioError ? error.message : text}\n`);
      process.exit(EXIT_FAILED);
    };
    process.on("uncaughtException", fail);
    process.on("unhandledRejection", fail);
    const log = createLog(invocation.options.logLevel, (line) => void process.stderr.write(line), Date.now);
    await runController(invocation.options, log, fail).catch(fail);
    break;
  }
  default:
    invocation satisfies never;
}
