/** Options as a person reads them. Pure. */
import type { OptionRow } from "./option-row.ts";

/** Columns of an old terminal. */
const WIDTH = 80;
const INDENT = "        ";

export function heading(row: OptionRow): string {
  return row.placeholder === undefined ? `--${row.name}` : `--${row.name}=${row.placeholder}`;
}

/** An entry of `--help`. */
function formatRow(row: OptionRow): string {
  const variable = row.variable === undefined ? "" : `  [${row.variable}]`;
  const byDefault = row.byDefault === undefined ? "" : ` Default: ${row.byDefault}.`;
  return `  ${heading(row)}${variable}\n${wrap(row.text + byDefault)}\n`;
}

/** Of `--help`: every option, by what it needs to mean something. */
export function formatRows(rows: readonly OptionRow[]): readonly string[] {
  const used = rows.filter((row) => row.hasNoEffect !== true);
  const accepted = rows.filter((row) => row.hasNoEffect === true);
  return [
    ...used.filter((row) => row.source === undefined).map(formatRow),
    "With --source=kubernetes only:",
    "",
    ...used.filter((row) => row.source === "kubernetes").map(formatRow),
    "MetalLB's options that are accepted, but have no effect:",
    "",
    ...accepted.map((row) => `  ${heading(row)}`),
    "",
    "An option wins over its environment variable, given in brackets.",
    "",
  ];
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
