#!/usr/bin/env node
/** `arpeggio`, also run as `kubectl arpeggio`: prints, and ends with an exit code that `--help` explains. */
import { runCommand } from "./command.ts";

const { exitCode, output, complaint } = await runCommand(process.argv.slice(2));
process.stderr.write(complaint);
// A port-forward that never opened would keep the process; what is written to a pipe must leave first.
process.stdout.write(output, () => process.exit(exitCode));
