/** Options that every daemon has. */
import type { OptionRow } from "./option-row.ts";

export const COMMON_ROWS = [
  {
    name: "log-level",
    placeholder: "all|debug|info|warn|error|none",
    byDefault: "info",
    text: "Lines below this level are not written.",
  },
  { name: "version", text: "Prints the version and ends." },
  { name: "help", text: "Prints this text and ends." },
] as const satisfies readonly OptionRow[];
