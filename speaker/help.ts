/** The options as a person reads them: `--help`, and the table in README.md. Pure. */

import { VERSION } from "../src/base/version.ts";
import { formatRows, heading } from "../src/options/help-text.ts";
import { OPTION_TABLE } from "./options-table.ts";

export function formatVersion(): string {
  return `arpeggio speaker ${VERSION}, node ${process.versions.node}\n`;
}

export function formatHelp(): string {
  return [
    `arpeggio speaker ${VERSION}`,
    "Answers ARP and Neighbor Discovery for the addresses that this node leads.",
    "",
    "usage: speaker --source=files:DIR [--peers=HOST,…] [option]…",
    "       speaker --source=kubernetes [option]…",
    "",
    ...formatRows(OPTION_TABLE),
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
