/** A daemon that goes on after a fault of its own would be worse than one that is started again. */
import { ArpeggioError } from "../base/errors.ts";

const EXIT_FAILED = 1;

/** From now on everything that nobody catches ends the process with a sentence that begins with `program`; so does what is returned. */
export function endOnFault(program: string): (error: unknown) => never {
  const fail = (error: unknown): never => {
    // The stack is for us; a fault that has a code explains itself to its user.
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`${program}: ${error instanceof ArpeggioError ? error.message : text}\n`);
    process.exit(EXIT_FAILED);
  };
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  return fail;
}
