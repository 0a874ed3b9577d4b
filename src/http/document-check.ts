/** The last look at a document before it is served. */
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { ArpeggioError } from "../base/errors.ts";

/** Returns a function that throws ERR_DOCUMENT_INVALID, naming field and fault, for a value that does not match: our fault, never the client's. */
export function compileCheck(name: string, schema: TSchema): (value: unknown) => void {
  const validator = Compile(schema);
  return (value) => {
    if (validator.Check(value)) return;
    const [error] = validator.Errors(value);
    const where = error === undefined ? "" : ` at "${error.instancePath}": ${error.message}`;
    throw new ArpeggioError("ERR_DOCUMENT_INVALID", `the ${name} document does not match its schema${where}`);
  };
}
