#!/usr/bin/env node
/** `arpeggio`, also run as `kubectl arpeggio`: prints, and ends with an exit code that `--help` explains. */
import { runCommand } from "./command.ts";

const { exitCode, output, complaint } = await runCommand(process.argv.slice(2));
process.stdout.write(output);
process.stderr.write(complaint);
process.exitCode = exitCode;
