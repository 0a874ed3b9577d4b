/** The options as a person reads them: `--help`, and the table in README.md. Pure. */
import { OPTION_TABLE, type OptionRow } from "./options-table.ts";
import { VERSION } from "./version.ts";

/** Columns of an old terminal. */
const WIDTH = 80;
const INDENT = "        ";

export function formatVersion(): string {
  return `arpeggio speaker ${VERSION}, node ${process.versions.node}\n`;
}

export function formatHelp(): string {
  const used = OPTION_TABLE.filter((row) => row.withoutEffect === undefined);
  const accepted = OPTION_TABLE.filter((row) => row.withoutEffect !== undefined);
  return [
    `arpeggio speaker ${VERSION}`,
    "Answers ARP and Neighbor Discovery for the addresses that this node leads.",
    "",
    "usage: speaker --source=files:DIR [--peers=HOST,…] [option]…",
    "",
    ...used.map(formatRow),
    "MetalLB's options that are accepted, but have no effect with --source=files:",
    "",
    ...accepted.map((row) => `  ${heading(row)}`),
    "",
    "An option wins over its environment variable, given in brackets.",
    "",
  ].join("\n");
}

/** Markdown, for the README. */
export function formatOptionsTable(): string {
  const rows = OPTION_TABLE.map((row) =>
    [
      `\`${heading(row)}\``,
      row.variable === undefined ? "" : `\`${row.variable}\``,
      row.byDefault ?? "",
      row.withoutEffect === undefined ? row.text : `${row.text} ${effectText(row.withoutEffect)}`,
    ].map((cell) => cell.replaceAll("|", "\\|")),
  );
  const lines = [["option", "variable", "default", "meaning"], ["---", "---", "---", "---"], ...rows];
  return `${lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n`;
}

function effectText(withoutEffect: "always" | "with-files"): string {
  return withoutEffect === "always" ? "Accepted, without effect." : "Accepted, without effect with `--source=files`.";
}

function heading(row: OptionRow): string {
  return row.placeholder === undefined ? `--${row.name}` : `--${row.name}=${row.placeholder}`;
}

function formatRow(row: OptionRow): string {
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
