/** An option as a person reads it. Pure. */
import type { OptionRow } from "./option-row.ts";

/** Columns of an old terminal. */
const WIDTH = 80;
const INDENT = "        ";

export function heading(row: OptionRow): string {
  return row.placeholder === undefined ? `--${row.name}` : `--${row.name}=${row.placeholder}`;
}

/** An entry of `--help`. */
export function formatRow(row: OptionRow): string {
  const variable = row.variable === undefined ? "" : `  [${row.variable}]`;
  const byDefault = row.byDefault === undefined ? "" : ` Default: ${row.byDefault}.`;
  return `  ${heading(row)}${variable}\n${wrap(row.text + byDefault)}\n`;
}

function wrap(text: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && INDENT.length + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => INDENT + each).join("\n");
}
