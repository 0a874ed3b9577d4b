/** The options as a person reads them: `--help`, and the table in README.md. Pure. */

import { VERSION } from "../src/base/version.ts";
import { OPTION_TABLE, type OptionRow } from "./options-table.ts";

/** Columns of an old terminal. */
const WIDTH = 80;
const INDENT = "        ";

export function formatVersion(): string {
  return `arpeggio speaker ${VERSION}, node ${process.versions.node}\n`;
}

export function formatHelp(): string {
  const used = OPTION_TABLE.filter((row) => row.hasNoEffect !== true);
  const accepted = OPTION_TABLE.filter((row) => row.hasNoEffect === true);
  return [
    `arpeggio speaker ${VERSION}`,
    "Answers ARP and Neighbor Discovery for the addresses that this node leads.",
    "",
    "usage: speaker --source=files:DIR [--peers=HOST,…] [option]…",
    "       speaker --source=kubernetes [option]…",
    "",
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
  ].join("\n");
}

/** Markdown, for the README, padded as the formatter wants it. */
export function formatOptionsTable(): string {
  const rows = OPTION_TABLE.filter((row) => row.hasNoEffect !== true).map((row) =>
    [
      code(heading(row)),
      row.variable === undefined ? "" : code(row.variable),
      row.byDefault ?? "",
      row.source === undefined ? row.text : `With \`--source=${row.source}\`: ${row.text}`,
    ].map((cell) => cell.replaceAll("|", "\\|")),
  );
  const lines = [["option", "variable", "default", "meaning"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const [head = "", ...others] = lines.map((cells) => tableLine(cells.map((cell, i) => cell.padEnd(widths[i] ?? 0))));
  const accepted = OPTION_TABLE.filter((row) => row.hasNoEffect === true).map((row) => code(`--${row.name}`));
  return [
    head,
    tableLine(widths.map((width) => "-".repeat(width))),
    ...others,
    "",
    `MetalLB's options ${accepted.join(", ")} are accepted, but have no effect.`,
    "",
  ].join("\n");
}

function tableLine(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function code(text: string): string {
  return `\`${text}\``;
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
